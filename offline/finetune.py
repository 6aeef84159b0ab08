"""Fine-tuning: the trunk's last blocks learn the loss of a task from its own videos, together with a head.

All that lies below stays as it is, so what it gives of each frame is computed once and kept. The head is trained alone
first, or its random weights would spoil the blocks, and is thrown away at the end: the embedder's heads are trained on
what the new trunk sees, as on any other.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from torch import Tensor, nn
from torch.nn.functional import normalize

from guide.errors import InputError, OutputError
from guide.whole_file import whole_file
from offline.backbones import Trunk, save_trunk
from offline.batches import Batch, Batches, Clip
from offline.config import Recipe
from offline.embedding import STATISTICS_ROWS, Inputs, head_directions, make_loss, prepare_inputs
from offline.extraction import ExtractionDevice, Extractor
from offline.features import FeatureCache
from offline.gather import require_change, require_k, see_task
from offline.loop import LEAST_FALL
from offline.losses.batch import Loss
from offline.model import HeadSettings, build_head
from offline.progress import progress
from offline.training import run_key
from offline.videos import RecordingFacts

log = logging.getLogger(__name__)

VERSION: Final = 1  # raised whenever the same inputs give another trunk
LEARNING_RATE: Final = 1e-4  # of blocks and head together: a head at its own rate would overfit long before
FEWEST: Final = 4  # recordings of which some are held out: two to learn from, and two, since TC3I compares recordings
HELD_OUT_EVERY: Final = 5  # one recording of so many is held out, and at least two
LOOKED_AT: Final = 4  # batches of held-out frames
ROWS_AT_ONCE: Final = 64


@dataclass(frozen=True, slots=True)
class FineTuned:
    """How it went: the held-out loss with the head alone trained, and with the blocks as kept after `iterations`.

    >>> FineTuned(0, 1.5, 1.5).words
    'fine-tuning did not lower the held-out loss (1.5000): the trunk stays as it is'
    """

    iterations: int
    before: float
    after: float

    @property
    def words(self) -> str:
        """What to say of it."""
        if not self.iterations:
            return f"fine-tuning did not lower the held-out loss ({self.before:.4f}): the trunk stays as it is"
        return (
            f"fine-tuned for {self.iterations} iterations: held-out loss {self.after:.4f} instead of {self.before:.4f}"
        )


class LastBlocks(nn.Module):
    """A trunk from its last blocks on: maps (N, C, H, W) of the blocks below to means (N, M) in single precision."""

    def __init__(self, trunk: Trunk) -> None:
        super().__init__()
        self.to_map, self.to_final = trunk.split()[1], trunk.to_final

    def forward(self, below: Tensor) -> Tensor:
        maps = [self.to_map(below)]
        if self.to_final is not None:
            maps.append(self.to_final(maps[0]))
        return torch.cat([each.float().mean(dim=(2, 3)) for each in maps], dim=1)


class TunedEmbedder(nn.Module):
    """The last blocks of a trunk, and a head on their means as all heads see them: less their recording's.

    Maps (V, N, 1, C, H, W) that the blocks below give of N frames of V recordings become embeddings (V, N, E).
    """

    along: Tensor

    def __init__(self, blocks: LastBlocks, head: nn.Module, along: Tensor) -> None:
        super().__init__()
        self.blocks, self.head = blocks, head
        self.register_buffer("along", along)  # (M, d)

    def forward(self, below: Tensor) -> Tensor:
        videos, frames = below.shape[:2]
        unit = normalize(self.blocks(below.flatten(0, 2)), dim=-1).reshape(videos, frames, -1)
        rows = (unit - unit.mean(dim=1, keepdim=True)) @ self.along
        embeddings: Tensor = self.head(rows.flatten(0, 1)[:, None])
        return embeddings.reshape(videos, frames, -1)


def require_gpu(device: ExtractionDevice) -> None:
    """Raises InputError where there is no GPU to fine-tune on."""
    if device == "cpu" or not torch.cuda.is_available():
        why = "--device cpu was given" if device == "cpu" else "torch finds none"
        raise InputError(
            f"--finetune needs a CUDA device, but {why}: leave --finetune out, or learn where there is one."
        )


def finetune_task(
    facts: Sequence[RecordingFacts],
    extractor: Extractor,
    recipe: Recipe,
    seed: int,
    cache: Path,
    console: Console,
    skip_bad: bool = False,
) -> tuple[Trunk, FineTuned]:
    """The extractor's trunk fine-tuned on recordings, or as an earlier run of the same kept it in `cache`.

    It is trained on the device that the extractor uses.
    """
    device = torch.device("cuda" if extractor.uses_gpu else "cpu")
    recipe = replace(recipe, head="conv", context_count=1)  # maps of single frames
    below = Extractor(trunk_below(extractor.trunk), cache / "trunks", "auto" if extractor.uses_gpu else "cpu")
    seen = see_task(facts, below, recipe, FeatureCache(cache / "features"), console, skip_bad)
    require_change(seen)
    require_k(seen, recipe)
    path = cache / "runs" / run_key(seen, recipe, seed) / f"trunk-{extractor.weights_hash}-{VERSION}.pt"
    kept = _read(path, extractor.trunk)
    if kept is None:
        kept = finetune(extractor.trunk, prepare_inputs(seen, recipe), recipe, seed, device, console)
        _keep(path, *kept)
    console.print(f"{kept[1].words}\nkept in {path}", soft_wrap=True)
    return kept


def trunk_below(trunk: Trunk) -> Trunk:
    """What lies below the blocks that are trained, as a trunk of its own."""
    below = copy.deepcopy(trunk).cpu().split()[0]
    size = trunk.spec.preprocessing.size_px
    with torch.inference_mode():
        channels, height, width = below(torch.zeros(1, 3, size, size)).shape[1:]
    shape = (channels, height, width)
    spec = replace(trunk.spec, name=f"{trunk.spec.name}-below", map_shape=shape, pooled_width=channels, mean_width=0)
    return Trunk(spec, below)


def finetune(
    trunk: Trunk, inputs: Inputs, recipe: Recipe, seed: int, device: torch.device, console: Console | None = None
) -> tuple[Trunk, FineTuned]:
    """A copy of the trunk, its last blocks trained on what `inputs` hold of the blocks below; frozen, on the CPU.

    It is the state with the lowest loss on held-out recordings, the trunk as it was among them. Where there are fewer
    than four recordings, frames are held out instead.
    """
    tuned = copy.deepcopy(trunk).to(device)
    model = _build(LastBlocks(tuned), inputs, recipe, seed, device)
    tuning = _Tuning(model, make_loss(inputs, recipe), *_batches(inputs.clips(recipe), recipe, seed), recipe)
    # A GPU's convolutions add up their gradients in any order unless they are told not to.
    with (
        torch.backends.cudnn.flags(enabled=True, deterministic=True),
        progress(console or Console(quiet=True), "fine-tuning", 2 * recipe.most_iterations) as advance,
    ):
        for done, loss in tuning.train(model.head, recipe.learning_rate, start=0):
            advance(done, f"the head alone, held out {loss:.4f}")
        before = tuning.best
        model.blocks.requires_grad_(True)
        for done, loss in tuning.train(model, LEARNING_RATE, start=recipe.most_iterations):
            advance(recipe.most_iterations + done, f"head and trunk, held out {loss:.4f}")
    return tuned.requires_grad_(False).cpu(), FineTuned(tuning.best_at, before, tuning.best)


class _Tuning:
    """Trains parts of a model until its loss on held-out batches no longer falls, then goes back to the lowest."""

    def __init__(
        self, model: TunedEmbedder, loss: Loss, batches: Batches, held_out: Sequence[Batch], recipe: Recipe
    ) -> None:
        self._model, self._loss, self._batches, self._recipe = model, loss, batches, recipe
        self._device = model.along.device
        self._held_out = [batch.send(self._device) for batch in held_out]
        self.best, self.best_at = float("inf"), 0

    def train(self, part: nn.Module, learning_rate: float, start: int) -> Iterator[tuple[int, float]]:
        """Trains a part of it on batches from number `start` on; yields iterations done and the held-out loss."""
        recipe = self._recipe
        optimizer = torch.optim.Adam(part.parameters(), lr=learning_rate, weight_decay=recipe.weight_decay)
        self.best, self.best_at, waited = self._look(), 0, 0
        kept = copy.deepcopy(self._model.state_dict())
        for iteration in range(1, recipe.most_iterations + 1):
            value = self._evaluate(self._batches.training(start + iteration).to(self._device))
            optimizer.zero_grad(set_to_none=True)
            value.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            if iteration % recipe.evaluate_every and iteration < recipe.most_iterations:
                continue
            loss = self._look()
            yield iteration, loss
            if loss < self.best - LEAST_FALL * abs(self.best):
                self.best, self.best_at, waited = loss, iteration, 0
                kept = copy.deepcopy(self._model.state_dict())
            else:
                waited += 1
            if waited == recipe.patience:
                break
        self._model.load_state_dict(kept)

    @torch.no_grad()
    def _look(self) -> float:
        return sum(float(self._evaluate(batch.float())) for batch in self._held_out) / len(self._held_out)

    def _evaluate(self, batch: Batch) -> Tensor:
        with torch.autocast(self._device.type, dtype=torch.bfloat16, enabled=self._device.type == "cuda"):
            embeddings = self._model(batch.inputs)
        return self._loss(embeddings.float(), batch.steps.float(), batch.lengths.float())


def _build(blocks: LastBlocks, inputs: Inputs, recipe: Recipe, seed: int, device: torch.device) -> TunedEmbedder:
    """The model before any training, in evaluation mode: batch norms keep the statistics they came with."""
    stride = -(-sum(map(len, inputs.rows)) // STATISTICS_ROWS)
    means = [_means(blocks, rows[::stride], device) for rows in inputs.rows]
    along = torch.from_numpy(head_directions(means, recipe.directions).astype(np.float32))
    torch.manual_seed(seed)
    settings = HeadSettings(along.shape[1], recipe.head_width, embedding=recipe.embedding_width)
    return TunedEmbedder(blocks, build_head(settings, input_rank=1), along).to(device).eval()


@torch.inference_mode()
def _means(blocks: LastBlocks, below: NDArray[Any], device: torch.device) -> NDArray[np.float32]:
    starts = range(0, len(below), ROWS_AT_ONCE)
    parts = (torch.from_numpy(np.asarray(below[start : start + ROWS_AT_ONCE], np.float32)) for start in starts)
    return np.concatenate([blocks(part.to(device)).cpu().numpy() for part in parts])


def _batches(clips: Sequence[Clip], recipe: Recipe, seed: int) -> tuple[Batches, Sequence[Batch]]:
    """What is trained on, and the batches it is judged by."""
    videos, frames = recipe.batch_videos, recipe.sampled_frames
    if len(clips) < FEWEST:
        batches = Batches(clips, videos, frames, seed)
        return batches, batches.held_out(LOOKED_AT)
    drawn = [clips[number] for number in np.random.default_rng(seed).permutation(len(clips))]
    count = max(2, len(clips) // HELD_OUT_EVERY)
    held_out = Batches(drawn[:count], videos, frames, seed)
    return Batches(drawn[count:], videos, frames, seed), [held_out.training(number) for number in range(LOOKED_AT)]


def _read(path: Path, trunk: Trunk) -> tuple[Trunk, FineTuned] | None:
    """What an earlier run kept, or nothing where the file is missing or damaged: it can be made again."""
    if not path.is_file():
        return None
    tuned = copy.deepcopy(trunk).cpu()
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        tuned.load_state_dict(state["state_dict"])
        return tuned, FineTuned(**state["how"])
    except Exception as error:  # torch raises many kinds for a file that is not whole
        log.warning("%s is damaged (%s): fine-tuning starts anew.", path, type(error).__name__)
        return None


def _keep(path: Path, trunk: Trunk, how: FineTuned) -> None:
    try:
        with whole_file(path) as unfinished:
            save_trunk(trunk, unfinished, how=asdict(how))
    except (OSError, RuntimeError) as cause:  # torch reports a full disk as RuntimeError
        raise OutputError(f"{path} cannot be written ({cause}): free some space, then continue.") from cause

"""The embedder of a task less one recording: trained once, then read, to embed recordings it has never seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

from guide.domain import Features
from guide.perceive.appearance import appearance
from guide.perceive.context import context_indices
from offline.batches import Clip
from offline.config import Recipe
from offline.embedding import Inputs, StandardHead, context_stride_s, embed, head_rows, prepare_inputs
from offline.features import RecordingFeatures
from offline.study.evaluation.embedders import Embedders, require_trainable, train_head

SEED = 0
CPU = torch.device("cpu")  # heads are small, and many processes work at once


@dataclass(frozen=True, slots=True)
class Head:
    """A trained head, with all that says what it is shown of a recording."""

    network: StandardHead
    inputs: Inputs
    recipe: Recipe

    def embed(self, recording: RecordingFeatures) -> Features:
        """The embedding (T, D) of any recording of the task."""
        recipe, inputs = self.recipe, self.inputs
        seen = appearance(np.asarray(recording.pooled, np.float32), recording.times, inputs.settings)
        rows = head_rows(seen, recording)
        context = context_indices(recording.times, recipe.context_count, context_stride_s(inputs, recipe), inputs.rate)
        return embed(self.network, Clip(rows, context, recording.times * inputs.rate))


def read_head(recordings: Sequence[RecordingFeatures], recipe: Recipe, cache: Path) -> Head:
    """The head trained on these recordings; it is trained where `cache` does not hold it yet."""
    require_trainable(recordings)
    folder = cache / "heads" / Embedders(cache, CPU).key(recordings, recipe, SEED)
    with TemporaryDirectory() as inputs_folder:  # of this process alone: another may read the same head
        inputs = prepare_inputs(recordings, recipe, Path(inputs_folder))
        network = train_head(inputs, recipe, SEED, CPU, folder, lambda iteration, words: None)
        return Head(network, inputs, recipe)

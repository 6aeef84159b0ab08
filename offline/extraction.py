"""From frames to trunk features: decoding, preparing and the trunk side by side, in bounded batches."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from guide.domain import Frame, Times
from guide.errors import BundleError, InputError
from guide.perceive.embedder import Floats, OnnxTrunk, TrunkOutput
from guide.perceive.preprocess import Preprocessing, level_values, to_network_input
from offline.backbones import Layout, Trunk, load_trunk
from offline.onnx_export import TRUNK_VERSION, export_trunk
from offline.resize_batches import grouped, resized_batches

log = logging.getLogger(__name__)

Item = TypeVar("Item")
ExtractionDevice = Literal["auto", "cpu", "cuda"]

CPU_BATCH = 4  # more brings nothing on a few cores, and keeps the decoder waiting
GPU_BATCH = 64
BATCHES_AHEAD = 3
GROUPS_AHEAD = 2


Inputs: TypeAlias = NDArray[Any]  # (N, 3, S, S) float32; beside a GPU resized_batches pictures, (N, S, S, 3) uint8


class FrameTrunk(Protocol):
    """Anything that turns network inputs into maps and pooled features."""

    def forward(self, inputs: Inputs) -> TrunkOutput: ...

    def pool(self, inputs: Inputs) -> Floats: ...


@dataclass(frozen=True, slots=True)
class FeatureBatch:
    """Features of a few consecutive frames: times (N,), pooled (N, P), maps (N, C, H, W) where they were wanted.

    >>> FeatureBatch(np.array([0.0, 0.5]), np.zeros((2, 16), np.float32), None).pooled.shape
    (2, 16)
    """

    times: Times
    pooled: Floats
    maps: NDArray[np.float16] | None


class TorchTrunk:
    """The trunk on a GPU, in full float32: features must agree with what the live side computes.

    It takes network inputs, or resized_batches pictures in bytes, whose levels it looks up itself in the same table: a
    quarter of the bytes travel, and the CPU is free to decode.

    >>> TorchTrunk(load_trunk("random-tiny"), torch.device("cpu")).pool(np.zeros((2, 3, 64, 64), np.float32)).shape
    (2, 16)
    """

    def __init__(self, trunk: Trunk, device: torch.device) -> None:
        self._device = device
        self._values = torch.from_numpy(level_values(trunk.spec.preprocessing)).to(device)  # (3, 256)
        self._trunk = trunk.to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]

    def forward(self, inputs: Inputs) -> TrunkOutput:
        maps, pooled = self._run(inputs)
        return TrunkOutput(maps.cpu().numpy(), pooled.cpu().numpy())

    def pool(self, inputs: Inputs) -> Floats:
        return np.asarray(self._run(inputs)[1].cpu().numpy(), np.float32)

    @torch.inference_mode()
    def _run(self, inputs: Inputs) -> tuple[torch.Tensor, torch.Tensor]:
        batch = torch.from_numpy(inputs).to(self._device, non_blocking=True)
        if inputs.dtype == np.uint8:
            batch = self._look_up(batch)
        # By itself torch lets convolutions round their inputs to the 10 bits of TF32.
        with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
            maps, pooled = self._trunk(batch.contiguous(memory_format=torch.channels_last))
        return maps.contiguous(), pooled

    def _look_up(self, pictures: torch.Tensor) -> torch.Tensor:
        """Network inputs (N, 3, S, S) of pictures (N, S, S, 3)."""
        channels = torch.arange(3, device=self._device)
        return self._values[channels, pictures.long()].movedim(3, 1)


class Extractor:
    """A trunk with all that is needed to run it over recordings; nothing is started before the first frame.

    On a CPU the trunk runs in ONNX Runtime, which is faster there than torch and is what runs live; the exported
    file is kept in `folder`. On a GPU it runs in torch.

    >>> import tempfile
    >>> extractor = Extractor(load_trunk("random-tiny"), Path(tempfile.mkdtemp()), device="cpu")
    >>> extractor.name
    'random-tiny'
    """

    def __init__(self, trunk: Trunk, folder: Path, device: ExtractionDevice = "auto", threads: int = 0) -> None:
        if device == "cuda" and not torch.cuda.is_available():
            raise InputError("device cuda was asked for, but torch finds no CUDA device: use --device auto or cpu.")
        self.trunk = trunk
        self.uses_gpu = device != "cpu" and torch.cuda.is_available()
        self.batch_size = GPU_BATCH if self.uses_gpu else CPU_BATCH
        self.weights_hash = trunk.weights_hash()
        self._folder = folder
        self._threads = threads

    @property
    def name(self) -> str:
        return self.trunk.spec.name

    @property
    def preprocessing(self) -> Preprocessing:
        return self.trunk.spec.preprocessing

    @cached_property
    def runner(self) -> FrameTrunk:
        """The trunk, started."""
        return TorchTrunk(self.trunk, torch.device("cuda")) if self.uses_gpu else self.exported

    @cached_property
    def exported(self) -> OnnxTrunk:
        """The trunk in ONNX Runtime, from the file in `folder`, which is made where it is missing or damaged."""
        path = self._folder / f"{self.name}-{self.weights_hash}-{TRUNK_VERSION}.onnx"
        if path.is_file():
            try:
                return OnnxTrunk(path, "cpu", self._threads)
            except BundleError as error:
                log.warning("%s is damaged and is made anew (%s)", path, error)
        export_trunk(self.trunk, path)
        return OnnxTrunk(path, "cpu", self._threads)

    def extract(
        self, frames: Iterable[Frame], keep_maps: bool = False, preprocessing: Preprocessing | None = None
    ) -> Iterator[FeatureBatch]:
        """The features of `frames`, batch by batch; frames are read and prepared in threads of their own meanwhile.

        They are prepared as the trunk says, or by another `preprocessing`, which may have another size.
        Beside a GPU, reading has a thread to itself and preparing several: on a CPU these would take the trunk's cores.
        """
        how = preprocessing or self.preprocessing
        with ExitStack() as stack:
            if self.uses_gpu:
                groups = stack.enter_context(Prefetch(grouped(frames), GROUPS_AHEAD))
                prepared = resized_batches(groups, how, self.batch_size)
            else:
                prepared = self._inputs(frames, how)
            for times, inputs in stack.enter_context(Prefetch(prepared, BATCHES_AHEAD)):
                if keep_maps:
                    output = self.runner.forward(inputs)
                    yield FeatureBatch(times, output.pooled, output.maps.astype(np.float16))
                else:
                    yield FeatureBatch(times, self.runner.pool(inputs), None)

    def _inputs(self, frames: Iterable[Frame], how: Preprocessing) -> Iterator[tuple[Times, Inputs]]:
        times: list[float] = []
        inputs: list[Floats] = []
        for frame in frames:
            times.append(frame.at)
            inputs.append(to_network_input(frame.image, how))
            if len(times) == self.batch_size:
                yield np.array(times), np.stack(inputs)
                times, inputs = [], []
        if times:
            yield np.array(times), np.stack(inputs)


def open_extractor(
    name: str,
    folder: Path,
    weights: str | Path | None = None,
    layout: Layout = "auto",
    device: ExtractionDevice = "auto",
) -> Extractor:
    """The extractor for a backbone; `folder` keeps the exported trunk between runs."""
    return Extractor(load_trunk(name, weights, layout), folder, device)


class Prefetch(Generic[Item]):
    """Runs an iterator in a thread, at most `ahead` items ahead; its exception is raised to the consumer.

    >>> with Prefetch(iter("abc"), ahead=1) as items:
    ...     list(items)
    ['a', 'b', 'c']
    """

    def __init__(self, items: Iterator[Item], ahead: int) -> None:
        self._items = items
        self._queue: queue.Queue[Item | None] = queue.Queue(ahead)
        self._stopped = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._fill, name="prefetch", daemon=True)

    def __enter__(self) -> Iterator[Item]:
        self._thread.start()
        return self._drain()

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        while self._thread.is_alive():  # a full queue would hold the thread back: make room until it has seen the sign
            try:
                self._queue.get(timeout=0.05)
            except queue.Empty:
                continue
        self._thread.join()

    def _drain(self) -> Iterator[Item]:
        while (item := self._queue.get()) is not None:
            yield item
        if self._error is not None:
            raise self._error

    def _fill(self) -> None:
        try:
            for item in self._items:
                self._queue.put(item)
                if self._stopped.is_set():
                    break
        except BaseException as error:  # kept for the consumer, who raises it
            self._error = error
        finally:
            close = getattr(self._items, "close", None)
            if close is not None:
                close()
            self._queue.put(None)

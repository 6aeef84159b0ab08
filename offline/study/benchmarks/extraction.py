"""Feature extraction against what decoding and trunk allow together."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import torch

from guide.benchmarks.clocks import timed
from guide.benchmarks.figures import Figure, Part, processor
from guide.domain import Frame
from guide.ingest.files import VideoFile
from guide.perceive.pace import Pace
from offline.demo.recording import Recording, write_recording
from offline.extraction import Extractor, open_extractor

LEAST_SHARE = 85.0  # percent of what is possible
LEAST_FRAMES = {False: 100, True: 2000}  # on a CPU and beside a GPU: fewer would measure how long a start takes

Source = Callable[[], Iterable[Frame]]


@dataclass(frozen=True, slots=True)
class ExtractionSizes:
    """What is extracted."""

    video: Path | None = None
    """A video; without one a recording of the demo world is drawn."""
    backbone: str = "efficientnet_lite0"
    weights: Path | None = None
    fps: float = 5.0
    """The working rate."""
    scale: float = 0.5
    """How long the drawn recording is."""
    repeats: int = 3


@dataclass(frozen=True, slots=True)
class Rates:
    """Frames at the working rate that are decoded, run through the trunk, and extracted, each a second.

    >>> Rates(decode=100.0, trunk=100.0, extract=45.0, uses_gpu=False).share
    0.9
    """

    decode: float
    trunk: float
    extract: float
    uses_gpu: bool

    @property
    def possible(self) -> float:
        """What decoding and trunk allow together: on one CPU they take turns, a GPU works beside it."""
        return min(self.decode, self.trunk) if self.uses_gpu else 1 / (1 / self.decode + 1 / self.trunk)

    @property
    def share(self) -> float:
        return self.extract / self.possible


def measure_extraction(sizes: ExtractionSizes) -> list[Part]:
    """The three rates on the device that extraction would choose."""
    with tempfile.TemporaryDirectory() as folder:
        video = sizes.video or write_recording(Recording(1, "train", 1, sizes.scale), Path(folder))
        extractor = open_extractor(sizes.backbone, Path(folder), sizes.weights)
        rates = measure_rates(lambda: VideoFile(video).frames(Pace(sizes.fps).push), extractor, sizes.repeats)
    name = "a drawn recording" if sizes.video is None else sizes.video.name
    return [part_of(rates, f"Feature extraction, {sizes.backbone}, {name} at {sizes.fps:g} fps")]


def measure_rates(source: Source, extractor: Extractor, repeats: int) -> Rates:
    """The best of each rate, taken in turns so that a busy machine slows all three."""
    once = sum(1 for _ in source())
    rounds = -(-LEAST_FRAMES[extractor.uses_gpu] // once) if repeats > 1 else 1
    count = once * rounds

    def frames() -> Iterator[Frame]:
        return chain.from_iterable(source() for _ in range(rounds))

    size = extractor.preprocessing.size_px
    inputs = np.zeros((extractor.batch_size, 3, size, size), np.float32)
    if extractor.uses_gpu:
        inputs = np.zeros((extractor.batch_size, size, size, 3), np.uint8)
    batches = max(1, count // extractor.batch_size)
    extractor.runner.pool(inputs)  # starts the trunk
    decode, trunk, extract = [], [], []
    for _ in range(repeats):
        decode.append(count / timed(lambda: sum(1 for _ in frames()))[0])
        run = timed(lambda: [extractor.runner.pool(inputs) for _ in range(batches)])[0]
        trunk.append(batches * extractor.batch_size / run)
        extract.append(count / timed(lambda: list(extractor.extract(frames())))[0])
    return Rates(max(decode), max(trunk), max(extract), extractor.uses_gpu)


def part_of(rates: Rates, title: str) -> Part:
    """The rates as figures."""
    figures = (
        Figure("decoding alone", rates.decode, "fps"),
        Figure("trunk alone", rates.trunk, "fps"),
        Figure("possible together", rates.possible, "fps"),
        Figure("extraction", rates.extract, "fps"),
        Figure("share of what is possible", 100 * rates.share, "%", least=LEAST_SHARE),
    )
    rule = "min(decoding, trunk)" if rates.uses_gpu else "1/(1/decoding + 1/trunk)"
    where = f"{processor()}, {torch.cuda.get_device_name()}" if rates.uses_gpu else processor()
    return Part(title, where, figures, (f"possible = {rule}; frames that the working rate keeps",))

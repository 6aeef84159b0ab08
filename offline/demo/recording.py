"""One recording from its seed to its files: acted, painted, encoded, labelled."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import av
import numpy as np
from av.error import FFmpegError

from guide.domain import Image
from guide.errors import OutputError

from .acting import act
from .camera import HEIGHT_PX, WIDTH_PX
from .head import move_head
from .orders import FAULTS, FaultKind
from .painter import Painter
from .person import Person, sample_person
from .scene import Workplace
from .script import RATE_HZ, Script, label_of, sample_script
from .sensor import Sensor
from .task import TaskName

Kind: TypeAlias = Literal["train", "live"]
Purpose: TypeAlias = Literal["script", "person", "head", "sensor"]

_KINDS: dict[Kind, int] = {"train": 0, "live": 1}
_PURPOSES: dict[Purpose, int] = {"script": 0, "person": 1, "head": 2, "sensor": 3}


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording that is fixed by its seed, kind and number (from 1) and can be drawn any time.

    `scale` below 1 shortens every duration, for tests that need little video with all steps in it.

    >>> Recording(seed=1, kind="live", number=2).name
    '02_missed'
    """

    seed: int
    kind: Kind
    number: int
    scale: float = 1.0
    task: TaskName = "box"

    @property
    def fault(self) -> FaultKind:
        return FAULTS[(self.number - 1) % len(FAULTS)] if self.kind == "live" else "none"

    @property
    def name(self) -> str:
        return f"{self.number:02d}" if self.kind == "train" else f"{self.number:02d}_{self.fault}"

    @property
    def script(self) -> Script:
        stream = random_stream(self.seed, self.kind, self.number, "script")
        return sample_script(stream, self.fault, self.scale, self.task)

    @property
    def person(self) -> Person:
        return sample_person(random_stream(self.seed, self.kind, self.number, "person"))

    def pictures(self) -> Iterator[Image]:
        """The frames in order, (H, W, 3) RGB; frame i is taken at i / RATE_HZ seconds."""
        person = self.person
        moments = list(act(self.script, Workplace(person)))
        cameras = move_head(moments, person, random_stream(self.seed, self.kind, self.number, "head"))
        painter, sensor = Painter(person), Sensor(person, random_stream(self.seed, self.kind, self.number, "sensor"))
        for moment, camera in zip(moments, cameras, strict=True):
            yield sensor.expose(painter.paint(moment, camera), camera)


def random_stream(seed: int, kind: Kind, number: int, purpose: Purpose) -> np.random.Generator:
    """The random generator for one purpose of one recording (numbered from 1).

    The streams are independent: what a recording looks like never depends on how many others are drawn.
    """
    return np.random.default_rng(np.random.SeedSequence([seed, _KINDS[kind], number, _PURPOSES[purpose]]))


def write_recording(recording: Recording, folder: Path) -> Path:
    """Write `NAME.mp4` and `NAME.csv` into a folder; returns the video's path."""
    folder.mkdir(parents=True, exist_ok=True)
    video = folder / f"{recording.name}.mp4"
    try:
        encode(recording.pictures(), video)
        write_labels(recording.script, video.with_suffix(".csv"))
    except (OSError, FFmpegError) as error:
        raise OutputError(
            f"cannot write {video} ({error.strerror or error}): free some space or give another --out folder."
        ) from error
    return video


def write_labels(script: Script, path: Path) -> None:
    """Rows `start,end,"<int> name"` in seconds, no header; background and unknown activity have no rows."""
    with path.open("w", newline="", encoding="utf-8") as file:
        for event in script.steps:
            file.write(f"{event.start:.1f},{event.end:.1f},")
            csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow([label_of(event.step)])


def encode(pictures: Iterable[Image], path: Path) -> None:
    """H.264 that browsers play; one thread and no dates, so that equal pictures give equal bytes."""
    options = {"movflags": "+faststart", "fflags": "+bitexact"}
    with av.open(str(path), "w", format="mp4", options=options) as container:
        video = container.add_stream("libx264", rate=RATE_HZ)
        video.width, video.height, video.pix_fmt = WIDTH_PX, HEIGHT_PX, "yuv420p"
        video.codec_context.thread_count = 1
        video.options = {"preset": "superfast", "crf": "27", "bf": "0", "g": str(2 * RATE_HZ), "threads": "1"}
        for picture in pictures:
            container.mux(video.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(video.encode(None))

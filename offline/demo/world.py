"""A whole drawn world on disk: demonstrations, live recordings, labels and truth."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from rich.console import Console

from guide.errors import InputError, OutputError
from offline.executor import Here, Processes, open_executor
from offline.progress import progress

from .recording import Kind, Recording, write_recording
from .task import TaskName
from .truth import truth_of_all

WORLD_VERSION = 1  # any change to what is drawn bumps this, and every figure is printed anew

OnDrawn = Callable[[Recording], None]


@dataclass(frozen=True, slots=True)
class World:
    """How many recordings of which seed; `scale` below 1 shortens all of them, for tests.

    >>> [recording.name for recording in World(seed=1, recordings=1, live=2).all]
    ['01', '01_none', '02_missed']
    """

    seed: int
    recordings: int
    live: int
    scale: float = 1.0
    version: int = WORLD_VERSION
    task: TaskName = "box"

    def __post_init__(self) -> None:
        for name, value, least in (("recordings", self.recordings, 1), ("live", self.live, 0), ("seed", self.seed, 0)):
            if value < least:
                raise InputError(f"--{name} needs a number from {least} up, got {value}: give a larger one.")

    @property
    def train(self) -> list[Recording]:
        return [self._recording("train", number + 1) for number in range(self.recordings)]

    @property
    def faulty(self) -> list[Recording]:
        return [self._recording("live", number + 1) for number in range(self.live)]

    @property
    def all(self) -> list[Recording]:
        return self.train + self.faulty

    def _recording(self, kind: Kind, number: int) -> Recording:
        return Recording(self.seed, kind, number, self.scale, self.task)


def is_drawn(out: Path, world: World) -> bool:
    """Whether the folder already holds this very world, complete."""
    try:
        stored = json.loads((out / "world.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return stored == asdict(world) and all(
        (out / recording.kind / f"{recording.name}{suffix}").is_file()
        for recording in world.all
        for suffix in (".mp4", ".csv")
    )


def draw_world(world: World, out: Path, jobs: int = 0, on_drawn: OnDrawn | None = None) -> None:
    """Draw every recording into `out`; nothing but whole files ever stands there.

    `jobs` processes draw at once (0: one per core). Raises InputError where `out` holds something else and
    OutputError where it cannot be written.
    """
    if jobs < 0:
        raise InputError(f"--jobs needs a number from 0 up, got {jobs}: give 0 for one process per core.")
    _refuse_strange(out)
    with _aside(out) as aside:
        for recording in _draw(world.all, aside, jobs or _count_cores()):
            if on_drawn is not None:
                on_drawn(recording)
        _write_json(aside / "truth.json", truth_of_all(world.faulty))
        _write_json(aside / "world.json", asdict(world))
        _swap(aside, out)


def _refuse_strange(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise InputError(f"--out needs a folder, {out} is a file: give another path.")
    try:
        found = {path.name for path in out.iterdir()} if out.exists() else set()
    except OSError as error:
        raise OutputError(f"cannot look into {out} ({error.strerror or error}): give another --out folder.") from error
    if found - {".partial"} and "world.json" not in found:
        raise InputError(
            f"--out needs an empty folder or an earlier drawn world, {out} holds other files: give another."
        )


@contextmanager
def _aside(out: Path) -> Iterator[Path]:
    """A folder inside `out` that vanishes at the end, whatever happens; so does `out` if it stays empty."""
    aside, is_new = out / ".partial", not out.exists()
    try:
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        yield aside
    except OSError as error:
        raise OutputError(
            f"cannot write into {out} ({error.strerror or error}): give a writable --out folder with space."
        ) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
        if is_new and out.is_dir() and not any(out.iterdir()):
            out.rmdir()


def _swap(aside: Path, out: Path) -> None:
    # world.json comes last: where it names a world, the rest is whole. Until then an empty one keeps the folder ours,
    # so that a run killed here can be run again.
    _write_json(out / "world.json", {})
    (out / "truth.json").unlink(missing_ok=True)
    for name in ("train", "live"):
        shutil.rmtree(out / name, ignore_errors=True)
        (aside / name).mkdir(exist_ok=True)
    for name in ("train", "live", "truth.json", "world.json"):
        (aside / name).rename(out / name)


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _count_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _draw(recordings: list[Recording], folder: Path, jobs: int) -> Iterator[Recording]:
    """Draw the recordings and give each once it is on disk."""
    tasks = [partial(write_recording, one, folder / one.kind) for one in recordings]
    workers = min(jobs, len(recordings))
    with open_executor(Here() if workers == 1 else Processes(workers)) as executor:
        for number, _ in executor.run(tasks):
            yield recordings[number]


def draw_once(world: World, out: Path, console: Console, jobs: int = 0) -> bool:
    """Draw the world into `out` unless it is there already, with a progress bar; says whether anything was drawn."""
    if is_drawn(out, world):
        console.print(f"{out} already holds the recordings", soft_wrap=True, markup=False)
        return False
    done, total = 0, len(world.all)
    with progress(console, "drawing", total) as advance:

        def count(recording: Recording) -> None:
            nonlocal done
            done += 1
            advance(done, f"{done} of {total} recordings")

        draw_world(world, out, jobs, count)
    return True

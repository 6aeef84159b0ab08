"""Jobs done side by side in several processes; what is done is kept, so that a run that was cut off goes on."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from rich.console import Console

from guide.errors import InputError
from offline.cluster import open_back
from offline.executor import open_executor, tracked
from offline.study.keep import Kept, Plain

DEMONSTRATIONS: Final = 12
"""Of a drawn world."""
MOST_WORLDS: Final = 1000  # more is a slip of the finger: each takes minutes
MOST_WORKERS: Final = 256  # each takes hundreds of megabytes: more is a typing mistake
_SEEDS: Final = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)


class Job(Protocol):
    """A piece of the work that needs nothing of the others."""

    @property
    def title(self) -> str: ...

    @property
    def key(self) -> str:
        """Names the result: everything that decides it goes in."""
        ...

    def run(self) -> list[Plain]: ...


@dataclass(frozen=True, slots=True)
class Shift:
    """Who works and for how long: nothing is begun after the moment `until` of the steady clock.

    So many processes work here, or the Ray cluster at an address, whose machines see the cache under the same path.

    >>> Shift(until=0.0).is_over
    True
    """

    workers: int = 1
    until: float = math.inf
    ray: str | None = None

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self.until


@dataclass(frozen=True, kw_only=True)
class ShiftOptions:
    """How a command that does jobs works."""

    workers: int = 1
    """Processes at work, of one thread each."""
    minutes: float = math.inf
    """Begin nothing more after so many minutes, and print what is done; the same command then goes on."""
    cache: Path = Path(".cache/cnc")
    """Where what is seen, learned and done is kept between runs."""

    def shift(self, ray: str | None = None) -> Shift:
        """From now on; raises InputError where the options are none."""
        require_workers(self.workers)
        if not self.minutes >= 0:
            raise InputError(f"--minutes is a number from 0 up, got {self.minutes:g}: give a larger one.")
        return Shift(self.workers, time.monotonic() + 60 * self.minutes, ray)


def do_all(jobs: Sequence[Job], kept: Kept, shift: Shift, console: Console) -> list[list[Plain]]:
    """The rows of each job; those done in an earlier run are read, those that were not begun in time have none."""
    keys = [job.key for job in jobs]
    results = {key: rows for key in dict.fromkeys(keys) if (rows := _read(kept, key)) is not None}
    if results:
        console.print(f"{sum(key in results for key in keys)} of {len(jobs)} parts were done before", style="dim")
    lacking = {key: job for key, job in zip(keys, jobs, strict=True) if key not in results}
    if lacking and not shift.is_over:
        for key, rows in _done(lacking, kept, shift, console):
            kept.write(key, {"rows": np.array(json.dumps(rows))})
            results[key] = rows
    if left := sum(key not in results for key in lacking):
        console.print(f"{left} of {len(jobs)} parts are not done: the same command goes on with them", style="dim")
    return [results.get(key, []) for key in keys]


def _done(jobs: Mapping[str, Job], kept: Kept, shift: Shift, console: Console) -> Iterator[tuple[str, list[Plain]]]:
    """Keys and rows as they come."""
    keys, titles = list(jobs), [job.title for job in jobs.values()]
    with open_executor(open_back(min(shift.workers, len(jobs)), shift.ray, kept.folder)) as executor:
        done = executor.run([job.run for job in jobs.values()], shift.until)
        for number, rows in tracked(done, [1.0] * len(keys), "trial", console, titles):
            yield keys[number], rows


def _read(kept: Kept, key: str) -> list[Plain] | None:
    arrays = kept.read(key)
    if arrays is None or "rows" not in arrays:
        return None
    rows: Any = json.loads(str(arrays["rows"]))
    return list(rows)


def read_seeds(text: str, option: str) -> list[int]:
    """Seeds of drawn worlds as they are named, each once; raises InputError for anything but numbers and ranges.

    >>> read_seeds("1033, 1021-1023", "--seed")
    [1033, 1021, 1022, 1023]
    """
    matches = [_SEEDS.fullmatch(word.strip()) for word in text.split(",")]
    ranges = [(int(match[1]), int(match[2] or match[1])) for match in matches if match is not None]
    is_read = len(ranges) == len(matches) and all(first <= last for first, last in ranges)
    if not is_read or sum(last - first + 1 for first, last in ranges) > MOST_WORLDS:
        raise InputError(
            f"{option} takes at most {MOST_WORLDS} worlds, whole numbers from 0 up and ranges with commas between, "
            f"such as 1021-1025,1031, got {text!r:.80}: change it."
        )
    return list(dict.fromkeys(seed for first, last in ranges for seed in range(first, last + 1)))


def require_from(name: str, value: int, least: int) -> None:
    """Raises InputError where the option is smaller than it can be."""
    if value < least:
        raise InputError(f"--{name} is a whole number from {least} up, got {value}: give a larger one.")


def require_workers(workers: int) -> None:
    """Raises InputError where there are none, or more than any machine has use for."""
    require_from("workers", workers, 1)
    if workers > MOST_WORKERS:
        raise InputError(f"--workers is at most {MOST_WORKERS}, got {workers}: give fewer.")

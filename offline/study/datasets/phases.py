"""True steps of short grasping recordings, from a table of the frames at which the hand opened, closed and let go.

The folder holds `phases.csv` with the columns episode, hand_open, grasp_closed and release_open (frame numbers) and the
recordings `episode_000020.mp4`; `info.json`, where it is there, says the frames a second (30 otherwise). Something is
done from the first frame to the last, so the three moments bound four steps and nothing is background: the arm comes
near until the hand opens, reaches until the grasp closes, carries until the grasp opens, and withdraws until the end.
A phase without a frame has no step.
"""

from __future__ import annotations

import csv
import math
import re
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from guide.domain import Segment
from guide.errors import InputError
from guide.teach.label_rows import LATEST_S, shown
from offline.study.datasets.sequence import read_json

FILE: Final = "phases.csv"
INFO: Final = "info.json"
MOMENTS: Final = ("hand_open", "grasp_closed", "release_open")
STEPS: Final = {1: "come near", 2: "reach", 3: "carry", 4: "withdraw"}
FRAMES_PER_SECOND: Final = 30.0
NUMBER: Final = re.compile(r"(\d+)$")


def read_phases(folder: Path) -> dict[int, tuple[float, ...]]:
    """The three moments of each episode in seconds; raises InputError naming the line that is not as described."""
    path, rate = folder / FILE, _rate(folder)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            found: dict[int, tuple[float, ...]] = {}
            for row in reader:
                episode, moments = _moments(path, reader.line_num, row, rate)
                if episode in found:
                    raise InputError(f"{path} line {reader.line_num}: episode {episode} comes twice: keep one.")
                found[episode] = moments
            return found
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} should be a table of phases and cannot be read ({error}): save it as CSV.") from error


def segments_of(moments: tuple[float, ...], duration_s: float) -> tuple[Segment, ...]:
    """The steps of a recording of that length: they fill it, and one that would take no time is left out.

    >>> [(segment.step, segment.start, segment.end) for segment in segments_of((0.0, 2.0, 5.0), 6.0)]
    [(2, 0.0, 2.0), (3, 2.0, 5.0), (4, 5.0, 6.0)]
    """
    borders = pairwise([0.0, *(min(at, duration_s) for at in moments), duration_s])
    return tuple(Segment(step, start, end) for step, (start, end) in enumerate(borders, start=1) if end > start)


def episode_of(name: str) -> int | None:
    """The number of the episode a recording's name ends with.

    >>> episode_of("episode_000020"), episode_of("notes")
    (20, None)
    """
    found = NUMBER.search(name)
    return int(found[1]) if found else None


def _moments(path: Path, line: int, row: dict[str, Any], rate: float) -> tuple[int, tuple[float, ...]]:
    try:
        episode, *frames = (int(row[name]) for name in ("episode", *MOMENTS))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{path} line {line} should give whole numbers for episode, {', '.join(MOMENTS)} ({error!r}): correct it."
        ) from error
    if frames != sorted(frames) or frames[0] < 0 or frames[-1] > LATEST_S * rate:
        raise InputError(
            f"{path} line {line}: {', '.join(MOMENTS)} come one after the other within {LATEST_S:g} s, got "
            f"{shown(str(frames))}: correct it."
        )
    return episode, tuple(frame / rate for frame in frames)


def _rate(folder: Path) -> float:
    if not (folder / INFO).is_file():
        return FRAMES_PER_SECOND
    info = read_json(folder / INFO)
    rate = info.get("fps", FRAMES_PER_SECOND) if isinstance(info, dict) else None
    if not isinstance(rate, int | float) or isinstance(rate, bool) or not (math.isfinite(rate) and rate > 0):
        raise InputError(f"{folder / INFO} should give fps as a number above 0, got {rate!r}: correct it.")
    return float(rate)

"""Labels that were drawn on the Review page and not saved yet: kept beside the review, through a reload."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from guide.domain import KeyStep, Segment
from guide.errors import GuideError
from guide.teach.edits import Name
from guide.ui.state.review import drawn_segments
from guide.whole_file import write_whole

FOLDER = "unsaved"


@dataclass(frozen=True, slots=True)
class Unsaved:
    """The labels of one recording as they stood when somebody last touched them, and steps that were named for them.

    >>> Unsaved((Segment(1, 0.0, 2.5),), (KeyStep(9, "wipe dust"),)).steps[0].number
    9
    """

    segments: tuple[Segment, ...]
    steps: tuple[KeyStep, ...] = ()


def keep(store: Path, recording: str, began: str, labels: Unsaved) -> None:
    """Keeps labels that were drawn upon the state `began`; a disk that refuses is told when they are saved."""
    path = _path(store, recording)
    plain = {
        "began": began,
        "segments": [[one.step, one.start, one.end] for one in labels.segments],
        "steps": [[one.number, one.name] for one in labels.steps],
    }
    try:
        write_whole(path, json.dumps(plain))
    except OSError:
        return


def read(store: Path, recording: str, began: str, duration_s: float, known: Iterable[int]) -> Unsaved | None:
    """What was kept, if it was drawn upon the same state and makes sense."""
    try:
        plain = json.loads(_path(store, recording).read_text(encoding="utf-8"))
        if not isinstance(plain, dict) or plain.get("began") != began:
            return None
        steps = tuple(KeyStep(number, Name(number, name).name) for number, name in plain["steps"])
    except (OSError, ValueError, KeyError, TypeError, GuideError):
        return None
    segments = drawn_segments(plain, duration_s, [*known, *(step.number for step in steps)])
    return None if segments is None else Unsaved(segments, steps)


def forget(store: Path, recording: str) -> None:
    """They were saved, or given up."""
    try:
        _path(store, recording).unlink(missing_ok=True)
    except OSError:
        return


def _path(store: Path, recording: str) -> Path:
    return store / FOLDER / f"{hashlib.sha256(recording.encode()).hexdigest()[:16]}.json"

"""CaptainCook4D's two annotation files as checked values."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from guide.domain import KeyStep
from guide.errors import InputError
from guide.teach.label_rows import LATEST_S, clean_name
from offline.study.datasets.sequence import find_file, read_json

ERRORS_FILE: Final = "error_annotations*.json"
STEPS_FILE: Final = "complete_step_annotations*.json"


@dataclass(frozen=True, slots=True)
class AnnotatedStep:
    """A step as annotated: its number in the data set, its words, seconds, and error tags.

    >>> AnnotatedStep(119, "Slice one tomato", -1.0, -1.0, ("Missing Step",)).was_skipped
    True
    """

    step_id: int
    description: str
    start: float
    end: float
    mistakes: tuple[str, ...] = ()

    @property
    def was_skipped(self) -> bool:
        return self.start < 0


@dataclass(frozen=True, slots=True)
class AnnotatedRecording:
    """One recording's steps in the order listed; `is_error` where something was done wrong on purpose or not."""

    id: str
    recipe: int
    is_error: bool
    steps: tuple[AnnotatedStep, ...]


class AnnotationSheet:
    """All annotated recordings of a folder, recipe by recipe.

    Raises InputError where a file is missing or not as described. A recipe's key-steps are numbered from 1 by
    ascending number in the data set.

    >>> AnnotationSheet(Path("nowhere"))
    Traceback (most recent call last):
    guide.errors.InputError: a data set folder was expected, nowhere is none: check the path.
    """

    def __init__(self, folder: Path) -> None:
        self.path = find_file(folder, ERRORS_FILE)
        self._all = _read_recordings(self.path)
        self._names = _read_names(find_file(folder, STEPS_FILE))

    @property
    def recipes(self) -> dict[int, str]:
        """Name of every annotated recipe by its number."""
        numbers = sorted({recording.recipe for recording in self._all})
        return {number: self._names.get(number, f"recipe {number}") for number in numbers}

    def recordings(self, recipe: int) -> list[AnnotatedRecording]:
        """The recordings of a recipe; raises InputError where there is none."""
        recordings = [recording for recording in self._all if recording.recipe == recipe]
        if not recordings:
            known = ", ".join(f"{number} ({name})" for number, name in self.recipes.items())
            raise InputError(f"recipe {recipe} is not in {self.path}, it holds {known}: choose one of them.")
        return recordings

    def key_steps(self, recipe: int) -> dict[int, KeyStep]:
        """Key-steps by their number in the data set; where annotators used several wordings, the usual one."""
        words: dict[int, Counter[str]] = {}
        for recording in self.recordings(recipe):
            for step in recording.steps:
                words.setdefault(step.step_id, Counter())[step.description] += 1
        usual = {step_id: words[step_id].most_common(1)[0][0] for step_id in sorted(words)}
        return {step_id: KeyStep(number, name) for number, (step_id, name) in enumerate(usual.items(), start=1)}


def _read_recordings(path: Path) -> list[AnnotatedRecording]:
    content = read_json(path)
    try:
        recordings = [_recording(entry) for entry in content]
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise InputError(f"{path}: a recording lacks or garbles a field ({error!r}): fetch the file again.") from error
    for recording in recordings:
        for step in recording.steps:
            _check_times(f"{path}, recording {recording.id}, step {step.step_id}", step)
    twice = [id_ for id_, count in Counter(recording.id for recording in recordings).items() if count > 1]
    if twice:
        raise InputError(f"{path} should hold each recording once, but {twice[0]} comes twice: keep one.")
    return recordings


def _check_times(place: str, step: AnnotatedStep) -> None:
    if not (math.isfinite(step.start) and math.isfinite(step.end)) or max(step.start, step.end) > LATEST_S:
        raise InputError(
            f"{place}: times are seconds up to {LATEST_S:g}, got {step.start:g} and {step.end:g}: correct them."
        )
    if step.end < step.start:
        raise InputError(f"{place}: it ends before it starts: correct its times.")


def _recording(entry: Any) -> AnnotatedRecording:
    steps = tuple(_step(step) for step in entry["step_annotations"])
    return AnnotatedRecording(
        clean_name(str(entry["recording_id"])), int(entry["activity_id"]), bool(entry["is_error"]), steps
    )


def _step(step: Any) -> AnnotatedStep:
    return AnnotatedStep(
        step_id=int(step["step_id"]),
        description=clean_name(str(step["description"])),
        start=float(step["start_time"]),
        end=float(step["end_time"]),
        mistakes=tuple(str(error["tag"]) for error in step.get("errors", [])),
    )


def _read_names(path: Path) -> dict[int, str]:
    content = read_json(path)
    try:
        return {int(entry["activity_id"]): clean_name(str(entry["activity_name"])) for entry in content.values()}
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise InputError(f"{path} should name the recipe of every recording ({error!r}): fetch it again.") from error

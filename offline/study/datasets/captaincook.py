"""CaptainCook4D: features at one row a second, steps with times, and what went wrong in them.

The folder holds `error_annotations*.json` (a list of recordings with steps, times and error tags),
`complete_step_annotations*.json` (the recipes' names) and a folder of features `<recording>.npy`, T x 1024.
A step with a start before 0 was skipped. Annotated steps may overlap: the step listed later wins, and it takes the
frames from int(start) up to, not including, round(end).
"""

from __future__ import annotations

import logging
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from guide.domain import BACKGROUND, Features, KeyStep, Labels, Segment
from guide.errors import InputError
from offline.study.datasets.captaincook_annotations import AnnotatedRecording, AnnotatedStep, AnnotationSheet
from offline.study.datasets.sequence import StepSequence, TaskSequences
from offline.study.datasets.views import EGO

FEATURES_FOLDER: Final = "omnivore_f16"
WIDTH: Final = 1024

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CookingRecording:
    """One recording with its features and true labels at one frame a second."""

    id: str
    features: Features  # (T, 1024)
    labels: Labels  # (T,)
    is_error: bool
    steps: tuple[AnnotatedStep, ...]
    """As annotated, in the order listed, with error tags."""
    overlaps: int
    """Steps laid over frames of a step listed before."""

    @property
    def past_end(self) -> int:
        """Steps that go on after the last row of features."""
        return sum(round(step.end) > len(self.labels) for step in self.steps)

    def __post_init__(self) -> None:
        if self.features.ndim != 2 or self.labels.shape != self.features.shape[:1]:
            raise ValueError(f"{self.id}: got {self.features.shape} features and {self.labels.shape} labels")


@dataclass(frozen=True, slots=True)
class CookingTask:
    """A recipe's steps, its recordings, and those left out because their features are missing."""

    number: int
    name: str
    steps: tuple[KeyStep, ...]
    recordings: tuple[CookingRecording, ...]
    missing: tuple[str, ...] = ()

    @property
    def clean(self) -> tuple[CookingRecording, ...]:
        """The demonstrations without a mistake."""
        return tuple(recording for recording in self.recordings if not recording.is_error)


def list_recipes(folder: Path) -> dict[int, str]:
    """Name of every annotated recipe by its number."""
    return AnnotationSheet(folder).recipes


def read_recipe(folder: Path, number: int, features_folder: str = FEATURES_FOLDER) -> CookingTask:
    """One recipe with features and labels; a recording without features is logged and named in `missing`."""
    sheet = AnnotationSheet(folder)
    steps = sheet.key_steps(number)
    recordings: list[CookingRecording] = []
    missing: list[str] = []
    for annotated in sheet.recordings(number):
        path = folder / features_folder / f"{annotated.id}.npy"
        if path.is_file():
            recordings.append(_recording(annotated, read_features(path), steps))
        else:
            logger.warning("%s has annotations but no features at %s: left out", annotated.id, path)
            missing.append(annotated.id)
    return CookingTask(number, sheet.recipes[number], tuple(steps.values()), tuple(recordings), tuple(missing))


def read_sequences(folder: Path, number: int, clean_only: bool = False) -> TaskSequences:
    """One recipe's step sequences with mistakes; needs no features, but takes durations from them where they are."""
    sheet = AnnotationSheet(folder)
    steps = sheet.key_steps(number)
    chosen = [recording for recording in sheet.recordings(number) if not (clean_only and recording.is_error)]
    sequences = tuple(_sequence(recording, folder / FEATURES_FOLDER, steps) for recording in chosen)
    missing = tuple(f"features of {sequence.id}" for sequence in sequences if not sequence.has_length)
    return TaskSequences(sheet.recipes[number], tuple(steps.values()), sequences, missing=missing)


def read_features(path: Path) -> Features:
    """One recording's features (T, 1024) float32; raises InputError where the file holds something else."""
    try:
        features = np.load(path, allow_pickle=False)
    except (ValueError, EOFError, MemoryError, OSError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} should hold an array and cannot be read ({error}): fetch the file again.") from error
    if not isinstance(features, np.ndarray):
        features.close()
        raise InputError(f"{path} should hold an array, but is an archive of several: fetch the file again.")
    if features.ndim != 2 or features.shape[1] != WIDTH or not np.issubdtype(features.dtype, np.floating):
        raise InputError(
            f"{path} should hold T x {WIDTH} numbers, got {features.shape} {features.dtype}: fetch the file again."
        )
    if not np.isfinite(features).all():
        raise InputError(f"{path} holds numbers that are none or endless (NaN, infinite): fetch the file again.")
    return np.asarray(features, dtype=np.float32)


def frame_labels(segments: list[Segment], frames: int) -> tuple[Labels, int]:
    """Labels (frames,) at one a second, and how many segments were laid over frames of one listed before.

    >>> labels, overlaps = frame_labels([Segment(1, 0.9, 2.6), Segment(2, 2.2, 3.4)], frames=4)
    >>> labels.tolist(), overlaps
    ([1, 1, 2, 0], 1)
    """
    labels = np.full(frames, BACKGROUND, dtype=np.int64)
    overlaps = 0
    for segment in segments:
        stretch = labels[int(segment.start) : round(segment.end)]
        overlaps += bool((stretch != BACKGROUND).any())
        stretch[:] = segment.step
    return labels, overlaps


def _recording(annotated: AnnotatedRecording, features: Features, steps: dict[int, KeyStep]) -> CookingRecording:
    labels, overlaps = frame_labels([_segment(step, steps) for step in _done(annotated)], len(features))
    return CookingRecording(annotated.id, features, labels, annotated.is_error, annotated.steps, overlaps)


def _sequence(annotated: AnnotatedRecording, features: Path, steps: dict[int, KeyStep]) -> StepSequence:
    done = sorted(_done(annotated), key=lambda step: step.start)
    path = features / f"{annotated.id}.npy"
    end = max((step.end for step in done), default=0.0)
    return StepSequence(
        id=annotated.id,
        duration_s=float(len(read_features(path))) if path.is_file() else end,
        segments=tuple(_segment(step, steps) for step in done),
        mistakes=tuple(step.mistakes for step in done),
        skipped=tuple(steps[step.step_id].number for step in annotated.steps if step.was_skipped),
        view=EGO,
        has_length=path.is_file(),
    )


def _done(annotated: AnnotatedRecording) -> list[AnnotatedStep]:
    return [step for step in annotated.steps if not step.was_skipped]


def _segment(step: AnnotatedStep, steps: dict[int, KeyStep]) -> Segment:
    return Segment(steps[step.step_id].number, step.start, step.end)

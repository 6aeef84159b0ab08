"""From embeddings to a procedure: key-steps, their segments, orderings, prototypes and the live recogniser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from guide.bundle import read_arrays
from guide.domain import Features, KeyStep, Labels, Segment
from guide.errors import BundleError
from guide.label.energy import LinkSettings
from guide.label.presence import Presence
from guide.label.recogniser import Recogniser
from guide.procedure.hush import hush
from guide.procedure.learn import FALSE_ALARM_RATE, learn_procedure
from guide.procedure.model import Procedure
from offline.annotations import labels_to_segments
from offline.config import Recipe
from offline.embedding import Inputs
from offline.given import Given
from offline.keysteps.base import Collection, Finder, Found
from offline.keysteps.choose import choose_k
from offline.keysteps.fcm import FuzzySettings
from offline.keysteps.pcm import ProCut
from offline.keysteps.registry import finder
from offline.keysteps.spread import Spread
from offline.rehearse import Taught, teach_live

SHORTEST_VISIT = 0.4  # of the time a step usually takes


@dataclass(frozen=True, slots=True)
class Learned:
    """What the recordings taught: labels and segments in each, and what the live side needs of them."""

    labels: tuple[Labels, ...]
    segments: tuple[tuple[Segment, ...], ...]
    procedure: Procedure
    centres: NDArray[np.float64]  # (K, D), row n is key-step n + 1
    recogniser: Recogniser
    presence: Presence
    links: LinkSettings
    """How strongly labels hold together in time, fitted to the length of the recordings."""
    notes: tuple[str, ...]


def find_steps(
    inputs: Inputs,
    embeddings: Sequence[Features],
    recipe: Recipe,
    seed: int,
    kept: Path | None = None,
    given: Given | None = None,
) -> Learned:
    """Key-steps found in the recordings' embeddings (T, D), or carried over from given labels.

    `kept` is a file to keep the labels in, so that a killed run need not find them again.
    """
    recordings = inputs.recordings
    features = tuple(recording.pooled for recording in recordings)
    collection = Collection(tuple(embeddings), tuple(r.times for r in recordings), inputs.rate, features)
    found = _read_found(kept) if kept is not None and kept.is_file() else None
    if found is None:
        found = (
            _find(collection, recipe, seed) if given is None else Spread().spread(collection, given.labels(recordings))
        )
        _keep(found, kept)
    steps = _numbered_steps(found, recipe) if given is None else given.steps
    return describe(inputs, embeddings, found.labels, steps, found.notes)


def _find(collection: Collection, recipe: Recipe, seed: int) -> Found:
    if isinstance(recipe.k, int):
        return _finder(recipe).find(collection, recipe.k, seed)
    choice = choose_k(collection, seed)
    found = _finder(recipe).find(collection, choice.k, seed)
    return replace(found, notes=(f"{choice.k} key-steps: {choice.reason}", *found.notes))


def _numbered_steps(found: Found, recipe: Recipe) -> list[KeyStep]:
    """As many steps as were asked for, or as many as were found where that was left to us."""
    most = int(max(labels.max() for labels in found.labels))
    count = recipe.k if isinstance(recipe.k, int) else max(most, 1)
    return [KeyStep(number, f"step {number}") for number in range(1, count + 1)]


def _finder(recipe: Recipe) -> Finder:
    if recipe.clusterer == "pcm":
        return ProCut(FuzzySettings(recipe.fuzzifier))
    return finder(recipe.clusterer)


def _keep(found: Found, path: Path | None) -> None:
    if path is not None:
        aside = path.with_name(f".{path.name}.part.npz")
        labels = {f"labels_{number}": each for number, each in enumerate(found.labels)}
        np.savez(aside, notes=np.array(found.notes, dtype=np.str_), **labels)  # type: ignore[arg-type]
        aside.replace(path)


def _read_found(path: Path) -> Found | None:
    """What an earlier run found, or nothing where the file is damaged: it can be found again."""
    try:
        arrays = read_arrays(path)
        labels = tuple(arrays[f"labels_{number}"] for number in range(len(arrays) - 1))
        return Found(labels, notes=tuple(str(note) for note in arrays["notes"]))
    except (BundleError, KeyError, ValueError):
        return None


def describe(
    inputs: Inputs,
    embeddings: Sequence[Features],
    labels: Sequence[Labels],
    steps: Sequence[KeyStep],
    notes: Sequence[str] = (),
) -> Learned:
    """Everything that follows from labels, found or given."""
    segments = tuple(
        tuple(labels_to_segments(each, recording.times, inputs.rate))
        for each, recording in zip(labels, inputs.recordings, strict=True)
    )
    links = LinkSettings().capped(min(r.duration_s for r in inputs.recordings) / len(steps))
    taught = teach_live(inputs, labels, links)
    return Learned(
        labels=tuple(labels),
        segments=segments,
        procedure=_procedure(segments, steps, taught),
        centres=_centres(embeddings, labels, steps),
        recogniser=taught.recogniser,
        presence=taught.presence,
        links=links,
        notes=tuple(notes),
    )


def _procedure(segments: Sequence[Sequence[Segment]], steps: Sequence[KeyStep], taught: Taught) -> Procedure:
    """Rules and counts from the demonstrations' segments, less the rules that would cry wolf in rehearsal."""
    return hush(learn_procedure(solid(segments), steps), taught.rehearsals, FALSE_ALARM_RATE)


def solid(segments: Sequence[Sequence[Segment]]) -> list[tuple[Segment, ...]]:
    """The segments without those that are far shorter than the step usually takes: slips of the labels, not visits.

    >>> long, slip = Segment(1, 0.0, 8.0), Segment(1, 20.0, 21.0)
    >>> solid([(long, slip), (long,)]) == [(long,), (long,)]
    True
    """
    longest: dict[int, list[float]] = {}
    for each in segments:
        best: dict[int, float] = {}
        for segment in each:
            best[segment.step] = max(best.get(segment.step, 0.0), segment.duration)
        for step, duration in best.items():
            longest.setdefault(step, []).append(duration)
    least = {step: SHORTEST_VISIT * float(np.median(durations)) for step, durations in longest.items()}
    return [tuple(segment for segment in each if segment.duration >= least[segment.step]) for each in segments]


def _centres(embeddings: Sequence[Features], labels: Sequence[Labels], steps: Sequence[KeyStep]) -> NDArray[np.float64]:
    """The prototype of each key-step: the mean embedding of its frames, or of all where it has none."""
    rows, numbers = np.concatenate(list(embeddings)).astype(np.float64), np.concatenate(list(labels))
    chosen = [rows[numbers == step.number] for step in steps]
    return np.stack([part.mean(0) if len(part) else rows.mean(0) for part in chosen])

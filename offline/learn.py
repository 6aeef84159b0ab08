"""From embeddings to a procedure: key-steps, their segments, orderings, prototypes and the live recogniser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guide.bundle import read_arrays
from guide.domain import Features, KeyStep, Labels, Segment
from guide.errors import BundleError
from guide.label.energy import LinkSettings
from guide.label.recogniser import Recogniser, RecogniserSettings, learn_recogniser
from guide.procedure.learn import learn_procedure
from guide.procedure.model import Procedure
from guide.procedure.orderings import ordering_of_segments, rank_orderings
from offline.annotations import labels_to_segments
from offline.config import Recipe
from offline.embedding import Inputs
from offline.keysteps.base import Collection, Finder, Found
from offline.keysteps.fcm import FuzzySettings
from offline.keysteps.pcm import ProCut
from offline.keysteps.registry import finder
from offline.rehearse import rehearse

MOST_RECOGNISER_FRAMES = 20_000  # of the demonstrations: more do not change it, and memory is finite


@dataclass(frozen=True, slots=True)
class Learned:
    """What the recordings taught: labels and segments in each, and what the live side needs of them."""

    labels: tuple[Labels, ...]
    segments: tuple[tuple[Segment, ...], ...]
    procedure: Procedure
    centres: NDArray[np.float64]  # (K, D), row n is key-step n + 1
    recogniser: Recogniser
    links: LinkSettings
    """How strongly labels hold together in time, fitted to the length of the recordings."""
    notes: tuple[str, ...]


def find_steps(
    inputs: Inputs, embeddings: Sequence[Features], recipe: Recipe, seed: int, kept: Path | None = None
) -> Learned:
    """Key-steps found without labels in the recordings' embeddings (T, D); `kept` is a file to keep the labels in."""
    recordings = inputs.recordings
    features = tuple(recording.pooled for recording in recordings)
    collection = Collection(tuple(embeddings), tuple(r.times for r in recordings), inputs.rate, features)
    k = recipe.steps
    found = _read_found(kept) if kept is not None and kept.is_file() else None
    if found is None:
        found = _finder(recipe).find(collection, k, seed)
        _keep(found, kept)
    steps = [KeyStep(number, f"step {number}") for number in range(1, k + 1)]
    return describe(inputs, embeddings, found.labels, steps, found.notes)


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
    recogniser = _recogniser(inputs.appearance, labels)
    links = LinkSettings().capped(min(r.duration_s for r in inputs.recordings) / len(steps))
    return Learned(
        labels=tuple(labels),
        segments=segments,
        procedure=_procedure(inputs, labels, segments, steps, recogniser, links),
        centres=_centres(embeddings, labels, steps),
        recogniser=recogniser,
        links=links,
        notes=tuple(notes),
    )


def _procedure(
    inputs: Inputs,
    labels: Sequence[Labels],
    segments: Sequence[Sequence[Segment]],
    steps: Sequence[KeyStep],
    recogniser: Recogniser,
    links: LinkSettings,
) -> Procedure:
    """Rules and counts from rehearsals, which are what the live side can see; orderings as the paper has them."""
    times = [recording.times for recording in inputs.recordings]
    rehearsed = rehearse(recogniser, inputs.appearance, labels, times, links, inputs.rate)
    orders = [ordering_of_segments(each) for each in segments]
    return replace(learn_procedure(rehearsed, steps), orderings=rank_orderings(orders))


def _centres(embeddings: Sequence[Features], labels: Sequence[Labels], steps: Sequence[KeyStep]) -> NDArray[np.float64]:
    """The prototype of each key-step: the mean embedding of its frames, or of all where it has none."""
    rows, numbers = np.concatenate(list(embeddings)).astype(np.float64), np.concatenate(list(labels))
    chosen = [rows[numbers == step.number] for step in steps]
    return np.stack([part.mean(0) if len(part) else rows.mean(0) for part in chosen])


def _recogniser(features: Sequence[NDArray[Any]], labels: Sequence[Labels]) -> Recogniser:
    stride = max(1, -(-sum(len(each) for each in labels) // MOST_RECOGNISER_FRAMES))
    return learn_recogniser(
        [each[::stride] for each in features], [each[::stride] for each in labels], RecogniserSettings()
    )

"""From embeddings to a procedure: key-steps, their segments, orderings, prototypes and the live recogniser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guide.domain import Features, KeyStep, Labels, Segment
from guide.label.energy import LinkSettings
from guide.label.recogniser import Recogniser, RecogniserSettings, learn_recogniser
from guide.procedure.learn import learn_procedure
from guide.procedure.model import Procedure
from offline.annotations import labels_to_segments
from offline.config import Recipe
from offline.embedding import Inputs
from offline.keysteps.base import Collection
from offline.keysteps.registry import finder

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


def find_steps(inputs: Inputs, embeddings: Sequence[Features], recipe: Recipe, seed: int) -> Learned:
    """Key-steps found without labels in the recordings' embeddings (T, D)."""
    recordings = inputs.recordings
    features = tuple(recording.pooled for recording in recordings)
    collection = Collection(tuple(embeddings), tuple(r.times for r in recordings), inputs.rate, features)
    k = recipe.k if isinstance(recipe.k, int) else 7
    found = finder(recipe.clusterer).find(collection, k, seed)
    steps = [KeyStep(number, f"step {number}") for number in range(1, k + 1)]
    return describe(inputs, embeddings, found.labels, steps, found.notes)


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
    return Learned(
        labels=tuple(labels),
        segments=segments,
        procedure=learn_procedure(segments, steps),
        centres=_centres(embeddings, labels, steps),
        recogniser=_recogniser(inputs.appearance, labels),
        links=LinkSettings().capped(min(r.duration_s for r in inputs.recordings) / len(steps)),
        notes=tuple(notes),
    )


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

"""From embeddings to key-steps, found or carried over from given labels, and all that follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from guide.bundle import read_arrays
from guide.domain import Features, KeyStep
from guide.errors import BundleError
from guide.teach.carrying import Carrying
from guide.teach.collection import Collection, Found
from guide.teach.demonstrations import Demonstrations
from guide.teach.describe import Learned, describe
from guide.teach.given import Given
from guide.teach.progress import Map
from guide.whole_file import whole_file
from offline.config import Recipe
from offline.embedding import Inputs
from offline.keysteps.base import Finder
from offline.keysteps.choose import Choice, choose_k
from offline.keysteps.fcm import FuzzySettings
from offline.keysteps.pcm import ProCut
from offline.keysteps.registry import finder


def find_labels(
    inputs: Inputs,
    demonstrations: Demonstrations,
    embeddings: Sequence[Features],
    recipe: Recipe,
    seed: int,
    kept: Path | None = None,
    given: Given | None = None,
    choice: Choice | None = None,
) -> Found:
    """Key-steps found in the recordings' embeddings (T, D), or carried over from given labels.

    `kept` is a file to keep the labels in, so that a killed run need not find them again. `choice` is the number of
    steps where the recipe leaves it to us, if it was chosen before.
    """
    found = _read_found(kept) if kept is not None and kept.is_file() else None
    if found is None:
        found = (
            _find(inputs.collection(embeddings), recipe, seed, choice)
            if given is None
            else Carrying().carry(demonstrations.collection(), given.labels(demonstrations.items))
        )
        _keep(found, kept)
    return found


def describe_found(
    found: Found, demonstrations: Demonstrations, recipe: Recipe, given: Given | None = None, each: Map = map
) -> Learned:
    """All that follows from key-steps found, or carried over from given labels; rehearsals are done by `each`."""
    steps = _numbered_steps(found, recipe) if given is None else given.steps
    return describe(demonstrations, found.labels, steps, found.notes, each=each)


def _find(collection: Collection, recipe: Recipe, seed: int, choice: Choice | None) -> Found:
    if isinstance(recipe.k, int):
        return _finder(recipe).find(collection, recipe.k, seed)
    choice = choice or choose_k(collection, seed)
    found = _finder(recipe).find(collection, choice.k, seed)
    return replace(found, notes=(f"{choice.k} steps: {choice.reason}", *found.notes))


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
        labels = {f"labels_{number}": each for number, each in enumerate(found.labels)}
        with whole_file(path) as unfinished:
            np.savez(unfinished, notes=np.array(found.notes, dtype=np.str_), **labels)  # type: ignore[arg-type]


def _read_found(path: Path) -> Found | None:
    """What an earlier run found, or nothing where the file is damaged: it can be found again."""
    try:
        arrays = read_arrays(path)
        labels = tuple(arrays[f"labels_{number}"] for number in range(len(arrays) - 1))
        return Found(labels, notes=tuple(str(note) for note in arrays["notes"]))
    except (BundleError, KeyError, ValueError):
        return None

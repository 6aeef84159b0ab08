"""Fuzzy c-means centres by scikit-fuzzy, from a seeded k-means start; a collapse is detected and said loudly."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

import numpy as np
import skfuzzy
from numpy.typing import NDArray

from guide.label.membership import memberships, partition_coefficient, sharpness
from guide.teach.collection import Collection
from offline.keysteps.base import check_k
from offline.keysteps.kmeans import KMeansSettings, kmeans, sample

log = logging.getLogger(__name__)

Array = NDArray[np.float64]

START_SHARE = 4  # one frame in four of a sample gives the k-means start: what follows moves it anyway


@dataclass(frozen=True, slots=True)
class FuzzySettings:
    """How fuzzy clusters are made.

    >>> FuzzySettings().fuzzifier
    1.2
    """

    fuzzifier: float = 1.2
    """m: with 2, every membership in 128 dimensions becomes 1/K and the cut returns one label."""
    most_frames: int = 10_000
    """Frames the centres are learned from at most: a seeded sample of larger collections, 1,000 a cluster at K = 10."""
    rounds: int = 500
    """Rounds at most; from a k-means start real features settle in 30 to 450."""
    tolerance: float = 0.005
    """Rounds end when the norm of the change of all memberships is below this: scikit-fuzzy's usual value."""
    least_sharpness: float = 0.05
    """Below this share of the way from 1/K to 1, the partition coefficient is called a collapse."""
    start: KMeansSettings = field(default_factory=lambda: KMeansSettings(rounds=10, restarts=2))
    """The k-means that gives the starting partition."""


@dataclass(frozen=True, slots=True)
class Clusters:
    """Fuzzy centres (K, D) and what the user must know about them.

    >>> Clusters(np.zeros((2, 3))).notes
    ()
    """

    centres: Array
    notes: tuple[str, ...] = ()


def fuzzy_clusters(collection: Collection, k: int, seed: int, settings: FuzzySettings | None = None) -> Clusters:
    """k fuzzy centres of all recordings of a task together, with a note when they collapsed."""
    check_k(collection, k)
    chosen = settings or FuzzySettings()
    data = sample(collection, chosen.most_frames, seed)
    is_sampled = len(data) < collection.size and len(data) >= START_SHARE * k
    few = data[::START_SHARE] if is_sampled else data
    start = kmeans(few, k, seed, chosen.start)
    centres = fuzzy_centres(data, start, chosen)
    return Clusters(centres, collapse_notes(memberships(data, centres, chosen.fuzzifier), chosen))


def fuzzy_centres(data: Array, start: Array, settings: FuzzySettings) -> Array:
    """Fuzzy c-means centres (K, D) of data (N, D), from the partition that centres `start` (K, D) give."""
    partition = memberships(data, start, settings.fuzzifier)
    found = skfuzzy.cmeans(
        data.T,  # scikit-fuzzy wants features x samples
        len(start),
        settings.fuzzifier,
        error=settings.tolerance,
        maxiter=settings.rounds,
        init=partition.T,
    )
    centres: Array = found[0]
    return centres


ALIKE = (
    "the steps look too much alike to be told apart, so those found mean little: film closer, with hands and parts in "
    "the picture, or label one or two recordings"
)


def collapse_notes(weights: Array, settings: FuzzySettings) -> tuple[str, ...]:
    """A note, with its figures in the log, when memberships (N, K) say next to nothing."""
    if sharpness(weights) >= settings.least_sharpness:
        return ()
    log.warning(
        f"fuzzy c-means collapsed: partition coefficient {partition_coefficient(weights):.3f} with {weights.shape[1]} "
        f"key-steps (1/K = {1 / weights.shape[1]:.3f}), so the labels mean nothing: lower the fuzzifier from "
        f"{settings.fuzzifier:g} towards 1.1, or train the embedder longer"
    )
    return (ALIKE,)

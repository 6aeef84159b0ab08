"""What the ProCut Module costs, and what the published way of doing it costs: plain functions that return numbers."""

from __future__ import annotations

import resource
import sys
import time
from dataclasses import dataclass

import numpy as np
import skfuzzy
from maxflow.fastmin import aexpansion_grid
from numpy.typing import NDArray
from scipy.signal import lfilter

from guide.domain import Labels
from guide.label.cut import settle
from guide.label.energy import LinkSettings, build_links, energy
from guide.label.membership import memberships
from offline.keysteps.base import Collection
from offline.keysteps.fcm import FuzzySettings, fuzzy_clusters
from offline.keysteps.pcm import ProCut

# 2 frames a second, recordings of 1,000 frames (8 minutes), steps of 25 s on average: like the cooking recordings.
RATE = 2.0
RECORDING_FRAMES = 1000
STEP_FRAMES = 50
# Beside prototypes of unit spread in each dimension: noise from frame to frame, and drift that lasts about 20 frames
# along a few directions. Fuzzy c-means then needs some 25 rounds, no more than on cooking features (30 to 400).
NOISE = 0.5
DRIFT = 0.4
DRIFT_DIRECTIONS = 8
DRIFT_KEPT = 0.95
CHAIN = LinkSettings(radius_s=0.0)


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds and peak memory of one labelling; memory is the whole process's peak so far.

    >>> round(Cost(frames=1000, seconds=0.5, peak_mb=200.0).per_frame_us)
    500
    """

    frames: int
    seconds: float
    peak_mb: float

    @property
    def per_frame_us(self) -> float:
        return 1e6 * self.seconds / self.frames


@dataclass(frozen=True, slots=True)
class Race:
    """Ours against the published way on one collection, with the same m and next-frame links only.

    `cut_energy` and `rival_cut_energy` are of both cuts on the rival's own memberships, so they are the same energy;
    `energy` is of our labels with our memberships, from centres learned on a sample.
    """

    seconds: float
    rival_seconds: float
    energy: float
    cut_energy: float
    rival_cut_energy: float

    @property
    def times_faster(self) -> float:
        return self.rival_seconds / self.seconds


def drawn_collection(frames: int, width: int = 128, k: int = 10, seed: int = 0) -> Collection:
    """About `frames` noisy frames of recordings in which k prototypes (k, width) follow each other at random."""
    rng = np.random.default_rng(seed)
    prototypes = rng.standard_normal((k, width), dtype=np.float32)
    directions = rng.standard_normal((DRIFT_DIRECTIONS, width), dtype=np.float32)
    count = max(1, frames // RECORDING_FRAMES)
    return Collection.at_rate([_draw(prototypes, directions, rng) for _ in range(count)], RATE)


def _draw(
    prototypes: NDArray[np.float32], directions: NDArray[np.float32], rng: np.random.Generator
) -> NDArray[np.float32]:
    run = np.cumsum(rng.random(RECORDING_FRAMES) < 1 / STEP_FRAMES)
    steps = rng.integers(len(prototypes), size=RECORDING_FRAMES)[run - run[0]]
    pushes = rng.normal(scale=np.sqrt(1 - DRIFT_KEPT**2), size=(RECORDING_FRAMES, len(directions)))
    drift = lfilter([1.0], [1.0, -DRIFT_KEPT], pushes, axis=0).astype(np.float32)
    noise = rng.standard_normal((RECORDING_FRAMES, prototypes.shape[1]), dtype=np.float32)
    drawn: NDArray[np.float32] = prototypes[steps] + np.float32(DRIFT) * drift @ directions + np.float32(NOISE) * noise
    return drawn


def peak_mb() -> float:
    """The most memory this process has held so far, in MB."""
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes, Linux kilobytes
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def pcm_cost(frames: int, width: int = 128, k: int = 10, seed: int = 0) -> Cost:
    """What ProCut costs on `frames` drawn frames (drawing them not counted). Memory wants a fresh process."""
    collection = drawn_collection(frames, width, k, seed)
    begin = time.perf_counter()
    ProCut().find(collection, k, seed)
    return Cost(collection.size, time.perf_counter() - begin, peak_mb())


def race(frames: int, width: int = 128, k: int = 10, seed: int = 0) -> Race:
    """ProCut with next-frame links against scikit-fuzzy on all frames and `aexpansion_grid`, on drawn frames."""
    collection, settings = drawn_collection(frames, width, k, seed), FuzzySettings()
    begin = time.perf_counter()
    centres = fuzzy_clusters(collection, k, seed, settings).centres
    ours = _unaries(collection, centres, settings.fuzzifier)
    labels = _settle_all(ours, collection)
    seconds = time.perf_counter() - begin
    begin = time.perf_counter()
    unaries, rival_labels = _published(collection, k, seed, settings)
    rival_seconds = time.perf_counter() - begin
    return Race(
        seconds=seconds,
        rival_seconds=rival_seconds,
        energy=_total(ours, labels, collection),
        cut_energy=_total(unaries, _settle_all(unaries, collection), collection),
        rival_cut_energy=_total(unaries, rival_labels, collection),
    )


def _published(
    collection: Collection, k: int, seed: int, settings: FuzzySettings
) -> tuple[list[NDArray[np.float64]], list[Labels]]:
    """scikit-fuzzy on all frames from its own seeded random start, then expansions on each recording's grid."""
    data = np.concatenate(collection.embeddings).astype(np.float64)
    found = skfuzzy.cmeans(data.T, k, settings.fuzzifier, settings.tolerance, settings.rounds, seed=seed)
    unaries = np.split(1.0 - found[1].T, np.cumsum(collection.lengths)[:-1])
    differ = CHAIN.weight * collection.rate * (1.0 - np.eye(k))
    return unaries, [aexpansion_grid(np.ascontiguousarray(unary), differ).astype(np.int64) for unary in unaries]


def _unaries(collection: Collection, centres: NDArray[np.float64], fuzzifier: float) -> list[NDArray[np.float64]]:
    return [1.0 - memberships(embedding, centres, fuzzifier) for embedding in collection.embeddings]


def _settle_all(unaries: list[NDArray[np.float64]], collection: Collection) -> list[Labels]:
    pairs = zip(unaries, collection.times, strict=True)
    return [settle(unary, build_links(times, collection.rate, CHAIN)) for unary, times in pairs]


def _total(unaries: list[NDArray[np.float64]], labels: list[Labels], collection: Collection) -> float:
    parts = zip(unaries, labels, collection.times, strict=True)
    return sum(energy(unary, build_links(times, collection.rate, CHAIN), each) for unary, each, times in parts)

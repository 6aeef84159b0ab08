"""What the ProCut Module costs, and what the published way of doing it costs: plain functions that return numbers."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TypeAlias

import numpy as np
import skfuzzy
from maxflow.fastmin import aexpansion_grid
from numpy.typing import NDArray
from scipy.signal import lfilter

from guide.benchmarks.clocks import timed
from guide.benchmarks.figures import peak_mb
from guide.domain import Labels
from guide.label.cut import settle_all
from guide.label.energy import LinkSettings, build_links, energy
from guide.label.membership import memberships
from guide.teach.collection import Collection
from offline.keysteps.fcm import START_SHARE, FuzzySettings, fuzzy_clusters
from offline.keysteps.kmeans import kmeans, sample
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

RivalRun: TypeAlias = tuple[list[NDArray[np.float64]], list[Labels], int]  # unaries, labels, rounds


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
class Rival:
    """The published way from one start: its time and the energies of the labels on its own memberships.

    `cut_energy` is that of our cut on the same memberships, so the two are the same energy.
    """

    seconds: float
    rounds: int
    energy: float
    cut_energy: float


@dataclass(frozen=True, slots=True)
class Race:
    """Ours against the published way on one collection, with the same m and next-frame links only.

    `energy` is of our labels with our memberships, from centres learned on a sample first.
    """

    seconds: float
    energy: float
    random_start: Rival
    """As published: scikit-fuzzy's own random start."""
    our_start: Rival
    """From the k-means start that ours takes too, its time counted on both sides."""


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


def pcm_cost(frames: int, width: int = 128, k: int = 10, seed: int = 0) -> Cost:
    """What ProCut costs on `frames` drawn frames (drawing them not counted). Memory wants a fresh process."""
    collection = drawn_collection(frames, width, k, seed)
    seconds, _ = timed(lambda: ProCut().find(collection, k, seed))
    return Cost(collection.size, seconds, peak_mb())


def race(frames: int, width: int = 128, k: int = 10, seed: int = 0, repeats: int = 1) -> Race:
    """ProCut with next-frame links against scikit-fuzzy on all frames and `aexpansion_grid`, on drawn frames.

    Ours and the rival from our start take turns, the best of `repeats` each, so that a busy machine slows both; from
    its random start the rival runs once.
    """
    collection, settings = drawn_collection(frames, width, k, seed), FuzzySettings()
    ours, rivals = [], []
    for _ in range(repeats):
        ours.append(timed(lambda: _ours(collection, k, seed, settings)))
        rivals.append(timed(lambda: _rival(collection, lambda data: _from_our_start(collection, data, k, seed))))
    alone = timed(lambda: _rival(collection, lambda data: _published(data, k, settings, seed=seed)))
    unaries, labels = ours[0][1]
    return Race(
        seconds=min(seconds for seconds, _ in ours),
        energy=_total(unaries, labels, collection),
        random_start=_scored(alone[0], alone[1], collection),
        our_start=_scored(min(seconds for seconds, _ in rivals), rivals[0][1], collection),
    )


def _ours(
    collection: Collection, k: int, seed: int, settings: FuzzySettings
) -> tuple[list[NDArray[np.float64]], list[Labels]]:
    centres = fuzzy_clusters(collection, k, seed, settings).centres
    unaries = _unaries(collection, centres, settings.fuzzifier)
    return unaries, _settle_all(unaries, collection)


def _rival(
    collection: Collection, cluster: Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], int]]
) -> RivalRun:
    """Memberships (N, K) of all frames by `cluster`, then expansions on each recording's grid."""
    weights, rounds = cluster(np.concatenate(collection.embeddings).astype(np.float64))
    unaries = np.split(1.0 - weights, np.cumsum(collection.lengths)[:-1])
    differ = CHAIN.weight * collection.rate * (1.0 - np.eye(weights.shape[1]))
    return unaries, [aexpansion_grid(np.ascontiguousarray(each), differ).astype(np.int64) for each in unaries], rounds


def _scored(seconds: float, run: RivalRun, collection: Collection) -> Rival:
    unaries, labels, rounds = run
    ours = _settle_all(unaries, collection)
    return Rival(seconds, rounds, _total(unaries, labels, collection), _total(unaries, ours, collection))


def _published(
    data: NDArray[np.float64],
    k: int,
    settings: FuzzySettings,
    start: NDArray[np.float64] | None = None,
    seed: int | None = None,
) -> tuple[NDArray[np.float64], int]:
    """Memberships (N, K) by scikit-fuzzy on all frames (N, D), and its rounds."""
    found = skfuzzy.cmeans(data.T, k, settings.fuzzifier, settings.tolerance, settings.rounds, init=start, seed=seed)
    return found[1].T, int(found[5])


def _from_our_start(
    collection: Collection, data: NDArray[np.float64], k: int, seed: int
) -> tuple[NDArray[np.float64], int]:
    settings = FuzzySettings()
    few = sample(collection, settings.most_frames, seed)[::START_SHARE]
    start = kmeans(few, k, seed, settings.start)
    return _published(data, k, settings, memberships(data, start, settings.fuzzifier).T)


def _unaries(collection: Collection, centres: NDArray[np.float64], fuzzifier: float) -> list[NDArray[np.float64]]:
    return [1.0 - memberships(embedding, centres, fuzzifier) for embedding in collection.embeddings]


def _settle_all(unaries: list[NDArray[np.float64]], collection: Collection) -> list[Labels]:
    pairs = zip(unaries, collection.times, strict=True)
    return settle_all((unary, build_links(times, collection.rate, CHAIN)) for unary, times in pairs)


def _total(unaries: list[NDArray[np.float64]], labels: list[Labels], collection: Collection) -> float:
    parts = zip(unaries, labels, collection.times, strict=True)
    return sum(energy(unary, build_links(times, collection.rate, CHAIN), each) for unary, each, times in parts)


if __name__ == "__main__":  # a process of its own for `pcm_cost`, whose memory would be another's otherwise
    sys.stdout.write(json.dumps(asdict(pcm_cost(*(int(argument) for argument in sys.argv[1:])))) + "\n")

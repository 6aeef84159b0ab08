"""Subset selection: the K of M latent states that best stand for all recordings, chosen one by one.

In the manner of Elhamifar and Naing (joint dynamic summarisation), whose greedy choice the paper's "SS" ablation uses.
Precisely:

1. k-means gives M latent states. Every frame's nearest state makes each recording a sequence of states; changes from
   state a to another state b are counted over all recordings, with one added to each count, and give p(b | a).
2. State s represents frame x with r(x, s) = D - |x - s|², D the largest squared distance of any frame to any state.
3. A set S is worth F(S), the sum over recordings of the best sequence of states of S, one a frame:
   sum_t r(x_t, s_t) - w sum_t c(s_{t-1}, s_t), where c(a, a) = 0 and c(a, b) = 1 - log((M - 1) p(b | a)) / log M,
   kept at or above 0: 1 for a change as likely as any other, less for a usual one. Dynamic programming finds the best.
4. Starting from nothing, the state that raises F most joins S, K times. Each frame then has the state of the best
   sequence as its representative, and that state's rank in time as its key-step.

F never falls when a state joins. With w = 0 it is facility location, so the greedy choice has at least 1 - 1/e of the
best possible value; with w above 0 there is no such bound, since two states may be worth more together than apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from guide.domain import Labels
from guide.label.membership import squared_distances
from guide.teach.collection import Collection, Found
from offline.keysteps.base import check_k, numbered
from offline.keysteps.kmeans import KMeansSettings, kmeans, nearest, sample

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SubsetSettings:
    """How many states there are to choose from, and what a change between them costs.

    >>> SubsetSettings().states_per_step
    4
    """

    states_per_step: int = 4
    """M over K: the paper names M without a value; more states take longer and change little."""
    change: float = 0.05
    """w, what a change of states costs: as much as this part of an average step, taken a standard deviation amiss."""
    most_frames: int = 4000
    """Frames the choice is made on at most: every n-th of longer collections, since neighbours look alike."""
    start: KMeansSettings = field(default_factory=lambda: KMeansSettings(restarts=2))
    """The k-means that gives the latent states."""


@dataclass(frozen=True, slots=True)
class SubsetSelection:
    """Greedy choice of K latent states; every frame goes to its representative.

    >>> embedding = np.repeat([[0.0], [4.0]], 20, axis=0).astype(np.float32)
    >>> SubsetSelection().find(Collection.at_rate([embedding], 1.0), k=2, seed=0).labels[0][[0, -1]]
    array([1, 2])
    """

    settings: SubsetSettings = field(default_factory=SubsetSettings)

    def find(self, collection: Collection, k: int, seed: int) -> Found:
        check_k(collection, k)
        data = sample(collection, self.settings.start.most_frames, seed)
        count = min(self.settings.states_per_step * k, len(data))
        states = kmeans(data, count, seed, self.settings.start)
        gains = represent(collection.embeddings, states)
        costs = change_costs([nearest(embedding, states)[0] for embedding in collection.embeddings], count)
        stride = -(-collection.size // self.settings.most_frames)
        weight = self.settings.change * float(np.median(collection.lengths)) / k * float(data.var(axis=0).sum())
        chosen = choose([each[::stride] for each in gains], weight / stride * costs, k)
        used = weight * costs[np.ix_(chosen, chosen)]
        return numbered([best_path(each[:, chosen], used) for each in gains], states[chosen])


def represent(recordings: Sequence[NDArray[np.floating]], states: Array) -> list[Array]:
    """How well each state (M, D) stands for each frame of recordings (T, D): r of step 2, (T, M) each."""
    distances = [squared_distances(frames.astype(np.float64), states) for frames in recordings]
    farthest = max(float(each.max()) for each in distances)
    return [farthest - each for each in distances]


def change_costs(sequences: Sequence[Labels], count: int) -> Array:
    """c of step 3, (M, M): what a change from one of `count` states to another costs, by how usual it is."""
    changes = np.ones((count, count))
    for states in sequences:
        np.add.at(changes, (states[:-1], states[1:]), 1.0)
    np.fill_diagonal(changes, 0.0)
    if count < 3:  # there is but one other state, or none
        return np.asarray(1.0 - np.eye(count))
    usual = changes / changes.sum(axis=1, keepdims=True)
    np.fill_diagonal(usual, 1.0)
    costs: Array = np.maximum(1.0 - np.log((count - 1) * usual) / np.log(count), 0.0)
    np.fill_diagonal(costs, 0.0)
    return costs


def choose(gains: Sequence[Array], costs: Array, k: int) -> NDArray[np.int64]:
    """The k states, of those in gains (T, M) and costs (M, M), that the greedy rule takes, in the order taken."""
    chosen: list[int] = []
    free = list(range(len(costs)))
    for _ in range(k):
        sets = np.array([[*chosen, state] for state in free])
        best = int(np.argmax(worth(gains, costs, sets)))  # the first of equals: no chance is involved
        chosen.append(free.pop(best))
    return np.array(chosen, dtype=np.int64)


def worth(gains: Sequence[Array], costs: Array, sets: NDArray[np.int64]) -> Array:
    """F of each of the sets (C, n) of states, (C,): all of them at once, one frame after the other."""
    between = costs[sets[:, :, None], sets[:, None, :]]
    total = np.zeros(len(sets))
    for each in gains:
        value = each[0][sets]
        for row in each[1:]:
            value = (value[:, :, None] - between).max(axis=1) + row[sets]
        total += value.max(axis=1)
    return total


def best_path(gains: Array, costs: Array) -> Labels:
    """The states (T,) of the best sequence for gains (T, n) and costs of changes (n, n)."""
    value, came_from = gains[0], np.zeros(gains.shape, dtype=np.int64)
    for t in range(1, len(gains)):
        through = value[:, None] - costs
        came_from[t] = through.argmax(axis=0)
        value = through.max(axis=0) + gains[t]
    path = np.empty(len(gains), dtype=np.int64)
    path[-1] = value.argmax()
    for t in reversed(range(1, len(gains))):
        path[t - 1] = came_from[t, path[t]]
    return path

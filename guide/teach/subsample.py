"""A long collection made short enough to look at as a whole: neighbouring frames look alike, and so do recordings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from guide.domain import Features, Labels, Times
from guide.teach.collection import Collection

MOST_FRAMES = 25_000
"""Frames that are looked at as a whole: 1.4 hours at 5 a second as they are, fewer where they have many features. More
take memory in proportion, about 0.6 GB as it is."""
USUAL_WIDTH = 1392
"""Features a frame up to which so many frames are held."""
FRAMES_A_STEP = 12
"""So many frames of an average step are left at least, or its borders would be lost."""
ROWS_AT_ONCE = 4096


@dataclass(frozen=True, slots=True)
class Fewer:
    """A collection of which one frame stands for `every` neighbouring ones, and some recordings for all.

    >>> three = Collection.at_rate([np.array([[1.0], [3.0], [8.0]], np.float32)], 1.0)
    >>> thin = Fewer(three, every=2, numbers=(0,))
    >>> thin.collection().embeddings[0].tolist(), thin.all_frames(0, np.array([5, 6])).tolist()
    ([[2.0], [8.0]], [5, 5, 6])
    """

    whole: Collection
    every: int
    numbers: tuple[int, ...]
    """The recordings that stand for all."""

    @property
    def others(self) -> tuple[int, ...]:
        """The recordings that are left out."""
        return tuple(n for n in range(len(self.whole.times)) if n not in set(self.numbers))

    def collection(self, numbers: Sequence[int] | None = None) -> Collection:
        """Those that stand for all, or others, in fewer frames."""
        chosen = self.numbers if numbers is None else tuple(numbers)
        whole, every = self.whole, self.every
        if every == 1 and len(chosen) == len(whole.times):
            return whole
        return Collection(
            tuple(_means(whole.embeddings[n], every) for n in chosen),
            tuple(_mean_times(whole.times[n], every) for n in chosen),
            whole.rate / every,
            tuple(_means(whole.features[n], every, is_unit=every > 1) for n in chosen) if whole.features else (),
        )

    def all_frames(self, number: int, labels: Labels) -> Labels:
        """Labels of all frames of a recording from those of the few."""
        return np.repeat(labels, self.every)[: self.whole.lengths[number]]

    def thin(self, labels: Labels) -> Labels:
        """Labels of the few frames of a recording from those of all: each group's middle one."""
        groups = np.arange(0, len(labels), self.every)
        return np.asarray(labels[np.minimum(groups + self.every // 2, len(labels) - 1)])


def room_for(frames: int, width: int) -> int:
    """How many frames of `width` features take no more memory than so many of the usual width.

    >>> room_for(20_000, 1024), room_for(20_000, 2 * USUAL_WIDTH)
    (20000, 10000)
    """
    return frames * USUAL_WIDTH // max(width, USUAL_WIDTH)


def fewer(
    collection: Collection, k: int, seed: int, keep: Sequence[int] = (), most: int = MOST_FRAMES, least: int = 2
) -> Fewer:
    """The collection as it is where it has at most `most` frames of the usual width.

    Else frames are merged as far as k steps allow; where that does not do, some recordings are drawn to stand for all,
    those in `keep` and as many more as there is room for, `least` at least.
    """
    most = room_for(most, max(part[0].shape[1] for part in (collection.features, collection.embeddings) if part))
    sparsest = max(int(np.median(collection.lengths)) // (FRAMES_A_STEP * k), 1)
    every = min(-(-collection.size // most), sparsest)
    sizes = -(-np.array(collection.lengths) // every)
    order = np.random.default_rng(seed).permutation(len(sizes))
    chosen, room = set(keep), most + len(sizes) - int(sizes[list(keep)].sum())
    for number in order:
        if number not in chosen and sizes[number] <= room:
            chosen.add(int(number))
            room -= int(sizes[number])
    shortest = sorted((n for n in range(len(sizes)) if n not in chosen), key=lambda n: sizes[n])
    chosen.update(shortest[: max(least - len(chosen), 0)])
    return Fewer(collection, every, tuple(sorted(chosen)))


def _mean_times(times: Times, every: int) -> Times:
    groups = np.arange(0, len(times), every)
    return np.asarray(np.add.reduceat(times, groups) / np.diff(np.append(groups, len(times))))


def _means(rows: NDArray[np.floating], every: int, is_unit: bool = False) -> Features:
    """Means of groups of rows (T, P), read a part at a time; `is_unit` has rows of unit length go into them."""
    parts = []
    chunk = max(ROWS_AT_ONCE // every, 1) * every
    for begin in range(0, len(rows), chunk):
        part = np.asarray(rows[begin : begin + chunk], np.float32)
        if is_unit:
            part = part / np.maximum(np.linalg.norm(part, axis=1, keepdims=True), 1e-12)
        groups = np.arange(0, len(part), every)
        counts = np.diff(np.append(groups, len(part))).astype(np.float32)
        parts.append(np.add.reduceat(part, groups, axis=0) / counts[:, None])
    return np.concatenate(parts)

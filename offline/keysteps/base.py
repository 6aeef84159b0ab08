"""What a key-step finder takes and gives, so that one table can compare them all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from guide.domain import Labels
from guide.errors import InputError
from guide.teach.collection import Collection, Found


class Finder(Protocol):
    """Anything that finds k key-steps; the same seed gives the same labels."""

    def find(self, collection: Collection, k: int, seed: int) -> Found: ...


def average_step_s(collection: Collection, k: int) -> float:
    """How long an average of k steps takes, in seconds."""
    return float(np.median([times[-1] - times[0] for times in collection.times])) / k


def check_k(collection: Collection, k: int) -> None:
    """Raises InputError where k key-steps cannot be found in so few frames."""
    if not 1 <= k <= collection.size:
        raise InputError(
            f"the number of key-steps must lie between 1 and the number of frames ({collection.size}), got {k}: "
            "choose another --k or add recordings."
        )


def split(labels: Labels, lengths: Sequence[int]) -> tuple[Labels, ...]:
    """Labels (sum of lengths,) of the concatenation, recording by recording."""
    return tuple(np.split(labels, np.cumsum(lengths)[:-1]))


def rank_by_time(labels: Sequence[Labels], k: int) -> NDArray[np.int64]:
    """The columns 0..k-1 in the order of their mean normalised time; unused ones last.

    Clusters come in any order; steps numbered as they are usually done are easier to read and compare.
    """
    moments = [(np.arange(len(each)) + 0.5) / len(each) for each in labels]
    columns, when = np.concatenate(labels), np.concatenate(moments)
    count = np.bincount(columns, minlength=k)
    mean = np.bincount(columns, when, minlength=k) / np.maximum(count, 1)
    return np.argsort(np.where(count > 0, mean, np.inf), kind="stable")


def numbered(labels: Sequence[Labels], centres: NDArray[np.float64], notes: tuple[str, ...] = ()) -> Found:
    """Found from columns 0..K-1 and centres (K, D): key-steps 1..K in the order of their mean time."""
    rank = rank_by_time(labels, len(centres))
    step = np.empty(len(centres), dtype=np.int64)
    step[rank] = np.arange(1, len(centres) + 1)
    return Found(tuple(step[each] for each in labels), centres[rank], notes + unused(labels, len(centres)))


def unused(labels: Sequence[Labels], k: int) -> tuple[str, ...]:
    """A note, in words for a trainer, where some of the columns 0..k-1 label no frame."""
    used = len(np.unique(np.concatenate(labels)))
    return () if used == k else (f"only {used} of the {k} steps asked for were found: ask for fewer",)

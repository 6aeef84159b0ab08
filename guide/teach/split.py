"""One step made two: by how its frames look, or at a share of each time it is done."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from guide.domain import Labels
from guide.label.chain import chain
from guide.label.directions import principal_directions
from guide.label.membership import squared_distances
from guide.teach.demonstrations import Demonstrations
from guide.teach.reorder import stretches

Floats = NDArray[np.float64]

DIRECTIONS = 16  # of the step's own frames; two halves of one step differ in few ways
ROUNDS = 30
CHANGE_S = 1.0  # a change from one half to the other costs this much evidence, so that they do not flicker


def split_by_look(demonstrations: Demonstrations, labels: Sequence[Labels], step: int, new: int) -> list[Labels]:
    """The labels with `new` on those frames of `step` that belong to the later of two clusters.

    People and rooms differ more than halves of a step, so every demonstration's mean is taken off first. All labels
    stay where the frames fall into one cluster only.
    """
    chosen = [np.flatnonzero(each == step) for each in labels]
    if sum(map(len, chosen)) < 2:
        return list(labels)
    rows = _rows(demonstrations, chosen)
    centres = _two_centres(np.concatenate(rows), np.concatenate([_places(each) for each in chosen]))
    change = CHANGE_S * demonstrations.rate
    halves = []
    for each, own, frames in zip(labels, rows, chosen, strict=True):
        half = each.copy()
        if len(frames):
            half[frames[_later(own, frames, centres, change)]] = new
        halves.append(half)
    return halves


def split_at_share(labels: Sequence[Labels], step: int, new: int, share: float) -> list[Labels]:
    """The labels with `new` on the later part of every stretch of `step`, from `share` of it on.

    >>> split_at_share([np.array([0, 3, 3, 3, 3, 1])], 3, 9, 0.5)[0].tolist()
    [0, 3, 3, 9, 9, 1]
    """
    halves = []
    for each in labels:
        half = each.copy()
        for frames in stretches(each):
            if each[frames[0]] == step:
                half[frames[round(share * len(frames)) :]] = new
        halves.append(half)
    return halves


def _rows(demonstrations: Demonstrations, chosen: Sequence[NDArray[np.intp]]) -> list[Floats]:
    """The frames' embeddings in their principal directions, each demonstration's mean taken off, of unit spread."""
    pairs = zip(demonstrations.embeddings, chosen, strict=True)
    seen = [np.asarray(rows[frames], np.float64) for rows, frames in pairs]
    centred = [rows - rows.mean(0) if len(rows) else rows for rows in seen]
    directions = principal_directions(np.concatenate(centred), DIRECTIONS)
    reduced = [rows @ directions for rows in centred]
    scale = float(np.sqrt((np.concatenate(reduced) ** 2).sum(1).mean())) or 1.0
    return [rows / scale for rows in reduced]


def _places(frames: NDArray[np.intp]) -> Floats:
    """Where each frame lies among the step's frames of its recording, 0 to 1."""
    return (np.arange(len(frames)) + 0.5) / max(len(frames), 1)


def _two_centres(rows: Floats, places: Floats) -> Floats:
    """The centres of two clusters, that of the earlier frames first: k-means from the early and the late half."""
    is_late = places >= 0.5
    if not is_late.any() or is_late.all():
        return np.stack([rows.mean(0), rows.mean(0)])
    for _ in range(ROUNDS):
        centres = np.stack([rows[~is_late].mean(0), rows[is_late].mean(0)])
        now = squared_distances(rows, centres).argmin(1) == 1
        if (now == is_late).all() or not now.any() or now.all():
            break
        is_late = now
    order = np.argsort([places[~is_late].mean(), places[is_late].mean()])
    return np.asarray(centres[order])


def _later(rows: Floats, frames: NDArray[np.intp], centres: Floats, change: float) -> NDArray[np.bool_]:
    """Which frames belong to the later half, without flicker inside a stretch."""
    costs = squared_distances(rows, centres)
    costs = costs / max(float(squared_distances(centres[:1], centres[1:])[0, 0]), 1e-9)
    together = np.where(np.diff(frames) == 1, change, 0.0)
    return np.asarray(chain(costs, together) == 1)

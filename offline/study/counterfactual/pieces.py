"""A recording cut into pieces that can change places, and what a new order of them amounts to, frame by frame.

The rule for background: the background between two steps is halved, and each half travels with the step it touches, so
that a step keeps its own reaching out and drawing back and a splice lies where hands are idle. What comes before
the first step and after the last one stays at the beginning and at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from guide.domain import BACKGROUND, Labels, Times

Index: TypeAlias = NDArray[np.int64]  # (M,), frames of the source, in their new order


@dataclass(frozen=True, slots=True)
class Piece:
    """One turn at a step and the background that travels with it: frames `begin` up to, not including, `end`.

    `start` is the first frame that is labelled with the step.

    >>> Piece(step=2, begin=3, start=4, end=9).frames
    range(3, 9)
    """

    step: int
    begin: int
    start: int
    end: int

    @property
    def frames(self) -> range:
        return range(self.begin, self.end)


@dataclass(frozen=True, slots=True)
class Layout:
    """A recording of `size` frames: what comes before the first piece, the pieces, what comes after the last.

    >>> Layout.of(np.array([0, 1, 1, 0, 0, 0, 2, 0])).pieces
    (Piece(step=1, begin=1, start=1, end=5), Piece(step=2, begin=5, start=6, end=7))
    """

    size: int
    pieces: tuple[Piece, ...]

    @staticmethod
    def of(labels: Labels) -> Layout:
        """The layout of frame labels (T,); turns at one step with nothing but background between them are one piece."""
        turns = _turns(labels)
        cuts = [(end + start + 1) // 2 for (_, _, end), (_, start, _) in pairwise(turns)]
        begins = [turns[0][1], *cuts] if turns else []
        ends = [*cuts, turns[-1][2]] if turns else []
        pieces = [
            Piece(step, begin, start, end) for (step, start, _), begin, end in zip(turns, begins, ends, strict=True)
        ]
        return Layout(len(labels), tuple(pieces))

    @property
    def steps(self) -> tuple[int, ...]:
        """The steps in the order they were done, each turn once."""
        return tuple(piece.step for piece in self.pieces)

    def index(self, order: Sequence[int]) -> Index:
        """The frames when the pieces of these numbers follow one another; a piece may come twice or not at all."""
        first, last = (self.pieces[0].begin, self.pieces[-1].end) if self.pieces else (self.size, self.size)
        parts = [range(first), *(self.pieces[number].frames for number in order), range(last, self.size)]
        return np.concatenate([np.arange(part.start, part.stop, dtype=np.int64) for part in parts])

    def start(self, order: Sequence[int], place: int) -> int:
        """The new frame at which the step at this place of the order begins."""
        before = sum(len(self.pieces[number].frames) for number in order[:place])
        piece = self.pieces[order[place]]
        return self.pieces[0].begin + before + piece.start - piece.begin


def lasting(times: Times, rate: float) -> NDArray[np.float64]:
    """How long each frame (T,) lasts: until the next one, the last for a tick of the recording's own rate."""
    return np.append(np.diff(times), 1.0 / rate)


def retime(index: Index, times: Times, rate: float) -> Times:
    """When each frame of the new order is shown, (M,), from 0: every frame lasts as long as it did.

    >>> retime(np.array([2, 0, 1]), np.array([0.0, 0.5, 0.75]), rate=2.0).tolist()
    [0.0, 0.5, 1.0]
    """
    return np.concatenate([[0.0], np.cumsum(lasting(times, rate)[index])])[: len(index)]


def splices(index: Index) -> list[int]:
    """The new frames before which something else came in the source; 0 where the source began otherwise.

    >>> splices(np.array([3, 4, 0, 1, 2]))
    [0, 2]
    """
    expected = np.concatenate([[0], index[:-1] + 1]) if len(index) else index
    return [int(frame) for frame in np.flatnonzero(index != expected)]


def _turns(labels: Labels) -> list[tuple[int, int, int]]:
    """Step, first frame and end of each turn at a step."""
    bounds = np.flatnonzero(np.r_[True, labels[1:] != labels[:-1], True]) if len(labels) else np.zeros(1, np.int64)
    turns: list[tuple[int, int, int]] = []
    for start, end in pairwise(bounds.tolist()):
        step = int(labels[start])
        if step <= BACKGROUND:
            continue
        if turns and turns[-1][0] == step:
            turns[-1] = (step, turns[-1][1], end)
        else:
            turns.append((step, start, end))
    return turns

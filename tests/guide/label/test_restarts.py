"""Restarts that can be taken back, and those that are too long ago."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest

from guide.label.labeller import Labeller
from guide.label.restarts import Restarts


class Counting:
    """Stands for a labeller: what it remembers is how many frames were weighed since the last restart."""

    def __init__(self) -> None:
        self.frames = 0

    def push(self, *_: object) -> None:
        self.frames += 1

    weigh = push

    def restart(self) -> None:
        self.frames = 0

    forget = restart

    def memory(self) -> int:
        return self.frames

    def recall(self, memory: int) -> None:
        self.frames = memory


@pytest.fixture
def restarts(monkeypatch: pytest.MonkeyPatch) -> Restarts:
    monkeypatch.setattr("guide.label.restarts.MOST_SEEN", 10)
    return Restarts(cast(Labeller, Counting()), None)


def see(restarts: Restarts, count: int) -> None:
    for at in range(count):
        restarts.push(np.zeros(2), np.zeros(3), float(at))


def frames(restarts: Restarts) -> int:
    return cast(Counting, restarts.labeller).frames


def test_a_restart_is_taken_back_with_all_that_was_seen_since(restarts: Restarts) -> None:
    see(restarts, 4)
    restarts.restart(1)
    see(restarts, 3)
    assert frames(restarts) == 3
    assert restarts.recount(())
    assert frames(restarts) == 7


def test_only_restarts_that_are_long_ago_cannot_be_taken_back(restarts: Restarts) -> None:
    restarts.restart(1)
    see(restarts, 8)
    restarts.restart(2)
    see(restarts, 1)
    assert not restarts.knows(1)
    assert restarts.knows(2)
    restarts.recount((1,))
    assert frames(restarts) == 9

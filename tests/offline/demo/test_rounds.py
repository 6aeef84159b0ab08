"""The task in which steps come several times."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from offline.demo.orders import FAULTS, FaultKind
from offline.demo.recording import Recording
from offline.demo.rounds import NUMBERED, RIGHT, sample_rounds, wrong_from
from offline.demo.task import BATTERY, BOARD, CLOSE, OPEN, ROUNDS, SCREWS, WIPE

FROZEN = [(2, 3, 7, 4, 5, 3, 4, 7, 5, 7, 8, 7, 4), (2, 3, 5, 4, 3, 5, 4, 7, 8, 4, 7)]
FROZEN_BOX = (1, 2, 3, 4, 5, 6, 8, 7)
TIMES = {OPEN: 1, BOARD: 2, SCREWS: 3, BATTERY: 2, CLOSE: 1}


def without_wiping(order: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(step for step in order if step not in (WIPE, -1))


@pytest.mark.parametrize("kind", FAULTS)
def test_every_fault_is_one_and_is_known_from_the_first_step_that_is_never_right(kind: FaultKind) -> None:
    for seed in range(60):
        order, fault = sample_rounds(kind, np.random.default_rng(seed))
        assert fault.kind == kind
        assert all(one != other for one, other in pairwise(order))
        assert 2 <= order.count(WIPE) <= 5
        counts = {step: order.count(step) for step in TIMES}
        if kind in ("none", "unknown"):
            assert without_wiping(order) in RIGHT
            assert counts == TIMES
            continue
        assert fault.step in NUMBERED
        assert fault.index == wrong_from(order)
        assert without_wiping(order) not in RIGHT
        change = {"missed": -1, "repeated": 1, "out_of_order": 0}[kind]
        assert counts == {step: times + change * (step == fault.step) for step, times in TIMES.items()}


def test_orders_are_as_they_were_first_drawn() -> None:
    """The task is frozen: figures are compared over years."""
    assert len(RIGHT) == 8
    assert [Recording(1, "train", number, task="rounds").script.order for number in (1, 2)] == FROZEN
    assert [step.number for step in ROUNDS.steps] == [OPEN, BOARD, SCREWS, BATTERY, WIPE, CLOSE]


def test_the_first_task_is_drawn_as_before() -> None:
    assert Recording(1, "train", 1).script.order == FROZEN_BOX

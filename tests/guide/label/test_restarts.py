"""Restarts that can be taken back at any time, and those that are too many ago."""

from __future__ import annotations

import numpy as np
import pytest

from guide.domain import Belief
from guide.label.after_effects import AfterEffects, AfterEffectsWatch, Levels
from guide.label.energy import LinkSettings
from guide.label.histories import Histories, HistoryModel
from guide.label.labeller import Labeller
from guide.label.restarts import BEGINNING, Restarts
from guide.label.steps import StepSettings, StepTrack
from guide.label.visit_counts import VisitCounts
from guide.label.window import WindowCut, WindowSettings

STEPS = (1, 2, 3)


def make() -> Restarts:
    no, yes = np.zeros((3, 3), bool), np.ones(3, bool)
    model = HistoryModel(STEPS, np.array([4.0] * 3), 0.4, no, yes, VisitCounts.once(3), weight=2.0, effect_weight=1.0)
    window = WindowCut(WindowSettings(lag_s=1.0), LinkSettings(), rate=1.0, steps=STEPS)
    levels = Levels(*(np.array([one]) for one in (0.0, 0.2, 1.0, 0.2)))
    effects = AfterEffectsWatch(AfterEffects((2,), np.array([[1.0], [0.0]]), levels, span_s=1.0), STEPS)
    return Restarts(Labeller(Histories(model, tick_s=1.0), window, StepTrack(StepSettings())), effects)


def see(restarts: Restarts, steps: str, begin: int) -> int:
    """Each figure is a step seen for five seconds; gives the time after them."""
    for step in steps:
        for at in range(begin, begin := begin + 5):
            costs = np.where(np.array(STEPS) == int(step), 0.1, 0.9)
            restarts.push(costs, np.array([float(step >= "2"), 0.0], np.float32), float(at))
    return begin


def belief(restarts: Restarts) -> Belief:
    return restarts.labeller.belief()


@pytest.mark.parametrize("later", ["3", "31"])
def test_a_restart_taken_back_is_as_if_it_had_never_been(later: str) -> None:
    taken, never = make(), make()
    at = see(taken, "12", 0)
    taken.restart(1)
    see(taken, later, at)
    assert [visit.step for visit in belief(taken).visits] == [int(step) for step in later]
    assert taken.go_on_from(BEGINNING)
    see(never, f"12{later}", 0)
    assert belief(taken) == belief(never)
    assert taken.endings()[BEGINNING] == never.endings()[BEGINNING]


def test_a_restart_is_brought_back_with_all_that_was_seen_meanwhile() -> None:
    taken, plain = make(), make()
    for one in (taken, plain):
        at = see(one, "12", 0)
        one.restart(1)
    taken.go_on_from(BEGINNING)
    see(taken, "13", at)
    see(plain, "13", at)
    assert taken.go_on_from(1)
    assert not taken.go_on_from(1)  # nothing changes
    assert belief(taken) == belief(plain)


def test_only_the_last_restarts_can_be_taken_back() -> None:
    restarts, at = make(), 0
    for number in (1, 2, 3):
        at = see(restarts, "1", at)
        restarts.restart(number)
    assert [number for number in range(4) if restarts.knows(number)] == [1, 2, 3]

"""A mechanism that is switched off is gone for as long as that lasts, and nothing else is."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from guide import task_model
from guide.domain import KeyStep, Segment
from guide.label.clock_prior import ClockPrior
from guide.label.energy import LinkSettings
from guide.label.history_model import Expectations
from guide.procedure.learn import learn_procedure
from guide.procedure.model import Procedure, Rule
from guide.procedure.replay import standing_alerts
from guide.procedure.rule_selection import Cutoffs
from guide.procedure.tracker import Tracker
from guide.task_model import histories_of, labeller_of
from offline.study.mechanisms import HISTORIES, LABELS, RECOGNITION, RULES, Instead, switched_off

ALL = {**LABELS, **RECOGNITION, **HISTORIES, **RULES}


def recording(steps: Iterable[int]) -> list[Segment]:
    return [Segment(step, 10.0 * place, 10.0 * place + 8) for place, step in enumerate(steps)]


def learnt() -> Procedure:
    return learn_procedure([recording((1, 2, 3, 2))] * 4, [KeyStep(step, str(step)) for step in (1, 2, 3)])


@pytest.mark.parametrize("instead", ALL.values(), ids=ALL)
def test_what_stands_instead_stands_there_only_meanwhile(instead: Instead) -> None:
    before = [getattr(owner, name) for owner, name in instead]

    def fail_without_it() -> None:
        with switched_off(instead):
            assert [getattr(owner, name) for owner, name in instead] == list(instead.values())
            assert not any(own is other for own, other in zip(before, instead.values(), strict=True))
            raise KeyError

    with pytest.raises(KeyError):
        fail_without_it()
    assert [getattr(owner, name) for owner, name in instead] == before


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("no prior on order", Expectations(order=0.0)),
        ("no prior on what is done", Expectations(repeat=0.0, lacking=0.0)),
        ("no prior on durations", Expectations(is_timed=False)),
    ],
)
def test_one_prior_is_left_out_and_the_others_stay(part: str, expected: Expectations) -> None:
    with switched_off(HISTORIES[part]):
        assert histories_of(learnt(), (1, 2, 3), 2.0, 1.0).model.expectations == expected


def test_without_after_effects_the_workplace_is_not_looked_at() -> None:
    with switched_off(HISTORIES["no after-effects"]):
        assert histories_of(learnt(), (1, 2, 3), 2.0, 1.0).model.effect_weight == 0.0
    assert histories_of(learnt(), (1, 2, 3), 2.0, 1.0).model.effect_weight > 0.0


def test_without_counted_visits_all_steps_are_as_dear_to_come_back_to_and_come_as_often_as_they_did() -> None:
    counted = histories_of(learnt(), (1, 2, 3), 2.0, 1.0).model.visits
    with switched_off(HISTORIES["no visits counted"]):
        visits = histories_of(learnt(), (1, 2, 3), 2.0, 1.0).model.visits
    assert len(np.unique(visits.more)) == 1 < len(np.unique(counted.more))
    assert visits.usual.tolist() == counted.usual.tolist() == [1, 2, 1]


def test_one_history_is_certain_of_what_it_did() -> None:
    with switched_off(HISTORIES["the likeliest history alone"]):
        histories = task_model.histories_of(learnt(), (1, 2, 3), 2.0, 1.0)
    for at in range(20):
        histories.push(np.array([0.4, 0.6, 0.5]), float(at))
    assert set(histories.lacking().tolist()) <= {0.0, 1.0}


@pytest.mark.parametrize(
    ("instead", "shown"),
    [
        ({}, [0.54, 0.36, 0.1]),
        (LABELS["no clock"], [0.3, 0.6, 0.1]),
        (LABELS["background not put back"], [0.675, 0.225, 0.1]),
    ],
)
def test_labels_are_shown_without_what_is_usual_by_then(instead: Instead, shown: list[float]) -> None:
    prior, steps = ClockPrior(np.array([[1.5, 0.5]]), bin_s=9.0, background=0.5), (0, 1, -1)
    with switched_off(instead):
        labeller = labeller_of(histories_of(learnt(), steps, 2.0, 1.0), LinkSettings(), 1.0, prior)
    found, _ = labeller.past.weigh(1.0 - np.array([0.45, 0.45, 0.1]), 0.0)
    np.testing.assert_allclose(found, shown)


def test_weak_rules_are_silent_and_strong_ones_alarm() -> None:
    cutoffs, rule = Cutoffs(alone=0.02, asked=0.1), Rule("missed", 1)
    assert [cutoffs.verdict(rule, risk) for risk in (0.01, 0.05)] == ["alarms", "asks"]
    with switched_off(RULES["weak rules are silent"]):
        assert [cutoffs.verdict(rule, risk) for risk in (0.01, 0.05)] == ["alarms", "silent"]


def test_what_was_told_stands_where_nothing_is_taken_back() -> None:
    def told() -> list[tuple[str, int]]:
        tracker = Tracker(learn_procedure([recording((1, 2, 3))] * 6))
        said = [word for place, step in enumerate((1, 3, 2), 1) for word in tracker.push(step, 10.0 * place)]
        said += tracker.finish(50.0)
        return [(alert.kind, alert.step) for alert in standing_alerts(said)]

    assert told() == [("out_of_order", 3)]
    with switched_off(RULES["nothing is taken back"]):
        assert told() == [("missed", 2), ("out_of_order", 3)]

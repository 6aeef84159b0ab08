"""Scoring flags, worked by hand."""

from __future__ import annotations

import math

import pytest

from guide.domain import Alert, AlertKind, Guidance, Question, Resolution
from guide.procedure.replay import standing_alerts
from offline.study.flags import Judged, Planted, first_word, is_asked_of, judge, total

NAMES = {11: 1, 12: 2, 13: 3}  # found steps 11, 12, 13 are the true 1, 2, 3; 14 matches nothing


def alert(number: int, kind: AlertKind, step: int, before: int | None = None) -> Alert:
    return Alert(number, 10.0 + number, kind, step, before, "warning", "")


def test_withdrawn_alerts_do_not_stand_and_escalated_ones_stand_once() -> None:
    said: list[Guidance] = [
        alert(1, "missed", 11),
        alert(2, "missed", 12),
        Resolution(1, 3.0, True),
        Resolution(2, 3.0, False),
        alert(2, "missed", 12),
        Question(5, 3.0, 1, "?"),
        alert(6, "repeated", 12),
    ]
    assert [(one.id, one.kind) for one in standing_alerts(said)] == [(2, "missed"), (6, "repeated")]


@pytest.mark.parametrize(
    ("planted", "flag", "is_hit"),
    [
        (Planted("missed", 2, None, 4.0), alert(1, "missed", 12), True),
        (Planted("missed", 2, None, 4.0), alert(1, "missed", 11), False),
        (Planted("missed", 2, None, 4.0), alert(1, "repeated", 12), False),
        (Planted("missed", 2, None, 4.0), alert(1, "missed", 14), False),
        (Planted("repeated", 3, None, 4.0), alert(1, "repeated", 13), True),
        (Planted("out_of_order", 2, 1, 4.0), alert(1, "out_of_order", 12, 13), True),
        (Planted("out_of_order", 2, 1, 4.0), alert(1, "out_of_order", 13, 11), True),
        (Planted("out_of_order", 2, 1, 4.0), alert(1, "out_of_order", 13, 12), False),
        (Planted("out_of_order", 2, 1, 4.0), alert(1, "out_of_order", 14, 14), False),
        (Planted("unknown", None, None, 4.0), alert(1, "unknown", -1), True),
        (Planted("none", None, None, None), alert(1, "missed", 12), False),
    ],
)
def test_which_alert_names_the_fault(planted: Planted, flag: Alert, is_hit: bool) -> None:
    judged = judge([flag], planted, NAMES)
    assert (judged.hit is not None) == is_hit
    assert judged.false_alarms == (() if is_hit else (flag,))


def test_alerts_about_durations_count_for_nothing() -> None:
    said = [alert(1, "too_long", 12), alert(2, "stalled", 12)]
    assert judge(said, Planted("missed", 2, None, 4.0), NAMES) == Judged(None, ())


def test_the_first_hit_counts_and_every_further_alert_is_a_flag_of_its_own() -> None:
    said = [alert(1, "out_of_order", 12, 11), alert(2, "out_of_order", 13, 11), alert(3, "missed", 11)]
    judged = judge(said, Planted("out_of_order", 2, 1, 4.0), NAMES)
    assert judged.hit == said[0]
    assert judged.false_alarms == tuple(said[1:])


def test_an_alert_before_the_fault_could_be_known_is_false() -> None:
    early = alert(1, "missed", 12)
    assert judge([early], Planted("missed", 2, None, 20.0), NAMES).false_alarms == (early,)


def test_totals() -> None:
    faulty, clean = Planted("missed", 2, None, 4.0), Planted("none", None, None, None)
    hit, wrong = alert(1, "missed", 12), alert(2, "repeated", 11)
    score = total([(faulty, Judged(hit, (wrong,))), (faulty, Judged(None, ())), (clean, Judged(None, (wrong, wrong)))])
    assert (score.faults, score.found, score.flags, score.clean, score.clean_alarms) == (2, 1, 4, 1, 2)
    assert score.precision == 0.25
    assert score.recall == 0.5
    assert str(score) == "1 of 2 faults found, 1 of 4 flags right, 2.00 false alarms a clean recording"


def test_nothing_to_score_is_no_number() -> None:
    score = total([])
    assert math.isnan(score.precision)
    assert math.isnan(score.recall)


def test_the_first_word_may_be_one_that_was_taken_back_for_a_better_one() -> None:
    """Step 2 is done too early: step 1 is missed until it is done after all."""
    exchanged = Planted("out_of_order", 2, 1, 10.5)
    said: list[Guidance] = [alert(1, "missed", 11), Resolution(1, 14.0, True), alert(4, "out_of_order", 12, 11)]
    assert first_word(said, exchanged, NAMES) == 11.0
    assert first_word(said[1:], exchanged, NAMES) == 14.0
    assert first_word([alert(1, "missed", 12)], exchanged, NAMES) is None
    assert first_word(said, Planted("missed", 1, None, 10.5), NAMES) == 11.0
    assert first_word(said, Planted("missed", 1, None, 13.0), NAMES) is None


@pytest.mark.parametrize(
    ("step", "at", "is_about_it"),
    [(12, 10.0, True), (11, 10.0, True), (13, 10.0, False), (14, 10.0, False), (12, 8.0, False)],
)
def test_a_question_asks_of_a_fault_by_either_of_its_steps_once_that_can_be_known(
    step: int, at: float, is_about_it: bool
) -> None:
    planted = Planted("out_of_order", 2, 1, at=10.0)
    assert is_asked_of([Question(1, at, step, "Did you?")], planted, NAMES) == is_about_it

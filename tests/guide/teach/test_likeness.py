"""How unlike a step may be: limits from made visits, and which visits count."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from guide.label.limits import Judgement
from guide.label.manner import Manners
from guide.procedure.events import Confirmed, Ended, Event
from guide.teach.calibrate import LeftOut
from guide.teach.likeness import BELIEF, RISK, SPREAD, Visit, limits, next_at_most, visits_of, with_likeness

NUMBERS = np.array([0, 1, 2])
MANNERS = Manners(np.eye(1), np.array([1, 2]), np.zeros((2, 3, 1)))


def left_out(distance: float = 4.0, manner: float = 1.0) -> LeftOut:
    """Ten frames of each of two steps, as far from both as is said."""
    empty, rows = np.zeros((20, 0)), np.full((20, 1), manner)
    return LeftOut(np.arange(20) / 5, np.repeat([1, 2], 10), empty, np.full((20, 3), distance), MANNERS, rows)


def done(step: int, start: float, end: float) -> list[Event]:
    return [Confirmed(step, start + 1.0, 0.9, start), Ended(step, end + 1.5, end)]


def test_the_limit_is_a_prediction_interval() -> None:
    farthest = [1.0, 1.2, 1.1, 1.4, 0.9]
    logs = np.log(farthest)
    spread = np.sqrt((4 * logs.var(ddof=1) + BELIEF * SPREAD**2) / (4 + BELIEF) * (1 + 1 / 5))
    assert next_at_most(farthest) == pytest.approx(np.exp(logs.mean() + stats.t(4 + BELIEF).ppf(1 - RISK) * spread))


def test_as_many_people_as_the_risk_says_lie_beyond_it() -> None:
    rng = np.random.default_rng(0)
    people = np.exp(SPREAD * rng.normal(size=(4000, 7)))
    beyond = np.mean([people[n, 6] > next_at_most(people[n, :6].tolist()) for n in range(len(people))])
    assert RISK / 2 < beyond < 1.2 * RISK


def test_few_demonstrations_let_more_pass() -> None:
    allowed = [next_at_most([1.0] * count) for count in (1, 2, 3, 5, 11)]
    assert allowed == sorted(allowed, reverse=True)
    assert limits([[(1, 4.0)]] * 2) == ()
    assert limits([[(1, 4.0)], [(1, 4.0)], []]) == ()


def test_all_steps_share_how_many_times_as_far_is_too_far() -> None:
    found = dict(limits([[(1, 4.0), (2, 10.0)]] * 5 + [[(1, 4.0), (2, 15.0)]]))
    factor = next_at_most([1.0] * 5 + [1.5])
    assert found == pytest.approx({1: 4.0 * factor, 2: 10.0 * factor})


def test_a_step_may_be_done_again_and_again_the_same() -> None:
    assert all(limit > 0 for _, limit in limits([[(1, 0.0)]] * 4))


def test_visits_are_measured_from_their_start_to_their_end() -> None:
    one = left_out()
    one.distances[:5, 1] = 6.0
    one.manner[4:10] = 3.0
    first, second = visits_of(one, [*done(1, 0.0, 1.8), *done(2, 2.0, 3.8)], NUMBERS)
    assert first.step == 1
    assert first.look == pytest.approx(5.0)
    assert first.manner == pytest.approx(np.sqrt((1 + 9 + 9) / 3))
    assert second == Visit(2, 4.0, 1.0)


def test_background_unknown_activity_and_what_was_never_confirmed_are_no_visits() -> None:
    one = left_out()
    events = [
        *done(-1, 0.0, 1.0),
        *done(0, 1.0, 2.0),
        Ended(2, 3.0, 2.5),
        Confirmed(1, 3.0, 0.9, None),
        Ended(1, 4.0, 3.9),
    ]
    assert list(visits_of(one, events, NUMBERS)) == []


def test_steps_nobody_else_did_have_no_limit() -> None:
    left = [left_out() for _ in range(6)]
    for one in left:
        one.distances[:, 2] = np.inf
    events = [[*done(2, 2.0, 3.8)] for _ in left]
    found = with_likeness(Judgement(), left, events, NUMBERS)
    assert found.own == ()
    assert dict(found.manner_limits) == pytest.approx({2: next_at_most([1.0] * 6)})


def test_look_and_manner_have_limits_of_their_own() -> None:
    left = [left_out(distance, manner) for distance, manner in ((4, 1), (4, 1), (5, 1), (4, 2), (4, 1))]
    events = [done(1, 0.0, 1.8) for _ in left]
    found = with_likeness(Judgement(), left, events, NUMBERS)
    assert dict(found.own) == pytest.approx({1: 4 * next_at_most([1, 1, 1.25, 1, 1])})
    assert dict(found.manner_limits) == pytest.approx({1: next_at_most([1, 1, 1, 2, 1])})

"""Trust from left-out demonstrations: made tasks whose limits and shares are known."""

from __future__ import annotations

import numpy as np
import pytest

from guide.label.confidence import Calibration
from guide.label.directions import find_reduction
from guide.label.energy import LinkSettings
from guide.label.novelty import Surroundings
from guide.label.recogniser import Recogniser, RecogniserSettings, judge_left_out, learn_recogniser
from guide.procedure.events import Confirmed, Ended, Event
from guide.teach.calibrate import (
    LeftOut,
    calibrate_labels,
    calibrate_steps,
    far_limit,
    feature_scale,
    heard_with,
    leave_out,
)
from guide.teach.strangers import Lessons, strangers

RATE = 5.0
COUNT = 6
PLAIN = Recogniser(np.zeros(2), np.eye(2), np.zeros((3, 2)), np.array([0, 1, 2]), 9.0, 1.0)


def left_out(distance: float = 1.0, slips: int = 0) -> LeftOut:
    """Ten frames of each of two steps; so many of the first step are taken for the second by the costs."""
    labels = np.repeat([1, 2], 10)
    seen = labels.copy()
    seen[:slips] = 2
    chances = np.full((20, 4), 0.02)
    chances[np.arange(20), seen] = 0.94
    return LeftOut(np.arange(20) / RATE, labels, 1 - chances, np.full((20, 3), distance))


def done(step: int, start: float, end: float, confidence: float = 0.9) -> list[Event]:
    return [Confirmed(step, start + 1.0, confidence, start), Ended(step, end + 1.5, end)]


def test_the_scale_is_one_over_the_spread() -> None:
    rows = np.random.default_rng(0).normal(size=(50, 3)) * [1.0, 5.0, 0.0] + [1e4, -1e3, 2.0]
    np.testing.assert_allclose(feature_scale([rows[:20], rows[20:]]), [*(1 / rows.std(0)[:2]), 1.0], rtol=1e-9)


def test_no_demonstration_looks_nearer_than_a_stranger() -> None:
    """Every person has a look of their own, which the directions of all demonstrations hold: it must not help them."""
    rng = np.random.default_rng(1)
    labels = [np.repeat([0, 1, 2], 15) for _ in range(COUNT + 6)]
    centres = 3.0 * rng.normal(size=(3, 60))
    rows = [centres[own] + 4.0 * rng.normal(size=60) + rng.normal(size=(45, 60)) for own in labels]
    known, taught = rows[:COUNT], labels[:COUNT]
    reduction = find_reduction(known, 12)
    recogniser = learn_recogniser(known, taught, RecogniserSettings(12), reduction)
    judged = judge_left_out(reduction, recogniser.numbers, known, taught, 0.3)
    scale = feature_scale(known)
    strange = strangers(Lessons(known, taught, known, taught), scale, recogniser.numbers)
    learned, judgement, left = leave_out(recogniser, scale, judged, strange, taught, [np.arange(45) / RATE] * COUNT)
    assert judgement.scale is not None
    assert judgement.far is not None
    assert learned.distance_limit == pytest.approx(4 * judgement.far**2)
    around = Surroundings(recogniser, judgement.scale)
    strange = np.median([np.median(around.distances(each).min(1)) for each in rows[COUNT:]])
    ours = np.median([np.median(one.nearest) for one in left])
    leaky = np.median([np.median(around.distances(each).min(1)) for each in known])
    assert leaky < strange < ours < 3 * strange
    assert all(around.distances(each).min(1).max() < judgement.far for each in rows[COUNT:])


def test_trust_moves_steps_and_leaves_unknown_activity() -> None:
    heard = heard_with([Confirmed(1, 1.0, 0.6), Confirmed(-1, 2.0, 0.6), Ended(1, 3.0)], Calibration(2.0, 0.0))
    assert [getattr(event, "confidence", None) for event in heard] == [pytest.approx(0.6923, abs=1e-3), 0.6, None]


@pytest.mark.parametrize(
    ("count", "factor"),
    [(2, 1.5), (4, 1.5), (5, 1.3), (12, 1.3)],
    ids=["two", "too few", "just enough", "a dozen"],
)
def test_the_farthest_demonstration_sets_the_limit(count: int, factor: float) -> None:
    assert far_limit([100.0 + n for n in range(count)]) == pytest.approx(factor * (99 + count))


def test_a_wide_spread_makes_the_limit_wider() -> None:
    farthest = [20.0, 21.0, 25.0, 55.0, 60.0, 300.0]
    logs = np.log(farthest)
    assert far_limit(farthest) == pytest.approx(np.exp(logs.mean() + 3 * logs.std()))
    assert far_limit(farthest) > 1.3 * 300


def test_of_many_demonstrations_a_few_may_lie_beyond() -> None:
    # (3 + .5) / 40.5 is within half the rate, (4 + .5) / 40.5 is not: the fourth farthest of forty sets the limit.
    assert far_limit([100.0 + n for n in range(40)]) == pytest.approx(1.3 * 136)


def test_labels_that_are_always_right_are_trusted_more_than_labels_that_slip() -> None:
    links = LinkSettings(weight=0.0)
    good = calibrate_labels(PLAIN, [left_out() for _ in range(COUNT)], links, RATE, 0.2)
    bad = calibrate_labels(PLAIN, [left_out(slips=9) for _ in range(COUNT)], links, RATE, 0.2)
    assert good.of(0.96) > 0.96
    assert 0.45 < bad.of(0.96) < 0.7  # 11 of 20 are right


def test_steps_are_as_sure_as_the_share_of_their_moments_that_was_right() -> None:
    left = [left_out() for _ in range(40)]
    right = [(*done(1, 0.0, 1.8), *done(2, 2.0, 3.8)) for _ in left]
    half = [(*done(1, 1.6, 3.0), *done(2, 1.4, 3.0)) for _ in left]  # of six moments until then three of each
    assert calibrate_steps(left, right).of(0.9) > 0.95
    assert calibrate_steps(left, half).of(0.9) == pytest.approx(0.5, abs=0.1)

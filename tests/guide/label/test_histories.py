"""What holds of rival histories of events, whatever comes."""

from __future__ import annotations

from itertools import groupby, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.label import histories as histories_module
from guide.label.histories import Histories
from guide.label.history_model import Floats
from tests.made_histories import TICK_S, clear, follow, model_of, plain_model

seeds = st.integers(0, 10_000)


def now(histories: Histories) -> Floats:
    """The probability (C,) of each column to be going on at the last tick."""
    return np.asarray(histories.marginals([np.inf])[0])


def test_a_bare_bench_speaks_against_a_step_that_was_faintly_seen() -> None:
    model = plain_model((1, 2, 0), effect_weight=0.5)
    rows = np.vstack([clear([0] * 8, 3, probability=0.5), clear([1] * 8 + [2] * 40, 3)])

    def chance(odds: float, until: int) -> float:
        histories = Histories(model, TICK_S)
        for number, costs in enumerate(rows[:until]):
            histories.push(costs, number * TICK_S, np.array([odds * (number >= 8), 0.0, 0.0]))
        return float(histories.done()[0])

    assert chance(-5.0, 16) < 0.1 < chance(0.0, 16) < chance(5.0, 16)
    # However long one idles, a look at the bench says no more than it said.
    assert chance(-5.0, 24) > 0.01
    assert chance(-5.0, 56) > 0.2 * chance(-5.0, 24)


def test_a_step_just_begun_does_not_make_up_for_its_lacking_at_the_end() -> None:
    model = plain_model((1, 2, 0), needed=np.array([True, True, False]))
    histories = follow(Histories(model, TICK_S), np.vstack([clear([0] * 12, 3), clear([1], 3, probability=0.4)]))
    before = histories.done(is_over=True)[1]
    histories.end()
    assert histories.done(is_over=True)[1] < 0.1 < before
    histories = follow(Histories(model, TICK_S), clear([0] * 12 + [1] * 6, 3))
    histories.end()
    assert histories.done(is_over=True)[1] > 0.9


def test_ending_twice_is_ending_once_and_a_reset_begins_anew() -> None:
    histories = Histories(plain_model((1, 2, 0)), TICK_S)
    histories.end()
    rows = clear([0] * 6 + [1] * 2, 3)
    follow(histories, rows)
    histories.end()
    once = histories.weights().tolist()
    histories.end()
    assert histories.weights().tolist() == once
    histories.reset()
    assert (
        follow(histories, rows).weights().tolist()
        == follow(Histories(histories.model, TICK_S), rows).weights().tolist()
    )


def test_worked_by_hand() -> None:
    histories = follow(Histories(plain_model((1, 0)), TICK_S), np.full((1, 2), 0.5))
    # Equal evidence and equal beginnings; nearly every step lasts a tick, exp(-0.5 / 2) = 0.7788 of background does.
    assert now(histories).tolist() == pytest.approx([1 / 1.7788, 0.7788 / 1.7788], abs=1e-4)
    assert histories.done().tolist() == pytest.approx([1 / 1.7788, 0.0], abs=1e-4)
    assert histories.likeliest() == [(1, 0.0, 0.0)]


# What holds of a narrow choice of histories as well.


@settings(derandomize=True, deadline=None, max_examples=25)
@given(seeds, st.integers(1, 30), st.integers(1, 20), st.floats(0.5, 30.0), st.sampled_from([0.1, 1.0]))
def test_few_histories_whose_weights_sum_to_one(
    seed: int, most: int, spawning: int, width: float, spread: float
) -> None:
    rng = np.random.default_rng(seed)
    histories = Histories(model_of((1, 2, 3, 0, -1), rng), TICK_S, most, spawning, width)
    for number, costs in enumerate(1 - rng.dirichlet(np.full(5, spread), 25)):
        histories.push(costs, number * TICK_S)
        assert 1 <= len(histories.weights()) <= most
        for weights in (histories.weights(), histories.weights(is_over=True), now(histories)):
            assert weights.sum() == pytest.approx(1.0)
        assert (histories.again() <= histories.done() + 1e-9).all()


@settings(derandomize=True, deadline=None, max_examples=40)
@given(seeds, st.booleans())
def test_what_is_lacking_is_what_is_not_done(seed: int, is_over: bool) -> None:
    rng = np.random.default_rng(seed)
    histories = Histories(model_of((1, 2, 3, 0, -1), rng), TICK_S)
    np.testing.assert_array_equal(histories.lacking(is_over), np.ones(len(histories.model.steps)))
    follow(histories, rng.uniform(0, 1, (30, len(histories.model.steps))))
    np.testing.assert_allclose(histories.lacking(is_over), 1 - histories.done(is_over), atol=1e-12)


def test_what_every_history_has_lacks_with_no_chance_at_all() -> None:
    rounded = 0
    for seed in range(20):
        rows = np.vstack([clear([0] * 20, 3, probability=0.9999), np.random.default_rng(seed).uniform(0, 1, (20, 3))])
        histories = follow(Histories(plain_model((1, 2, 0)), TICK_S, width=6.0), rows)
        assert histories.lacking()[0] == 0.0
        assert histories.lacking()[2] == pytest.approx(1.0)  # of background nothing is ever done
        rounded += 1 - histories.done()[0] != 0.0
    assert rounded  # which is why it is not worked out so


@settings(derandomize=True, deadline=None, max_examples=25)
@given(seeds, st.sampled_from([0.1, 1.0]))
def test_stretches_tile_the_time_and_neighbours_differ(seed: int, spread: float) -> None:
    rng = np.random.default_rng(seed)
    rows = 1 - np.repeat(rng.dirichlet(np.full(4, spread), 12), 3, axis=0)
    times = 5.0 + np.cumsum(rng.uniform(0.1, 0.9, len(rows)))
    histories = Histories(model_of((1, 2, 0, -1), rng), TICK_S)
    for costs, at in zip(rows, times, strict=True):
        histories.push(costs, at)
        for stretches in (histories.likeliest(), histories.likeliest(is_over=True)):
            assert (stretches[0][1], stretches[-1][2]) == (times[0], at)
            for before, after in pairwise(stretches):
                assert before[1] < before[2] == after[1]
                assert before[0] != after[0]


@settings(derandomize=True, deadline=None, max_examples=15)
@given(seeds)
def test_certain_costs_stay_finite(seed: int) -> None:
    rng = np.random.default_rng(seed)
    histories = follow(Histories(model_of((1, 2, 0, -1), rng), TICK_S), rng.integers(0, 2, (30, 4)).astype(np.float64))
    for found in (histories.weights(), histories.done(), histories.again(True), now(histories)):
        assert np.isfinite(found).all()


@settings(derandomize=True, deadline=None, max_examples=20)
@given(seeds)
def test_clear_seconds_overrule_every_expectation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    steps = (1, 2, 3, 4, 0, -1)
    rules = model_of(steps, rng)
    model = plain_model(steps, before=rules.before, needed=rules.needed, visits=rules.visits)
    truth = [column for column, _ in groupby(rng.integers(0, 6, 7).tolist())]
    lasting = [column for column in truth for _ in range(int(rng.integers(6, 16)))]
    histories = follow(Histories(model, TICK_S), clear(lasting, 6))
    assert [step for step, _, _ in histories.likeliest(is_over=True)] == [steps[column] for column in truth]
    done = [column in truth and steps[column] > 0 for column in range(6)]
    assert (histories.done(is_over=True) > 0.5).tolist() == done


def test_faint_evidence_is_left_to_expectations() -> None:
    before = np.zeros((3, 3), bool)
    before[0, 1] = True
    rows = clear([1] * 8, 3, probability=0.4)
    assert now(follow(Histories(plain_model((1, 2, 0)), TICK_S), rows)).argmax() == 1
    assert now(follow(Histories(plain_model((1, 2, 0), before=before), TICK_S), rows))[1] < 0.5


@settings(derandomize=True, deadline=None, max_examples=15)
@given(seeds, st.floats(2.0, 10_000.0))
def test_gap_is_no_evidence(seed: int, gap_s: float) -> None:
    rng = np.random.default_rng(seed)
    model, rows = model_of((1, 2, 0, -1), rng), 1 - rng.dirichlet(np.full(4, 0.3), 20)
    short, long = Histories(model, TICK_S), Histories(model, TICK_S)
    for number, costs in enumerate(rows):
        short.push(costs, number * TICK_S + (number >= 10) * 1.0)
        long.push(costs, number * TICK_S + (number >= 10) * gap_s)
        np.testing.assert_allclose(short.weights(), long.weights(), atol=1e-9)
    np.testing.assert_allclose(short.done(True), long.done(True), atol=1e-9)
    assert [step for step, _, _ in short.likeliest()] == [step for step, _, _ in long.likeliest()]


def test_before_the_first_frame_nothing_is_known() -> None:
    histories = Histories(plain_model((1, 2, 0)), TICK_S)
    assert histories.likeliest() == []
    assert histories.weights().tolist() == []
    for found in (histories.done(), histories.again(True)):
        assert found.tolist() == [0.0, 0.0, 0.0]
    assert histories.both(0, 1, is_over=True) == 0.0


def test_history_stays_bounded_however_long_it_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histories_module, "MOST_HISTORY", 60)
    histories = Histories(plain_model((1, 2, 0)), TICK_S, most=8, spawning=4)
    columns = [column for _ in range(200) for column in [0] * 8 + [1] * 8]
    for number, costs in enumerate(clear(columns, 3)):
        histories.push(costs, number * TICK_S)
        assert len(histories._past) <= 60 + 4 * 3
    stretches = histories.likeliest()
    assert 20 <= len(stretches) <= 60  # the oldest of 400 are forgotten, the newest are as they were
    assert stretches[-1] == (2, 199 * 8.0 + 4.0, 200 * 8.0 - TICK_S)
    assert all(before[2] == after[1] for before, after in pairwise(stretches))
    assert histories.done().round(3).tolist() == [1.0, 1.0, 0.0]


def test_forgetting_rivals_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model, rows = plain_model((1, 2, 0)), clear([0] * 40 + [2] * 8 + [1] * 40, 3, probability=0.6)
    whole = follow(Histories(model, TICK_S, most=20), rows)
    monkeypatch.setattr(histories_module, "MOST_HISTORY", 100)
    often = follow(Histories(model, TICK_S, most=20), rows)
    assert len(whole._past) > 200 > len(often._past)
    assert often.likeliest() == whole.likeliest()
    assert often.weights().tolist() == whole.weights().tolist()


@pytest.mark.parametrize(
    "changes",
    [
        {"usual_s": np.array([4.0, 4.0])},
        {"usual_s": np.array([4.0, 0.0, 2.0])},
        {"before": np.zeros((2, 3), bool)},
        {"needed": np.zeros(2, bool)},
        {"spread": 0.0},
        {"to_background": 1.0},
    ],
)
def test_model_that_makes_no_sense_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="need"):
        plain_model((1, 2, 0), **changes)


@settings(derandomize=True, deadline=None, max_examples=20)
@given(seeds, st.integers(1, 90), st.floats(0.1, 1.5))
def test_marginals_sum_to_one_and_end_in_what_goes_on_now(seed: int, count: int, ticks: float) -> None:
    rng = np.random.default_rng(seed)
    model = model_of((1, 2, 3, 0, -1), rng)
    histories, times = Histories(model, TICK_S), np.arange(count, dtype=np.float64) * (ticks * TICK_S)
    for at, costs in zip(times, rng.random((count, 5)), strict=True):
        histories.push(costs, at)
    found = histories.marginals(times)
    assert found.shape == (count, 5)
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(1), 1.0)
    np.testing.assert_array_equal(found[-1], now(histories))


def test_marginals_before_anything_was_seen_are_alike() -> None:
    histories = Histories(plain_model((1, 2, 0)), TICK_S)
    np.testing.assert_allclose(histories.marginals([0.0, 5.0]), 1 / 3)


def test_marginals_look_back_with_what_was_seen_since() -> None:
    """A moment that may have been either is what it must have been, once the rest is known."""
    model = plain_model((1, 2, 0))
    rows = np.vstack([clear([0] * 8, 3), np.full((4, 3), [0.5, 0.5, 0.9]), clear([1] * 12, 3)])
    histories = Histories(model, TICK_S)
    for number, costs in enumerate(rows[:9]):
        histories.push(costs, number * TICK_S)
    before = histories.marginals([8 * TICK_S, 3 * TICK_S])
    for number, costs in enumerate(rows[9:], 9):
        histories.push(costs, number * TICK_S)
    after = histories.marginals([3 * TICK_S, 11 * TICK_S, 20 * TICK_S])
    assert before[0, 0] > 0.5
    assert after[1, 1] > after[1, 0]
    np.testing.assert_allclose(after[[0, 2], [0, 1]], 1.0, atol=0.01)

"""What steps leave behind, as the live side looks for it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as numbers_in

from guide.errors import BundleError
from guide.label.after_effects import ANYWHERE, AfterEffects, AfterEffectsWatch, Levels, since_absent

seeds = st.integers(0, 10_000)
STEPS = (1, 2, 3, 0, -1)


def levels_of(rng: np.random.Generator, count: int) -> Levels:
    before = rng.normal(size=count)
    after = before + rng.uniform(0.2, 2.0, count)
    return Levels(before, rng.uniform(0.05, 0.5, count), after, rng.uniform(0.05, 0.5, count))


def effects_of(seed: int, width: int = 4) -> AfterEffects:
    rng = np.random.default_rng(seed)
    return AfterEffects((3, 1), rng.normal(size=(width, 2)).astype(np.float32), levels_of(rng, 2), span_s=1.5)


@settings(derandomize=True, deadline=None)
@given(seeds)
def test_odds_are_those_of_the_two_densities(seed: int) -> None:
    rng = np.random.default_rng(seed)
    levels, values = levels_of(rng, 3), rng.normal(size=(7, 3)) * 2
    for row, odds in zip(values, levels.log_odds(values), strict=True):
        for place in range(3):
            before, wide, after, narrow = (float(part[place]) for part in levels)
            density = [
                np.exp(-((row[place] - mean) ** 2) / (2 * spread**2)) / np.sqrt(2 * np.pi * spread**2)
                + ANYWHERE / (after - before)
                for mean, spread in ((after, narrow), (before, wide))
            ]
            expected = np.log(density[0] / density[1])
            if row[place] > after:
                expected = max(expected, 0.0)
            if row[place] < before:
                expected = min(expected, 0.0)
            assert odds[place] == pytest.approx(expected)


def test_more_of_an_effect_is_no_sign_that_it_lacks() -> None:
    levels = Levels(*(np.array([one]) for one in (0.0, 0.6, 1.0, 0.1)))
    odds = levels.log_odds(np.array([[-2.0], [-0.5], [1.0], [1.5], [3.0]]))[:, 0]
    assert odds[0] < 0
    assert odds[1] < 0 < odds[2]
    assert odds[3:].tolist() == [0.0, 0.0]  # the densities alone would say that it lacks


@settings(derandomize=True, deadline=None)
@given(seeds, st.floats(-1e6, 1e6))
def test_odds_are_bounded_and_nothing_far_away(seed: int, value: float) -> None:
    levels = levels_of(np.random.default_rng(seed), 1)
    (odds,) = levels.log_odds(np.array([value])).tolist()
    peaks = [0.4 / float(spread[0]) for spread in (levels.after_spread, levels.before_spread)]
    floor = ANYWHERE / float((levels.after - levels.before)[0])
    assert -np.log1p(peaks[1] / floor) <= odds <= np.log1p(peaks[0] / floor)
    if abs(value) > 20:
        assert odds == 0.0


@settings(derandomize=True, deadline=None, max_examples=20)
@given(seeds)
def test_a_watch_looks_at_a_fading_mean_of_the_present(seed: int) -> None:
    rng, effects = np.random.default_rng(seed), effects_of(seed)
    times, rows = np.cumsum(rng.uniform(0.1, 0.6, 6)), rng.normal(size=(6, 4)).astype(np.float32)
    watch, values = AfterEffectsWatch(effects, STEPS), []
    for number, at in enumerate(times):
        weights = np.exp(-(at - times[: number + 1]) / effects.span_s)
        values.append(weights @ (rows[: number + 1].astype(np.float64) @ effects.directions) / weights.sum())
        counted = since_absent(effects.levels.log_odds(np.array(values)))[-1]
        odds = dict(zip(effects.steps, counted, strict=True))
        found = watch.push(rows[number], float(at))
        np.testing.assert_allclose(found, [odds.get(step, 0.0) for step in STEPS], atol=1e-4)


def test_what_was_there_from_the_beginning_speaks_for_nothing() -> None:
    levels = Levels(*(np.array([one]) for one in (0.0, 0.2, 1.0, 0.2)))
    watch = AfterEffectsWatch(AfterEffects((1,), np.ones((1, 1), np.float32), levels, span_s=0.1), (1, 0))
    bare, done = np.zeros(1, np.float32), np.ones(1, np.float32)
    assert [watch.push(done, at)[0] for at in (0.0, 5.0)] == [0.0, 0.0]
    assert watch.push(bare, 10.0)[0] < -5 < 5 < watch.push(done, 15.0)[0]
    watch.restart()
    assert watch.push(done, 20.0)[0] == 0.0
    assert watch.push(bare, 25.0)[0] < -5 < 5 < watch.push(done, 30.0)[0]


def test_a_restart_forgets_what_was_seen_before() -> None:
    levels = Levels(*(np.array([one]) for one in (0.0, 0.2, 1.0, 0.2)))
    effects = AfterEffects((1,), np.ones((1, 1), np.float32), levels, span_s=60.0)
    watch, fresh = (AfterEffectsWatch(effects, (1, 0)) for _ in range(2))
    for at in range(100):
        watch.push(np.ones(1, np.float32), float(at))
    watch.restart()
    for at in range(100, 110):
        bare = np.zeros(1, np.float32)
        assert watch.push(bare, float(at)).tolist() == fresh.push(bare, float(at)).tolist()


def test_arrays_give_the_same_again() -> None:
    effects = effects_of(3)
    again = AfterEffects.from_arrays(effects.to_arrays(), 4, STEPS)
    assert again is not None
    assert (again.steps, again.span_s) == (effects.steps, effects.span_s)
    np.testing.assert_array_equal(again.directions, effects.directions)
    np.testing.assert_array_equal(np.array(again.levels), np.array(effects.levels))


def test_bundles_of_before_have_none() -> None:
    assert AfterEffects.from_arrays({"mean": np.zeros(4)}, 4, STEPS) is None


@pytest.mark.parametrize(
    ("name", "spoilt"),
    [
        ("numbers", np.array([3, 3])),
        ("numbers", np.array([3, 9])),
        ("numbers", np.array([3, 0])),
        ("numbers", np.array(["a", "b"])),
        ("numbers", np.array([3.0, np.nan])),
        ("directions", np.zeros((5, 2))),
        ("directions", np.full((4, 2), np.nan)),
        ("directions", np.full((4, 2), np.inf)),
        ("levels", np.ones((2, 3))),
        ("levels", np.array([[0.0, 1.0, 1.0, 0.0]] * 2)),
        ("levels", np.array([[1.0, 1.0, 0.0, 1.0]] * 2)),
        ("levels", np.array([[0.0, 1.0, np.nan, 1.0]] * 2)),
        ("span_s", np.array([0.0])),
        ("span_s", np.array([1.0, 2.0])),
        ("span_s", np.array([np.inf])),
    ],
)
def test_spoilt_arrays_are_refused(name: str, spoilt: np.ndarray) -> None:
    arrays = effects_of(0).to_arrays() | {f"effects_{name}": spoilt}
    with pytest.raises(BundleError, match="learn the procedure again"):
        AfterEffects.from_arrays(arrays, 4, STEPS)


@pytest.mark.parametrize("name", ["directions", "levels", "span_s"])
def test_lacking_arrays_are_refused(name: str) -> None:
    arrays = effects_of(0).to_arrays()
    del arrays[f"effects_{name}"]
    with pytest.raises(BundleError, match="learn the procedure again"):
        AfterEffects.from_arrays(arrays, 4, STEPS)


@settings(derandomize=True, deadline=None)
@given(numbers_in(np.float64, (2, 4), elements=st.floats(width=64)), st.floats(), st.integers(-(2**62), 2**62))
def test_whatever_a_bundle_holds_is_refused_or_gives_numbers(table: np.ndarray, span_s: float, number: int) -> None:
    arrays = effects_of(0).to_arrays()
    arrays |= {"effects_levels": table, "effects_span_s": np.array([span_s]), "effects_numbers": np.array([1, number])}
    try:
        effects = AfterEffects.from_arrays(arrays, 4, STEPS)
    except BundleError:
        return
    assert effects is not None
    assert np.isfinite(AfterEffectsWatch(effects, STEPS).push(np.ones(4, np.float32), 0.0)).all()

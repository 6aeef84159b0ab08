"""What steps leave behind, learned from a world in which it is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from guide.domain import Labels
from guide.label.after_effects import AfterEffects, AfterEffectsWatch
from guide.perceive.appearance import AppearanceSettings, appearance
from guide.teach.after_effects import (
    MOST_ROWS,
    RELIABLE,
    Sample,
    _judged,
    _levels,
    _pieces,
    _Side,
    _workplace,
    learn_after_effects,
)

RATE, WIDTH, STEP_S = 4.0, 24, 5.0
SETTINGS = AppearanceSettings.for_step(STEP_S)
COLUMNS = (0, 1, 2, 3, -1)
ORDERS = ((1, 2, 3), (2, 1, 3), (1, 3, 2), (3, 1, 2), (1, 2, 3), (2, 3, 1))
seeds = st.integers(0, 10_000)


def recording(order: tuple[int, ...], seed: int, mark: float = 2.0) -> Sample:
    """Steps of five seconds with pauses between; only step 1 leaves something, for good."""
    world, rng = np.random.default_rng(7).normal(size=(5, WIDTH)), np.random.default_rng(seed)
    labels: Labels = np.concatenate([np.repeat([0, step], (8, 20)) for step in order] + [np.zeros(8, np.int64)])
    after = np.cumsum(labels == 1) >= 20 if 1 in order else np.zeros(len(labels), bool)
    rows = 4.0 + 0.3 * rng.normal(size=WIDTH) + world[labels] * (labels > 0)[:, None]  # a room of its own
    rows = rows + mark * world[4] * after[:, None] + 0.3 * rng.normal(size=(len(labels), WIDTH))
    times = np.arange(len(labels)) / RATE
    seen = appearance(rows.astype(np.float32), times, SETTINGS)[:, :WIDTH]  # what is seen now: the rest remembers
    return Sample(seen, labels, times)


def demonstrations(mark: float = 2.0) -> list[Sample]:
    return [recording(order, seed, mark) for seed, order in enumerate(ORDERS)]


def seen_live(effects: AfterEffects | None, one: Sample) -> NDArray[np.float64]:
    """What a session makes of the workplace in a recording, (T, C)."""
    assert effects is not None
    watch = AfterEffectsWatch(effects, COLUMNS)
    return np.stack([watch.push(row, float(at)) for row, at in zip(one.embedding, one.times, strict=True)])


def test_only_what_leaves_something_has_an_after_effect() -> None:
    found = learn_after_effects(demonstrations(), SETTINGS, COLUMNS)
    assert found.effects is not None
    assert found.effects.steps == (1,)
    assert learn_after_effects(demonstrations(mark=0.0), SETTINGS, COLUMNS).effects is None


@pytest.mark.parametrize(("again", "is_known"), [(0, True), (2, True), (6, False)], ids=["nobody", "few", "all"])
def test_a_step_that_most_visit_twice_has_no_after_effect(again: int, is_known: bool) -> None:
    orders = [(2, 1, 3, 1) if number < again else (2, 1, 3) for number in range(6)]
    effects = learn_after_effects([recording(*each[::-1]) for each in enumerate(orders)], SETTINGS, COLUMNS).effects
    assert (effects is not None and 1 in effects.steps) == is_known


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 2, 1)])
def test_a_stranger_leaves_it_too(order: tuple[int, ...]) -> None:
    one = recording(order, seed=99)
    odds = seen_live(learn_after_effects(demonstrations(), SETTINGS, COLUMNS).effects, one)
    frames = np.flatnonzero(one.labels == 1)
    assert (odds[: frames[0], 1] < 0).mean() > 0.9
    assert (odds[frames[-1] + 8 :, 1] > 0).all()
    assert not odds[:, (0, 2, 3, 4)].any()


def test_whoever_leaves_the_step_out_leaves_nothing() -> None:
    odds = seen_live(learn_after_effects(demonstrations(), SETTINGS, COLUMNS).effects, recording((2, 3), seed=98))
    assert odds[8:, 1].mean() < -1.0


def test_left_out_demonstrations_show_it_as_strangers_do() -> None:
    shown = demonstrations()
    for one, odds in zip(shown, learn_after_effects(shown, SETTINGS, COLUMNS).left_out, strict=True):
        frames = np.flatnonzero(one.labels == 1)
        assert odds.shape == (len(one.labels), len(COLUMNS))
        assert odds[: frames[0], 1].mean() < -3 < 0 < odds[frames[-1] + 4 :, 1].mean()
        assert not odds[:, (0, 2, 3, 4)].any()


@settings(derandomize=True, deadline=None, max_examples=6)
@given(st.integers(0, 5), seeds)
def test_own_labels_have_no_part_in_what_a_demonstration_is_judged_along(number: int, seed: int) -> None:
    shown, values = demonstrations(), []
    for labels in (shown[number].labels, np.random.default_rng(seed).permutation(shown[number].labels)):
        shown[number] = shown[number]._replace(labels=labels)
        workplace = _workplace(shown, SETTINGS.smoothing_s, STEP_S)
        values.append(_judged(shown, workplace, (1, 2, 3), STEP_S)[number].values)
    for step in (1, 2, 3):
        np.testing.assert_array_equal(values[0][step], values[1][step])
        assert values[0][step].any()


def test_live_sees_along_the_learned_direction_as_demonstrations_do() -> None:
    """What the bundle keeps, not centred and in full width, gives the values that the levels are of."""
    shown = demonstrations()
    effects, left_out = learn_after_effects(shown, SETTINGS, COLUMNS)
    assert np.corrcoef(seen_live(effects, shown[0])[:, 1], left_out[0][:, 1])[0, 1] > 0.95


@pytest.mark.parametrize("count", [1, 2])
def test_too_few_show_nothing(count: int) -> None:
    shown = demonstrations()[:count]
    found = learn_after_effects(shown, SETTINGS, COLUMNS)
    assert found.effects is None
    assert not any(odds.any() for odds in found.left_out)


def test_constant_embeddings_and_single_frames_are_lived_through() -> None:
    one = Sample(np.zeros((1, 8), np.float32), np.array([1]), np.array([0.0]))
    still = Sample(np.ones((40, 8), np.float32), np.repeat([0, 1, 2, 0], 10), np.arange(40) / RATE)
    late = one._replace(times=np.array([1e5]))
    for shown in ([one, still, still, still, one], [still] * 3, [late] * 3):
        found = learn_after_effects(shown, SETTINGS, COLUMNS)
        assert found.effects is None
        assert all(np.isfinite(odds).all() for odds in found.left_out)


def test_a_demonstration_that_the_others_teach_nothing_of_shows_nothing() -> None:
    """Only the first has pauses, so without it there is nothing to weigh the step against."""
    first = recording((1,), 0)
    others = [recording((1,), seed) for seed in (1, 2, 3)]
    others = [Sample(one.embedding[5:-5], one.labels[5:-5], one.times[5:-5]) for one in others]
    found = learn_after_effects([first, *others], SETTINGS, COLUMNS)
    assert not found.left_out[0].any()
    assert found.left_out[1].any()


def test_a_stray_frame_of_a_step_is_no_visit() -> None:
    shown = demonstrations()
    stray = [one._replace(labels=np.where(np.arange(len(one.labels)) == 2, 1, one.labels)) for one in shown]
    found = [learn_after_effects(each, SETTINGS, COLUMNS).left_out for each in (shown, stray)]
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_levels_are_those_of_all_moments_together() -> None:
    rng = np.random.default_rng(0)
    pairs = [(rng.normal(0, 0.1, 30 + n), rng.normal(1, 0.1, 20 + n)) for n in range(4)]
    sides = [(_Side.of(before), _Side.of(after)) for before, after in pairs]
    levels = _levels([*sides, None], fewest=4)
    assert levels is not None
    before, after = (np.concatenate([pair[place] for pair in pairs]) for place in range(2))
    assert (levels.before[0], levels.after[0]) == (pytest.approx(before.mean()), pytest.approx(after.mean()))
    assert levels.after_spread[0] == pytest.approx(np.sqrt(after.var() + 0.03**2))
    way = after.mean() - before.mean()
    assert levels.before_spread[0] == pytest.approx(np.sqrt(before.var() + (way / 2) ** 2 + 0.03**2))
    assert _levels([*sides, None], fewest=5) is None


@pytest.mark.parametrize(("apart", "is_reliable"), [(0.8, False), (1.2, True), (-3.0, False)])
def test_levels_lie_clearly_apart_and_rise(apart: float, is_reliable: bool) -> None:
    values = np.array([-1.0, 1.0]) * np.sqrt(1 - 0.03**2)  # with the least spread a spread of 1
    sides = [(_Side.of(values), _Side.of(values + apart * RELIABLE))] * 3
    assert (_levels(sides, fewest=3) is not None) == is_reliable


def test_pieces_of_a_long_collection_are_few_and_reach_to_its_end() -> None:
    times = np.arange(60_000) / RATE
    features = np.repeat(np.arange(60_000, dtype=np.float32)[:, None], 2, axis=1)
    pieces = np.stack(list(_pieces([Sample(features, np.zeros(60_000, np.int64), times)] * 2, 1.0)))
    assert MOST_ROWS - 2 <= len(pieces) <= MOST_ROWS + 2
    assert pieces.max() > 59_000
    few = list(_pieces([Sample(features[:8], np.zeros(8, np.int64), times[:8])], 1.0))
    np.testing.assert_allclose(np.stack(few), [[1.5, 1.5], [5.5, 5.5]])

"""Unknown activity: distances with what the recogniser does not look at, against plain linear algebra."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.label.novelty import Stain, Strangeness, Surroundings, smoothed, with_unknown
from guide.label.recogniser import Recogniser, RecogniserSettings, learn_recogniser

WIDTH = 12


def learned(components: int = 4) -> tuple[Recogniser, np.ndarray, np.ndarray]:
    """A recogniser that looks along few of many directions, its features and one over their spread."""
    rng = np.random.default_rng(3)
    labels = np.repeat([0, 1, 2], 40)
    rows = rng.normal(size=(120, WIDTH)) * np.geomspace(5.0, 0.5, WIDTH) + rng.normal(size=(3, WIDTH))[labels] * 4
    recogniser = learn_recogniser([rows[::2], rows[1::2]], [labels[::2], labels[1::2]], RecogniserSettings(components))
    return recogniser, rows, 1.0 / rows.std(0)


def test_outside_is_what_least_squares_leaves() -> None:
    recogniser, rows, scale = learned()
    around = Surroundings(recogniser, scale)
    scaled, along = (rows - recogniser.mean) * scale, recogniser.projection / scale[:, None]
    left = scaled.T - along @ np.linalg.lstsq(along, scaled.T, rcond=None)[0]
    spread = np.trace(np.linalg.inv(along.T @ along)) / along.shape[1]
    np.testing.assert_allclose(around.outside(rows), (left**2).sum(0) / (0.3 * spread), rtol=1e-9)


def test_where_it_looks_everywhere_nothing_is_outside() -> None:
    recogniser, rows, scale = learned(components=WIDTH)
    around = Surroundings(recogniser, scale)
    np.testing.assert_allclose(around.outside(rows), 0.0, atol=1e-6)
    np.testing.assert_allclose(around.distances(rows) ** 2, recogniser.distances(rows), rtol=1e-6, atol=1e-6)


def test_what_is_new_to_all_is_far_though_the_recogniser_does_not_see_it() -> None:
    recogniser, rows, scale = learned()
    basis, _ = np.linalg.qr(recogniser.projection, mode="complete")
    strange = rows[:5] + 40.0 * basis[:, -1]  # along a direction that the recogniser does not look along
    np.testing.assert_allclose(recogniser.distances(strange), recogniser.distances(rows[:5]), rtol=1e-6)
    around = Surroundings(recogniser, scale)
    assert around.distances(strange).min() > 2 * around.distances(rows).min(1).max()


def test_a_glance_is_no_activity() -> None:
    strangeness = Strangeness(limit=10.0)
    chances = [strangeness.push(30.0 if n == 10 else 5.0, n / 5) for n in range(31)]
    assert max(chances) < 0.01
    assert strangeness.push(30.0, 6.2) < 0.5 < [strangeness.push(30.0, 6.2 + n / 5) for n in range(1, 9)][-1]
    strangeness.reset()
    assert strangeness.push(5.0, 7.0) < 0.01


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.floats(0, 50), st.floats(0.05, 3.0)), min_size=1, max_size=30))
def test_means_of_the_last_seconds_are_the_same_at_once_and_one_by_one(moments: list[tuple[float, float]]) -> None:
    distances, gaps = np.array(moments).T
    times = np.cumsum(gaps)
    strangeness = Strangeness(limit=25.0)
    chances = [strangeness.push(float(one), float(at)) for one, at in zip(distances, times, strict=True)]
    plain = 1 / (1 + np.exp(-np.clip((smoothed(distances, times) / 25.0 - 1) / 0.02, -50, 50)))
    np.testing.assert_allclose(chances, plain, atol=1e-6)
    brute = [distances[(times <= at) & (times >= at - 2.0 - 1e-9)].mean() for at in times]
    np.testing.assert_allclose(smoothed(distances, times), brute, atol=1e-9)


@settings(derandomize=True, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.floats(0, 1), st.floats(0, 1))
def test_chances_still_add_up(shares: list[float], before: float, chance: float) -> None:
    known = np.array(shares) + 1e-3
    costs = 1.0 - np.append((1.0 - before) * known / known.sum(), before)
    after = with_unknown(costs, chance)
    assert (1.0 - after).sum() == pytest.approx(1.0)
    assert 1.0 - after[-1] == pytest.approx(max(before, chance))


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.booleans(), st.floats(0.05, 3.0)), min_size=1, max_size=30))
def test_a_stain_is_the_share_of_the_fading_past_that_was_unknown(moments: list[tuple[bool, float]]) -> None:
    unknown, times = np.array([one for one, _ in moments]), np.cumsum([gap for _, gap in moments])
    stain = Stain(memory_s=4.0)
    for number, at in enumerate(times):
        weights = np.exp((times[: number + 1] - at) / 4.0)
        share = (weights * unknown[: number + 1]).sum() / weights.sum()
        assert stain.push(bool(unknown[number]), float(at)) == pytest.approx(share)

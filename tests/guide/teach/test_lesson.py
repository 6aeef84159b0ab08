"""Transport against its definition and against an exact linear program; refinement repairs what was mislabelled."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog

from guide.label.discriminant import ClassSums
from guide.label.membership import squared_distances
from guide.teach.lesson import LessonSettings, teach, transport
from tests.plain_discriminant import fit_discriminant


def random_cost(seed: int, frames: int = 12, columns: int = 3) -> NDArray[np.float64]:
    return np.random.default_rng(seed).uniform(0, 3, (frames, columns))


def sums(rows: list[NDArray[np.float64]], labels: list[NDArray[np.int64]]) -> list[ClassSums]:
    return [ClassSums.of(each, own, np.arange(4)) for each, own in zip(rows, labels, strict=True)]


@given(st.integers(0, 10_000), st.floats(0.05, 3.0), st.floats(0.1, 50.0))
@settings(derandomize=True, deadline=None, max_examples=40)
def test_every_frame_is_given_away_once(seed: int, softness: float, share_weight: float) -> None:
    plan = transport(random_cost(seed), np.array([0.2, 0.3, 0.5]), softness, share_weight)
    assert (plan >= 0).all()
    np.testing.assert_allclose(plan.sum(1), 1.0)


@pytest.mark.parametrize("seed", range(4))
def test_firm_shares_are_kept(seed: int) -> None:
    shares = np.array([0.25, 0.25, 0.5])
    plan = transport(random_cost(seed), shares, softness=1.0, share_weight=1e6)
    np.testing.assert_allclose(plan.mean(0), shares, atol=1e-3)


def test_without_firmness_each_frame_chooses_for_itself() -> None:
    cost = random_cost(1)
    plan = transport(cost, np.array([0.9, 0.05, 0.05]), softness=0.5, share_weight=1e-9)
    free = np.exp(-cost / 0.5)
    np.testing.assert_allclose(plan, free / free.sum(1, keepdims=True), atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_a_hard_plan_costs_what_the_linear_program_says(seed: int) -> None:
    cost, shares = random_cost(seed), np.array([0.25, 0.25, 0.5])
    frames, columns = cost.shape
    each_frame = np.kron(np.eye(frames), np.ones(columns))
    each_column = np.kron(np.ones(frames), np.eye(columns))
    exact = linprog(
        cost.ravel(), A_eq=np.vstack([each_frame, each_column]), b_eq=np.concatenate([np.ones(frames), shares * frames])
    )
    plan = transport(cost, shares, softness=0.1, share_weight=1e5)
    assert float((plan * cost).sum()) == pytest.approx(exact.fun, rel=0.05)


def test_labels_that_are_mostly_right_are_put_right() -> None:
    rng, settings_ = np.random.default_rng(0), LessonSettings()
    truth = np.repeat([0, 1, 3], 40)
    rows = [np.eye(4)[truth] * 4 + rng.normal(0, 0.5, (120, 4)) for _ in range(3)]
    spoiled = [np.where(rng.random(120) < 0.25, rng.choice([0, 1, 3], 120), truth) for _ in rows]
    lesson = teach(sums(rows, spoiled), spoiled, settings_)
    for each in rows:
        labels = lesson.label(each, 8.0, settings_)
        assert labels.dtype == np.int64
        assert (labels == truth).mean() > 0.97


@pytest.mark.parametrize("copies", [(0, 1, 2), (0, 1, 1, 1, 2)], ids=["each once", "one of them thrice"])
def test_a_lesson_is_the_discriminant_of_all_rows(copies: tuple[int, ...]) -> None:
    rng, settings_ = np.random.default_rng(5), LessonSettings()
    labels = [np.repeat([0, 1, 3], 12) for _ in range(3)]
    rows = [np.eye(4)[own] * 3.0 + rng.normal(size=(36, 4)) for own in labels]
    lesson = teach([sums(rows, labels)[n] for n in copies], [labels[n] for n in copies], settings_)
    numbers, centres, whitening = fit_discriminant(
        [rows[n] for n in copies], [labels[n] for n in copies], settings_.shrinkage
    )
    far = np.full((36, 4), np.inf)
    far[:, numbers] = squared_distances(rows[0] @ whitening, centres @ whitening)
    chances = np.exp(-0.5 * (far - far.min(1, keepdims=True)) / settings_.temperature)
    expected = chances / chances.sum(1, keepdims=True)
    lesson = replace(lesson, places=np.zeros_like(lesson.places))
    loose = replace(settings_, share_weight=0.0)
    np.testing.assert_allclose(lesson.plan(rows[0], loose), expected, atol=1e-9)


def test_a_place_speaks_against_a_step_and_never_for_it() -> None:
    labels = [np.repeat(np.arange(4), 20)] * 2
    places = teach(sums([np.zeros((80, 1))] * 2, labels), labels, LessonSettings()).places
    assert places.max() == 0.0
    assert places[0, 3] < -1.0  # the last step is never done at the beginning

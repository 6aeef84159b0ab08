"""Views of recordings: the mean around a frame against a literal sum, and what has a clock in it and what has not."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.teach.lesson import LessonSettings
from guide.teach.view import View, around, learn_view


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(0, 10_000), st.integers(1, 12), st.floats(0.1, 50.0))
def test_the_mean_around_is_that_of_all_frames_by_how_far_off_they_are(seed: int, length: int, span_s: float) -> None:
    rng = np.random.default_rng(seed)
    rows, times = rng.normal(size=(length, 3)), np.cumsum(rng.uniform(0.0, 2.0, length))
    weights = np.exp(-np.abs(times[:, None] - times[None]) / span_s)
    np.testing.assert_allclose(around(rows, times, span_s), weights @ rows / weights.sum(1, keepdims=True), atol=1e-9)


def test_moments_that_are_the_same_or_go_back_count_fully() -> None:
    rows, times = np.array([[1.0], [3.0], [8.0]]), np.array([2.0, 2.0, 1.0])
    np.testing.assert_allclose(around(rows, times, 1.0), np.full((3, 1), 4.0))


def recordings(count: int = 4) -> list[np.ndarray]:
    """Three looks in an order of each recording's own, all for the same time."""
    looks = np.random.default_rng(0).normal(size=(3, 8))
    orders = [np.random.default_rng(seed).permutation(3) for seed in range(count)]
    drawn = [np.repeat(looks[order], 20, axis=0) for order in orders]
    return [rows + np.random.default_rng(n).normal(0, 0.05, rows.shape) for n, rows in enumerate(drawn)]


def learned() -> tuple[View, list[np.ndarray]]:
    made = recordings()
    return learn_view(made, [np.arange(60.0)] * len(made), 20.0, LessonSettings())


def test_a_recording_is_seen_alone_as_it_is_among_the_others() -> None:
    view, rows = learned()
    for each, seen in zip(recordings(), rows, strict=True):
        np.testing.assert_allclose(view.rows(each, np.arange(60.0)), seen, atol=1e-6)


def test_played_backwards_a_recording_looks_the_same() -> None:
    view, rows = learned()
    back = view.rows(recordings()[1][::-1], np.arange(60.0))[::-1]
    np.testing.assert_allclose(back, rows[1], atol=1e-4)


def test_a_view_forgets_the_person() -> None:
    rng = np.random.default_rng(3)
    scenes = np.repeat(rng.random((4, 10)), 25, axis=0)
    people = [scenes + 0.01 * rng.random((100, 10)) + offset for offset in (0.0, 2.0 * rng.random(10))]
    one, two = learn_view(people, [np.arange(100) / 5.0] * 2, 5.0, LessonSettings())[1]
    raw = np.corrcoef(people[0].ravel(), people[1].ravel())[0, 1]
    assert np.corrcoef(one.ravel(), two.ravel())[0, 1] > max(raw, 0.6)

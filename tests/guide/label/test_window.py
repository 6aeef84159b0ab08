"""The live window against the whole recording's cut, and what it does when frames are missing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.domain import SettledLabel
from guide.label.cut import settle
from guide.label.energy import LinkSettings, Unaries, build_links
from guide.label.window import WindowCut, WindowSettings, margin
from tests.noisy import steps_under_noise

RATE = 5.0


def follow(window: WindowCut, unary: Unaries, times: np.ndarray) -> list[SettledLabel]:
    released = [label for row, at in zip(unary, times, strict=True) for label in window.push(row, at)]
    return released + list(window.finish())


@pytest.mark.parametrize("seed", range(5))
def test_a_window_over_the_whole_recording_equals_the_whole_cut(seed: int) -> None:
    unary, times, links = steps_under_noise(90, 4, seed), np.arange(90) / RATE, LinkSettings(weight=1.0)
    window = WindowCut(WindowSettings(frames=90, lag_s=90 / RATE), links, RATE)
    got = [label.step for label in follow(window, unary, times)]
    assert got == (settle(unary, build_links(times, RATE, links)) + 1).tolist()


@settings(derandomize=True, deadline=None, max_examples=25)
@given(st.integers(1, 50), st.integers(1, 12), st.floats(0.0, 3.0), st.integers(0, 1000))
def test_every_frame_is_released_once_in_order_and_not_before_its_lag(
    size: int, frames: int, lag_s: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.choice([0.2, 0.2, 0.4, 2.0], size=size))
    unary = steps_under_noise(size, 3, seed)
    window = WindowCut(WindowSettings(frames=frames, lag_s=lag_s), LinkSettings(), RATE)
    released = []
    for n, (row, at) in enumerate(zip(unary, times, strict=True)):
        for label in window.push(row, at):
            is_old, is_leaving = at - label.at >= lag_s - 1e-6, n - np.searchsorted(times, label.at) >= frames
            assert is_old or is_leaving
            released.append(label)
        pending = times[len(released) : n + 1]
        assert (at - pending < lag_s).all()
    released += window.finish()
    assert [label.at for label in released] == times.tolist()
    assert all(0.0 <= label.confidence <= 1.0 for label in released)


def test_a_glimpse_is_not_released_and_a_change_is() -> None:
    unary = np.tile([0.1, 0.9], (40, 1))
    unary[8] = unary[20:] = [0.9, 0.1]
    window = WindowCut(WindowSettings(lag_s=2.0), LinkSettings(weight=1.5), RATE)
    got = [label.step for label in follow(window, unary, np.arange(40) / RATE)]
    assert got == [1] * 20 + [2] * 20


def test_after_a_gap_all_frames_that_grew_old_come_at_once() -> None:
    window = WindowCut(WindowSettings(lag_s=1.0), LinkSettings(), RATE)
    row = np.array([0.1, 0.9])
    assert [len(window.push(row, at)) for at in (0.0, 0.2, 0.4, 30.0)] == [0, 0, 0, 3]


def test_lag_zero_labels_each_frame_at_once() -> None:
    window = WindowCut(WindowSettings(lag_s=0.0), LinkSettings(), RATE)
    assert [label.at for label in window.push(np.array([0.0, 1.0]), 7.0)] == [7.0]


def test_reset_forgets_and_a_replay_gives_the_same() -> None:
    unary, times = steps_under_noise(60, 3, 0), np.arange(60) / RATE
    window = WindowCut(WindowSettings(frames=20, lag_s=1.0), LinkSettings(), RATE)
    first = follow(window, unary, times)
    window.push(unary[0], 0.0)
    window.reset()
    assert follow(window, unary, times) == first


def test_columns_can_stand_for_any_steps() -> None:
    window = WindowCut(WindowSettings(lag_s=0.0), LinkSettings(), RATE, steps=(0, 4, -1))
    assert window.push(np.array([0.5, 0.9, 0.1]), 0.0)[0].step == -1


def test_confidence_can_be_replaced() -> None:
    window = WindowCut(WindowSettings(lag_s=0.0), LinkSettings(), RATE, confidence=lambda unary, labels, frame: 0.25)
    assert window.push(np.array([0.5, 0.9]), 0.0)[0].confidence == 0.25


@pytest.mark.parametrize(
    ("row", "label", "expected"), [([0.0, 1.0], 0, 1.0), ([0.5, 0.5], 0, 0.5), ([0.75, 0.25], 0, 0.25), ([0.3], 0, 1.0)]
)
def test_margin_worked_by_hand(row: list[float], label: int, expected: float) -> None:
    assert margin(np.array([row]), np.array([label]), 0) == pytest.approx(expected)


def test_refuses_time_that_runs_back_and_unaries_that_change_length() -> None:
    window = WindowCut(WindowSettings(), LinkSettings(), RATE)
    window.push(np.zeros(3), 1.0)
    with pytest.raises(ValueError, match="order of time"):
        window.push(np.zeros(3), 1.0)
    with pytest.raises(ValueError, match=r"takes unaries \(3,\)"):
        window.push(np.zeros(2), 2.0)
    with pytest.raises(ValueError, match="at least one frame"):
        WindowSettings(frames=0)


@pytest.mark.parametrize("lag_s", [1.0, 2.0, 4.0])
def test_a_change_is_seen_within_the_lag_however_strong_the_links(lag_s: float) -> None:
    unary = np.tile([0.2, 0.8], (100, 1))
    unary[40:] = [0.8, 0.2]
    window = WindowCut(WindowSettings(lag_s=lag_s), LinkSettings(weight=50.0), RATE)
    got = [label.step for label in follow(window, unary, np.arange(100) / RATE)]
    assert got[:40] == [1] * 40
    assert got[40:].count(1) <= lag_s * RATE

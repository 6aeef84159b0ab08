"""The live window against the whole recording's cut, and what it does when frames are missing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.domain import SettledLabel
from guide.label.cut import settle
from guide.label.energy import LinkSettings, Unaries, build_links
from guide.label.window import Delay, Floats, Memberships, WindowCut, WindowSettings
from tests.noisy import steps_under_noise

RATE = 5.0


def as_seen(unary: Unaries, times: Floats) -> Memberships:
    """The same memberships whenever they are asked for."""
    return lambda asked: 1.0 - unary[np.searchsorted(times, asked)]


def follow(window: WindowCut, unary: Unaries, times: Floats) -> list[SettledLabel]:
    seen = as_seen(unary, times)
    released = [label for at in times for label in window.push(at, seen)]
    return released + list(window.finish(seen))


def columns(count: int) -> tuple[int, ...]:
    return tuple(range(1, count + 1))


@pytest.mark.parametrize("seed", range(5))
def test_a_window_over_the_whole_recording_equals_the_whole_cut(seed: int) -> None:
    unary, times, links = steps_under_noise(90, 4, seed), np.arange(90) / RATE, LinkSettings(weight=1.0)
    window = WindowCut(WindowSettings(frames=90, lag_s=90 / RATE), links, RATE, columns(4))
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
    window = WindowCut(WindowSettings(frames=frames, lag_s=lag_s), LinkSettings(), RATE, columns(3))
    released, seen = [], as_seen(unary, times)
    for n, at in enumerate(times):
        for label in window.push(at, seen):
            is_old, is_leaving = at - label.at >= lag_s - 1e-6, n - np.searchsorted(times, label.at) >= frames
            assert is_old or is_leaving
            released.append(label)
        pending = times[len(released) : n + 1]
        assert (at - pending < lag_s).all()
    released += window.finish(seen)
    assert [label.at for label in released] == times.tolist()
    assert all(0.0 <= label.confidence <= 1.0 for label in released)


def test_a_glimpse_is_not_released_and_a_change_is() -> None:
    unary = np.tile([0.1, 0.9], (40, 1))
    unary[8] = unary[20:] = [0.9, 0.1]
    window = WindowCut(WindowSettings(lag_s=2.0), LinkSettings(weight=1.5), RATE, columns(2))
    got = [label.step for label in follow(window, unary, np.arange(40) / RATE)]
    assert got == [1] * 20 + [2] * 20


def always(*memberships: float) -> Memberships:
    return lambda times: np.tile(memberships, (len(times), 1))


def test_after_a_gap_all_frames_that_grew_old_come_at_once() -> None:
    window = WindowCut(WindowSettings(lag_s=1.0), LinkSettings(), RATE, columns(2))
    assert [len(window.push(at, always(0.9, 0.1))) for at in (0.0, 0.2, 0.4, 30.0)] == [0, 0, 0, 3]


def test_lag_zero_labels_each_frame_at_once() -> None:
    window = WindowCut(WindowSettings(lag_s=0.0), LinkSettings(), RATE, columns(2))
    assert window.push(7.0, always(0.75, 0.25)) == (SettledLabel(7.0, 1, 0.75),)


def test_the_end_forgets_and_a_replay_gives_the_same() -> None:
    unary, times = steps_under_noise(60, 3, 0), np.arange(60) / RATE
    window = WindowCut(WindowSettings(frames=20, lag_s=1.0), LinkSettings(), RATE, columns(3))
    assert follow(window, unary, times) == follow(window, unary, times)


def test_columns_can_stand_for_any_steps() -> None:
    window = WindowCut(WindowSettings(lag_s=0.0), LinkSettings(), RATE, steps=(0, 4, -1))
    assert window.push(0.0, always(0.3, 0.1, 0.6))[0].step == -1


def test_confidence_is_the_membership_in_the_label_shown_even_where_links_outvote_it() -> None:
    unary = np.tile([0.1, 0.9], (40, 1))
    unary[8] = [0.9, 0.1]
    window = WindowCut(WindowSettings(lag_s=2.0), LinkSettings(weight=1.5), RATE, columns(2))
    labels = follow(window, unary, np.arange(40) / RATE)
    assert {label.step for label in labels} == {1}
    np.testing.assert_allclose([label.confidence for label in labels], 1.0 - unary[:, 0])


def test_memberships_are_asked_for_anew_at_every_cut_and_only_in_the_window() -> None:
    asked: list[list[float]] = []

    def note(times: Floats) -> Floats:
        asked.append(times.tolist())
        return np.tile([0.9, 0.1] if len(asked) < 3 else [0.1, 0.9], (len(times), 1))

    window = WindowCut(WindowSettings(frames=3, lag_s=1.0), LinkSettings(), 1.0, columns(2))
    steps = [label.step for at in range(6) for label in window.push(at, note)]
    assert steps == [1, 1, 2, 2, 2]  # what is known later counts for the frames still held back
    assert asked == [[0.0, 1.0], [0.0, 1.0, 2.0], *([n, n + 1.0, n + 2.0, n + 3.0] for n in range(3))]


@pytest.mark.parametrize("seed", range(3))
def test_windows_settled_together_are_those_settled_one_by_one(seed: int) -> None:
    unary, times = steps_under_noise(60, 3, seed), np.arange(60) / RATE
    one, other = (WindowCut(WindowSettings(frames=20), LinkSettings(), RATE, columns(3)) for _ in range(2))
    seen, windows = as_seen(unary, times), []
    for at in times:
        if (due := other.due(float(at))).frames:
            windows.append(other.window(due, seen))
    assert [*other.settle(windows), *other.finish(seen)] == follow(one, unary, times)


def test_refuses_time_that_runs_back_and_an_empty_window() -> None:
    window = WindowCut(WindowSettings(), LinkSettings(), RATE, columns(3))
    window.push(1.0, always(0.2, 0.3, 0.5))
    with pytest.raises(ValueError, match="order of time"):
        window.push(1.0, always(0.2, 0.3, 0.5))
    with pytest.raises(ValueError, match="at least one frame"):
        WindowSettings(frames=0)


def test_without_a_frame_the_end_releases_nothing() -> None:
    assert WindowCut(WindowSettings(), LinkSettings(), RATE, columns(3)).finish(always(1.0)) == ()
    assert not Delay(WindowSettings()).finish().frames


@pytest.mark.parametrize("lag_s", [1.0, 2.0, 4.0])
def test_a_change_is_seen_within_the_lag_however_strong_the_links(lag_s: float) -> None:
    unary = np.tile([0.2, 0.8], (100, 1))
    unary[40:] = [0.8, 0.2]
    window = WindowCut(WindowSettings(lag_s=lag_s), LinkSettings(weight=50.0), RATE, columns(2))
    got = [label.step for label in follow(window, unary, np.arange(100) / RATE)]
    assert got[:40] == [1] * 40
    assert got[40:].count(1) <= lag_s * RATE

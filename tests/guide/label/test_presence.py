"""Presence: a mean over time, limits between what is done and what is not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from guide.errors import BundleError
from guide.label.presence import Presence, PresenceTrack, learn_presence, presences

RATE = 5.0


def make(window_s: float = 2.0, limit: float = 0.5) -> Presence:
    return Presence((1,), np.array([window_s]), np.array([limit]))


@settings(derandomize=True, deadline=None)
@given(arrays(np.float64, (40,), elements=st.floats(0, 1)), st.integers(1, 12))
def test_at_an_even_rate_it_is_the_plain_moving_average(rows: np.ndarray, frames: int) -> None:
    found = presences(rows[:, None], np.arange(40) / RATE, make(frames / RATE), RATE)[:, 0]
    padded = np.concatenate([np.zeros(frames - 1), rows])
    assert found == pytest.approx(np.convolve(padded, np.ones(frames) / frames, "valid"), abs=1e-9)


def test_dropped_frames_leave_a_steady_probability_as_it_is() -> None:
    times = np.arange(0.0, 10.0, 2 / RATE)  # every other frame
    found = presences(np.full((len(times), 1), 0.8), times, make(2.0), RATE)
    assert found[-1, 0] == pytest.approx(0.8, abs=0.01)


def test_a_gap_in_the_stream_is_no_evidence() -> None:
    track = PresenceTrack(make(2.0), RATE)
    track.push(np.array([1.0]), 0.0)
    assert track.push(np.array([1.0]), 60.0)[0] == pytest.approx(3 / RATE / 2.0)


def test_memory_is_bounded_by_the_window() -> None:
    track = PresenceTrack(make(2.0), RATE)
    for number in range(1000):
        track.push(np.array([0.5]), number / RATE)
    assert len(track._frames) <= 12


def test_the_limit_lies_between_absent_and_done() -> None:
    labels = [np.repeat([0, 1, 0, 2], 20)] * 3
    times = [np.arange(80) / RATE] * 3
    rows = [np.stack([np.where(each == 1, 0.9, 0.2), np.where(each == 2, 0.8, 0.1)], axis=1) for each in labels]
    learned = learn_presence(rows, labels, times, (1, 2), RATE)
    assert ((learned.limits > 0.15) & (learned.limits < 0.5)).all()
    assert learned.windows_s == pytest.approx([0.75 * 19 / RATE] * 2)


def test_a_step_that_cannot_be_told_is_never_called_lacking() -> None:
    """Where doing it shows no more than not doing it, the limit falls to what it always reaches."""
    labels = [np.repeat([0, 1], 30)] * 3
    rows = [np.full((60, 1), 0.3)] * 3
    learned = learn_presence(rows, labels, [np.arange(60) / RATE] * 3, (1,), RATE)
    assert presences(rows[0], np.arange(60) / RATE, learned, RATE).max() >= learned.limits[0]


def test_arrays_come_back_as_they_were() -> None:
    back = Presence.from_arrays(make().to_arrays())
    assert (back.steps, back.windows_s.tolist(), back.limits.tolist()) == ((1,), [2.0], [0.5])


@pytest.mark.parametrize(
    "spoil",
    [
        {"presence_limits": np.array([np.nan])},
        {"presence_windows_s": np.array([0.0])},
        {"presence_windows_s": np.array([np.inf])},
        {"presence_limits": np.array([0.5, 0.5])},
        {"presence_steps": np.array([[1]])},
        {"presence_steps": np.ones(2, int), "presence_windows_s": np.ones(2), "presence_limits": np.ones(2)},
    ],
)
def test_senseless_arrays_are_refused_with_a_sentence(spoil: dict[str, np.ndarray]) -> None:
    with pytest.raises(BundleError, match="cannot say when a step was seen"):
        Presence.from_arrays({**make().to_arrays(), **spoil})


def test_a_step_of_a_single_frame_can_be_seen_at_a_low_rate() -> None:
    labels, times = np.array([1, 1, 1, 2, 3, 3, 3]), np.arange(7.0)
    sure = (labels[:, None] == np.array([1, 2, 3])).astype(np.float64)
    learned = learn_presence([sure] * 2, [labels] * 2, [times] * 2, (1, 2, 3), rate=1.0)
    assert (presences(sure, times, learned, 1.0).max(0) >= learned.limits).all()
    assert learned.limits.min() > 0

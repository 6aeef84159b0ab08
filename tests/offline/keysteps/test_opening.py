"""What recordings show before anything is done."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from guide.teach.collection import Collection
from guide.teach.thin import Fewer, fewer
from offline.keysteps.opening import Openings, Recording, ramp, without_waiting

STEP_S = 8.0
RATE = 5.0
DONE = 20  # frames that the first step takes
LATER = 60  # frames after it


def recording(waits: int, seed: int, width: int = 12, labelled: int = 1, rate: float = RATE) -> Recording:
    """Somebody waits, changes the bench evenly in the first step, and goes on; waiting is found as the first step."""
    rng = np.random.default_rng(seed)
    bench, changed = np.eye(width)[0] * 5, np.eye(width)[1] * 3
    done = np.r_[np.zeros(waits), (np.arange(DONE) + 0.5) / DONE, np.ones(LATER)]
    done = np.repeat(done, round(rate / RATE))
    own = rng.normal(size=width) * 0.3  # this room, this person
    seen = bench + own + done[:, None] * changed + rng.normal(size=(len(done), width)) * 0.1
    labels = np.full(len(done), 2, np.int64)
    labels[: round(rate / RATE) * (waits + DONE)] = labelled
    return Recording(seen.astype(np.float32), np.arange(len(done)) / rate, labels)


def waited(recordings: list[Recording]) -> list[int]:
    openings = Openings(recordings, STEP_S)
    return [openings.waited(one, number) for number, one in enumerate(recordings)]


def test_the_first_step_begins_where_things_begin_to_change() -> None:
    waits = [25, 0, 12, 30, 6]
    found = waited([recording(each, seed) for seed, each in enumerate(waits)])
    assert np.abs(np.array(found) - waits).max() <= 3


def test_no_frame_of_a_step_that_begins_at_once_is_taken_for_waiting() -> None:
    assert max(waited([recording(0, seed) for seed in range(5)])) <= 2


def test_waiting_is_told_by_time_and_not_by_frames() -> None:
    slow, fast = (
        waited([recording(each, seed, rate=rate) for seed, each in enumerate([25, 10, 15])]) for rate in (RATE, 15.0)
    )
    assert np.abs(3 * np.array(slow) - fast).max() <= 9


def test_a_recording_that_did_not_teach_is_cut_as_well() -> None:
    openings = Openings([recording(each, seed) for seed, each in enumerate([10, 20, 5])], STEP_S)
    assert abs(openings.waited(recording(16, 9)) - 16) <= 3


def test_a_recording_has_no_say_about_itself() -> None:
    """Two that begin with a step of their own: one other is too few to teach what it changes."""
    recordings = [recording(20, seed, labelled=3 if seed < 2 else 1) for seed in range(5)]
    assert waited(recordings)[:2] == [0, 0]
    assert min(waited(recordings)[2:]) > 15


def test_background_stays_as_it_was_found() -> None:
    assert waited([recording(20, seed, labelled=0) for seed in range(4)]) == [0] * 4


def test_a_recording_in_which_nothing_changes_is_not_cut() -> None:
    """The others teach what the first step changes; here the camera saw none of it."""
    recordings = [recording(20, seed) for seed in range(4)]
    still = recordings[0].seen[:20].repeat(5, axis=0)
    recordings[0] = recordings[0]._replace(seen=still)
    assert waited(recordings)[0] == 0
    assert min(waited(recordings)[1:]) > 15


@pytest.mark.parametrize("frames", [1, 2])
def test_recordings_of_a_frame_or_two_are_lived_through(frames: int) -> None:
    short = Recording(np.ones((frames, 3), np.float32), np.arange(frames) / RATE, np.arange(1, frames + 1))
    assert waited([short] * 3) == [0] * 3


def test_features_without_spread_are_lived_through() -> None:
    still = [one._replace(seen=np.ones_like(one.seen)) for one in (recording(9, seed) for seed in range(3))]
    assert waited(still) == [0] * 3


def collected(recordings: list[Recording]) -> Collection:
    return Collection(tuple(one.seen for one in recordings), tuple(one.times for one in recordings), RATE)


def test_what_was_waited_becomes_background_and_nothing_else_changes() -> None:
    recordings = [recording(each, seed) for seed, each in enumerate([25, 10, 15, 20])]
    labels = [one.labels for one in recordings]
    kept = [each.copy() for each in labels]
    few = fewer(collected(recordings), 2, 0)
    found = without_waiting(few, labels, STEP_S)
    for one, before, after, frames in zip(recordings, kept, found, waited(recordings), strict=True):
        assert frames > 0
        assert (after[:frames] == 0).all()
        assert (after[frames:] == before[frames:]).all()
        assert (one.labels == before).all()


def test_in_fewer_frames_and_by_some_recordings_all_are_cut() -> None:
    waits = [24, 10, 16, 20, 28]
    recordings = [recording(each, seed) for seed, each in enumerate(waits)]
    few = Fewer(collected(recordings), every=2, numbers=(0, 1, 3))
    found = without_waiting(few, [one.labels for one in recordings], STEP_S)
    cut = np.array([int((each == 0).sum()) for each in found])
    assert np.abs(cut - waits).max() <= 4


def literally(values: NDArray[np.float64], begin: int, end: int) -> float:
    risen = (np.arange(end - begin) + 0.5) / max(end - begin, 1)
    want = np.r_[np.zeros(begin), risen, np.ones(len(values) - end)]
    return float(np.square(values - want).sum())


@given(st.lists(st.floats(-2, 3), min_size=1, max_size=14))
def test_a_ramp_has_the_least_squares_of_all(values: list[float]) -> None:
    each = np.array(values)
    begin, end = ramp(each)
    least = min(literally(each, a, b) for a in range(len(each) + 1) for b in range(a, len(each) + 1))
    assert 0 <= begin <= end <= len(each)
    assert literally(each, begin, end) == pytest.approx(least, abs=1e-6)

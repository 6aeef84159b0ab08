"""What recordings show before anything is done."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from guide.domain import BACKGROUND
from guide.teach.collection import Collection
from guide.teach.refine import RefineSettings
from guide.teach.subsample import Fewer, fewer
from offline.keysteps.base import Finder
from offline.keysteps.matched import Matched
from offline.keysteps.opening import MOST_ROWS, Labelled, Openings, ramp, without_waiting
from offline.keysteps.ours import Ours

STEP_S = 8.0
RATE = 5.0
DONE = 20  # frames that the first step takes
LATER = 60  # frames after it
WIDTH = 12
WAITS = (25, 0, 12, 30, 6)


def recording(waits: int, seed: int, rate: float = RATE, way: float = 1.0) -> Labelled:
    """Somebody waits, changes the bench evenly in the first step, and goes on; waiting is found as the first step."""
    done = np.r_[np.zeros(waits), (np.arange(DONE) + 0.5) / DONE, np.ones(LATER)]
    labels = np.r_[np.ones(waits + DONE, np.int64), np.full(LATER, 2)]
    times = round(rate / RATE)
    return shown(np.repeat(done * way, times), np.repeat(labels, times), seed, rate)


def shown(done: NDArray[np.float64], labels: NDArray[np.int64], seed: int, rate: float = RATE) -> Labelled:
    """A bench that has changed as far as `done` says, in a room and by a person of its own."""
    rng = np.random.default_rng(seed)
    bench = np.eye(WIDTH)[0] * 5 + rng.normal(size=WIDTH) * 0.3
    seen = bench + done[:, None] * np.eye(WIDTH)[1] * 3 + rng.normal(size=(len(done), WIDTH)) * 0.1
    return Labelled(seen.astype(np.float32), np.arange(len(done)) / rate, labels)


def waiting(waits: tuple[int, ...] = WAITS, rate: float = RATE) -> list[Labelled]:
    return [recording(each, seed, rate) for seed, each in enumerate(waits)]


def waited(recordings: list[Labelled]) -> list[int]:
    return Openings(recordings, STEP_S).waited()


def off(found: list[int], waits: tuple[int, ...] = WAITS) -> int:
    return int(np.abs(np.array(found) - waits).max())


def test_the_first_step_begins_where_things_begin_to_change() -> None:
    assert off(waited(waiting())) <= 3


def test_hardly_a_frame_of_a_step_that_begins_at_once_is_taken_for_waiting() -> None:
    assert max(waited(waiting((0,) * 5))) <= 2


def test_waiting_is_told_by_time_and_not_by_frames() -> None:
    assert off(waited(waiting(rate=3 * RATE)), tuple(3 * each for each in WAITS)) <= 10


def test_what_is_loud_and_has_nothing_to_do_with_the_step_is_not_looked_at() -> None:
    """A lamp that swings, far brighter than what the step changes."""
    lit = []
    for seed, one in enumerate(waiting()):
        swing = np.sin(np.arange(len(one.seen)) / 3 + seed)[:, None] * np.eye(WIDTH)[[2]] * 6
        lit.append(one._replace(seen=(one.seen + swing).astype(np.float32)))
    assert off(waited(lit)) <= 8


def test_what_comes_soon_after_the_step_is_no_part_of_what_it_changes() -> None:
    """The next step changes the bench back: seen for longer, there would be no way at all."""
    back = []
    for seed, waits in enumerate(WAITS):
        done = np.r_[np.zeros(waits), (np.arange(DONE) + 0.5) / DONE, np.ones(16), np.zeros(LATER)]
        back.append(shown(done, np.r_[np.ones(waits + DONE, np.int64), np.full(16 + LATER, 2)], seed))
    assert off(waited(back)) <= 3


def test_long_collections_are_looked_at_in_some_frames() -> None:
    later = np.full(MOST_ROWS // 2, 2)
    long = []
    for seed, one in enumerate(waiting()):
        labels = np.r_[one.labels, later]
        done = np.r_[np.zeros(WAITS[seed]), (np.arange(DONE) + 0.5) / DONE, np.ones(LATER + len(later))]
        long.append(shown(done, labels, seed))
    assert off(waited(long)) <= 4


def test_a_step_that_changes_things_at_one_blow_as_it_ends_is_left_alone() -> None:
    """It may have been at work long before: nobody waits here."""
    done = np.r_[np.zeros(DONE), np.ones(LATER)]
    labels = np.r_[np.ones(DONE, np.int64), np.full(LATER, 2)]
    assert waited([shown(done, labels, seed) for seed in range(5)]) == [0] * 5


def test_a_step_that_changes_things_in_its_last_quarter_is_left_alone() -> None:
    quarter = DONE // 4
    done = np.r_[np.zeros(DONE - quarter), (np.arange(quarter) + 0.5) / quarter, np.ones(LATER)]
    labels = np.r_[np.ones(DONE, np.int64), np.full(LATER, 2)]
    assert waited([shown(done, labels, seed) for seed in range(5)]) == [0] * 5


def test_background_for_a_moment_does_not_end_the_first_step() -> None:
    recordings = waiting((25,) * 4)
    for one in recordings[:2]:
        one.labels[10:12] = BACKGROUND
    assert off(waited(recordings), (25,) * 4) <= 3


def test_background_for_long_does() -> None:
    recordings = waiting((40,) * 4)
    recordings[0].labels[10:30] = BACKGROUND
    found = waited(recordings)
    assert found[0] <= 10
    assert off(found[1:], (40,) * 3) <= 6


def test_a_recording_that_did_not_teach_is_cut_as_well() -> None:
    assert abs(Openings(waiting(), STEP_S).waited_in(recording(16, 9)) - 16) <= 3


def test_a_recording_has_no_say_about_itself() -> None:
    """Two that begin with a step of their own: one other is too few to teach what it changes."""
    recordings = waiting((20,) * 5)
    for one in recordings[:2]:
        one.labels[one.labels == 1] = 3
    found = waited(recordings)
    assert found[:2] == [0, 0]
    assert off(found[2:], (20,) * 3) <= 3


def test_background_stays_as_it_was_found() -> None:
    recordings = waiting()
    for one in recordings:
        one.labels[one.labels == 1] = BACKGROUND
    assert waited(recordings) == [0] * 5


@pytest.mark.parametrize("way", [0.0, 0.2])
def test_a_recording_that_goes_hardly_any_of_the_way_is_not_cut(way: float) -> None:
    recordings = waiting((20,) * 4)
    recordings[0] = recording(20, 0, way=way)
    found = waited(recordings)
    assert found[0] == 0
    assert off(found[1:], (20,) * 3) <= 5


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_recordings_of_a_few_frames_are_lived_through(frames: int) -> None:
    rng = np.random.default_rng(0)
    short = [
        Labelled(rng.normal(size=(frames, 3)), np.arange(frames) / RATE, np.arange(1, frames + 1)) for _ in range(3)
    ]
    assert waited(short) == [0] * 3


def test_one_step_throughout_is_lived_through() -> None:
    recordings = [one._replace(labels=np.ones_like(one.labels)) for one in waiting()]
    assert waited(recordings) == [0] * 5


def test_features_without_spread_are_lived_through() -> None:
    still = [one._replace(seen=np.ones_like(one.seen)) for one in waiting()]
    openings = Openings(still, STEP_S)
    assert openings.waited() == [0] * 5
    assert openings.waited_in(still[0]) == 0


def collected(recordings: list[Labelled], has_features: bool = False) -> Collection:
    """With features, the embeddings show nothing."""
    seen = tuple(np.asarray(one.seen, np.float32) for one in recordings)
    rng = np.random.default_rng(0)
    blind = tuple(rng.normal(size=each.shape).astype(np.float32) for each in seen)
    times = tuple(one.times for one in recordings)
    return Collection(blind, times, RATE, seen) if has_features else Collection(seen, times, RATE)


@pytest.mark.parametrize("has_features", [False, True])
def test_what_was_waited_becomes_background_and_nothing_else_changes(has_features: bool) -> None:
    recordings = waiting((25, 10, 15, 20))
    labels = [one.labels for one in recordings]
    kept = [each.copy() for each in labels]
    few = fewer(collected(recordings, has_features), 2, 0)
    found = without_waiting(few, labels, STEP_S)
    for one, before, after, frames in zip(recordings, kept, found, waited(recordings), strict=True):
        assert frames > 0
        assert (after[:frames] == BACKGROUND).all()
        assert (after[frames:] == before[frames:]).all()
        assert (one.labels == before).all()


def test_in_fewer_frames_and_by_some_recordings_all_are_cut() -> None:
    waits = (24, 10, 16, 20, 28)
    recordings = waiting(waits)
    few = Fewer(collected(recordings), every=2, numbers=(0, 1, 3))
    found = without_waiting(few, [one.labels for one in recordings], STEP_S)
    assert off([int((each == BACKGROUND).sum()) for each in found], waits) <= 4


def three_steps(waits: int, seed: int) -> Labelled:
    """Three steps of 40 frames after some waiting, each with a look of its own; the first lays something down."""
    rng = np.random.default_rng(seed)
    laid = np.r_[np.zeros(waits), (np.arange(40) + 0.5) / 40, np.ones(80)][:, None]
    looks = np.repeat(np.eye(WIDTH)[[2, 3]], 40, axis=0) * 3
    seen = np.eye(WIDTH)[0] * 5 + laid * np.eye(WIDTH)[1] * 4 + np.r_[np.zeros((waits + 40, WIDTH)), looks]
    seen += rng.normal(size=seen.shape) * 0.2
    return Labelled(seen.astype(np.float32), np.arange(len(seen)) / RATE, np.zeros(len(seen), np.int64))


@pytest.mark.parametrize("finder", [Ours(), Matched()])
def test_finders_do_not_take_waiting_for_the_first_step(finder: Finder) -> None:
    recordings = [three_steps(waits, seed) for seed, waits in enumerate((40, 24, 32, 36, 28))]
    found = finder.find(collected(recordings), 3, 0).labels
    share = np.mean([(each[:20] == BACKGROUND).mean() for each in found])
    assert share > 0.9
    assert len(np.unique(np.concatenate(found))) == 4


def test_without_background_no_frame_is_set_apart() -> None:
    recordings = [three_steps(waits, seed) for seed, waits in enumerate((40, 24, 32, 36, 28))]
    found = Ours(RefineSettings(background=0.0)).find(collected(recordings), 3, 0).labels
    assert BACKGROUND not in np.concatenate(found)


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

"""What is made of a recording left out: its own frames, and only faults that the others can show to be faults."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from offline.study.fault_trial.made import FAULTS, make_all, shuffle_all
from tests.faulty_task import USUAL, make_task


def test_one_recording_as_it_was_and_each_kind_as_often_as_asked() -> None:
    task = make_task()
    made = list(make_all(task, 2, each=2, seed=1))
    assert [one.planted.kind for one in made] == ["none", *[kind for kind in FAULTS for _ in range(2)]]
    assert np.array_equal(made[0].features.pooled, task.recordings[2].pooled)
    assert np.array_equal(made[0].features.times, task.recordings[2].times)


def test_what_is_seen_are_frames_of_the_source_in_another_order() -> None:
    task = make_task()
    for one in make_all(task, 0, each=3, seed=1):
        assert np.array_equal(one.features.pooled, task.recordings[0].pooled[one.index])
        assert len(one.features.times) == len(one.index)
        assert (np.diff(one.features.times) > 0).all()


def test_a_step_cut_out_is_gone_and_one_repeated_comes_twice() -> None:
    task = make_task()
    counted = np.bincount(task.truth[0])
    for one in make_all(task, 0, each=4, seed=1):
        step, counts = one.planted.step, np.bincount(task.truth[0][one.index], minlength=len(counted))
        if step is not None:
            assert counts[step] == {"missed": 0, "out_of_order": 1, "repeated": 2}[one.planted.kind] * counted[step]


def test_where_the_order_is_free_nothing_is_exchanged() -> None:
    task = make_task(list(permutations(USUAL))[::3])
    for number in range(len(task.recordings)):
        assert not [one for one in make_all(task, number, 3, 1) if one.planted.kind == "out_of_order"]


def test_only_pairs_that_hold_in_all_others_are_exchanged() -> None:
    task = make_task([(1, 2, 3, 4), (2, 1, 3, 4), (1, 2, 3, 4), (1, 2, 4, 3), (1, 2, 3, 4)])
    pairs = {
        (one.planted.before, one.planted.step)
        for number in range(5)
        for one in make_all(task, number, 9, 1)
        if one.planted.kind == "out_of_order"
    }
    assert pairs
    assert not pairs & {(1, 2), (2, 1), (3, 4), (4, 3)}, "orders of these differ"


def test_recordings_that_are_alike_get_different_faults() -> None:
    task = make_task()
    firsts = {next(one for one in make_all(task, n, 1, 1) if one.planted.kind == "missed").planted for n in range(7)}
    assert len({planted.step for planted in firsts}) > 1


def test_the_same_seed_makes_the_same_faults() -> None:
    task = make_task()
    first, again, other = ([one.planted for one in make_all(task, 0, 2, seed)] for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.parametrize("after_s", [1.0, 3.0])
def test_frames_after_a_splice_are_near_it(after_s: float) -> None:
    task = make_task()
    for one in shuffle_all(task, 0, 2, seed=1):
        near = one.is_near_splice(after_s)
        jumps = np.flatnonzero(np.diff(one.index) != 1) + 1
        assert near[jumps].all()
        assert near.sum() <= (len(jumps) + 1) * (after_s * task.recordings[0].rate + 1)

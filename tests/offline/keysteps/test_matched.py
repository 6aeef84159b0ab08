"""Matched on steps done in many orders with idle time between: it needs no clock, and leaves idle time alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from guide.domain import Features, Labels
from guide.teach.collection import Collection
from guide.teach.subsample import Fewer
from offline.keysteps.equal import Equal
from offline.keysteps.matched import Candidate, Matched, Paired, Pairing
from offline.keysteps.ours import Ours
from offline.metrics import PROTOCOLS

K = 5
RATE = 2.0
IDLES = 3


def recording(seed: int, width: int = 16) -> tuple[Features, Labels]:
    """Each step once in an order of its own, with idle time of several looks between; a person's own shift on top."""
    rng = np.random.default_rng(seed)
    looks = np.random.default_rng(99).normal(0, 2, (K + IDLES, width))
    parts, labels = [], []
    for step in rng.permutation(K):
        for look, label, length in (
            (K + int(rng.integers(IDLES)), 0, int(rng.integers(3, 9))),
            (int(step), int(step) + 1, int(rng.integers(14, 30))),
        ):
            parts.append(np.repeat(looks[look][None], length, axis=0))
            labels.append(np.full(length, label, np.int64))
    rows = np.concatenate(parts) + rng.normal(0, 1, width)
    return (rows + rng.normal(0, 0.8, rows.shape)).astype(np.float32), np.concatenate(labels)


def collection(count: int = 8) -> tuple[Collection, list[Labels]]:
    drawn = [recording(seed) for seed in range(count)]
    return Collection.at_rate([rows for rows, _ in drawn], RATE), [labels for _, labels in drawn]


def test_orders_and_idle_time_do_not_matter() -> None:
    made, truth = collection()
    found = Matched().find(made, K, seed=0).labels
    score = PROTOCOLS["D"](truth, found).f1
    assert score > 0.9
    assert score > PROTOCOLS["D"](truth, Equal().find(made, K, seed=0).labels).f1 + 0.4
    assert score > PROTOCOLS["D"](truth, Ours().find(made, K, seed=0).labels).f1
    idle = np.concatenate([each == 0 for each in truth])
    assert np.concatenate([each == 0 for each in found])[idle].mean() > 0.8


def test_a_look_with_a_clock_must_be_worth_it() -> None:
    made, _ = collection(4)
    quick = Matched(lengths=(0.5,), spare=(0.5,), tries=1, rounds=1)
    timeless, past = (Paired.by(quick, made, K, 0, is_timeless) for is_timeless in (True, False))
    wanted = [each.candidate.steps for each in (timeless, past)]
    assert any((one != other).any() for one, other in zip(*wanted, strict=True))
    gain = past.likeness / timeless.likeness
    for labels, needed in zip(wanted, (1.01 * gain, 0.99 * gain), strict=True):
        found = replace(quick, clock_gain=needed).find(made, K, seed=0).labels
        for one, other in zip(found, labels, strict=True):
            np.testing.assert_array_equal(one, other)


def test_the_best_candidate_is_like_steps_and_makes_sense(monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal parts are said to be most like steps but make little sense; of the truth twice the worst step decides."""
    made, truth = collection(4)
    parts = [np.arange(len(each)) * K // len(each) + 1 for each in truth]
    alike, worse, better = (
        Candidate(list(labels), {(0,): 0.0, **{(step,): value for step in range(2, K + 1)}, (1,): least}, K)
        for labels, value, least in ((parts, 0.9, 0.8), (truth, 0.7, 0.5), (truth, 0.6, 0.6))
    )
    monkeypatch.setattr(Pairing, "candidates", lambda *_: iter([alike, worse, better]))
    for is_timeless in (True, False):
        paired = Paired.by(Matched(), made, K, 0, is_timeless)
        assert paired.candidate is better
        assert paired.likeness == pytest.approx((4 * 0.9 + 0.8) / 5)


def test_it_gives_the_same_each_time_and_numbers_steps_by_time() -> None:
    made, truth = collection(5)
    one, two = (Matched().find(made, K, seed=3) for _ in range(2))
    for first, second, true in zip(one.labels, two.labels, truth, strict=True):
        np.testing.assert_array_equal(first, second)
        assert first.shape == true.shape
        assert set(first.tolist()) <= set(range(K + 1))
    every = np.concatenate(one.labels)
    when = np.concatenate([(np.arange(len(each)) + 0.5) / len(each) for each in one.labels])
    means = [when[every == step].mean() for step in range(1, K + 1)]
    assert means == sorted(means)


def test_a_collection_too_long_to_look_at_is_labelled_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    made, truth = collection()
    monkeypatch.setattr("offline.keysteps.matched.fewer", lambda whole, *_, **__: Fewer(whole, 2, (0, 1, 2, 3, 5, 6)))
    found = Matched().find(made, K, seed=0)
    assert [len(each) for each in found.labels] == [len(each) for each in truth]
    assert PROTOCOLS["D"](truth, found.labels).f1 > 0.8


def test_two_recordings_are_left_to_the_other_finder() -> None:
    made, _ = collection(2)
    found = Matched().find(made, K, 0)
    for one, other in zip(found.labels, Ours().find(made, K, 0).labels, strict=True):
        np.testing.assert_array_equal(one, other)
    assert "too few recordings to pair off" in found.notes[-1]


def test_a_long_collection_that_leaves_two_recordings_is_left_to_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    made, _ = collection(5)
    monkeypatch.setattr("offline.keysteps.matched.fewer", lambda whole, *_, **__: Fewer(whole, 1, (0, 3)))
    assert "too few recordings to pair off" in Matched().find(made, K, 0).notes[-1]


def test_of_very_many_recordings_some_are_paired_off(monkeypatch: pytest.MonkeyPatch) -> None:
    made, truth = collection(8)
    monkeypatch.setattr("offline.keysteps.matched.MOST_RECORDINGS", 5)
    found = Matched().find(made, K, seed=0).labels
    assert PROTOCOLS["D"](truth, found).f1 > 0.8


def test_frames_beyond_the_bound_are_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    made, truth = collection(8)
    monkeypatch.setattr("offline.keysteps.matched.MOST_FRAMES", made.size // 2)
    found = Matched().find(made, K, seed=0).labels
    assert [len(each) for each in found] == [len(each) for each in truth]
    assert PROTOCOLS["D"](truth, found).f1 > 0.7


@pytest.mark.parametrize(("lengths", "k"), [((3, 2, 4), 2), ((1, 40, 40), 3), ((6, 6, 6), 9), ((20, 20, 20), 1)])
def test_odd_collections_get_labels_all_the_same(lengths: tuple[int, ...], k: int) -> None:
    rng = np.random.default_rng(0)
    made = Collection.at_rate([rng.normal(size=(length, 3)).astype(np.float32) for length in lengths], 1.0)
    found = Matched().find(made, k, seed=0).labels
    assert tuple(len(each) for each in found) == lengths
    assert all(each.min() >= 0 and each.max() <= k for each in found)


def test_a_candidate_is_worth_what_its_worst_step_is() -> None:
    labels = [np.array([2, 2, 0, 1, 1, 3])]
    one = Candidate(labels, {(0,): 0.1, (1,): 0.9, (2,): 0.5, (3,): 0.2}, k=2)
    assert one.chosen == [(1,), (2,)]
    assert one.worth == (0.5, 0.7)
    assert one.numbers.tolist() == [0, 2, 1, 0]


def test_steps_that_are_lacking_are_worth_nothing() -> None:
    one = Candidate([np.zeros(6, np.int64)], {(0, 1): 1.2}, k=2)
    assert one.worth == (0.0, 0.6)


def test_parts_of_a_step_have_its_number() -> None:
    labels = [np.array([2, 2, 0, 1, 1, 3, 4])]
    one = Candidate(labels, {(1, 3): 0.9, (2,): 0.5, (0,): 0.1, (4,): 0.6}, k=2)
    assert one.chosen == [(1, 3), (4,)]
    assert one.numbers.tolist() == [0, 1, 0, 1, 2]

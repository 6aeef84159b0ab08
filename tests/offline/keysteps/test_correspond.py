"""Correspond and cut on steps done in many orders with idle time between: few recordings, many, and odd ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from guide.domain import Features, Labels
from guide.teach.collection import Collection
from guide.teach.lesson import Floats
from guide.teach.subsample import Fewer
from offline.keysteps.base import average_step_s
from offline.keysteps.blind import Equal
from offline.keysteps.correspond import (
    CorrespondAndCut,
    CorrespondSettings,
    GroupPrototypes,
    correspond,
    cut_by,
    look,
    memberships_by_others,
    paired_off,
)
from offline.metrics import PROTOCOLS

K = 5
RATE = 2.0
IDLES = 3
SETTINGS = CorrespondSettings()
FINDER = CorrespondAndCut()


def recording(seed: int, width: int = 16) -> tuple[Features, Labels]:
    """Each step once in an order of its own, with idle time of several looks between; a person's own shift on top."""
    rng = np.random.default_rng(seed)
    looks = np.random.default_rng(99).normal(0, 2, (K + IDLES, width))
    parts, labels = [], []
    for step in rng.permutation(K):
        for shown, label, length in (
            (K + int(rng.integers(IDLES)), 0, int(rng.integers(3, 9))),
            (int(step), int(step) + 1, int(rng.integers(14, 30))),
        ):
            parts.append(np.repeat(looks[shown][None], length, axis=0))
            labels.append(np.full(length, label, np.int64))
    rows = np.concatenate(parts) + rng.normal(0, 1, width)
    return (rows + rng.normal(0, 0.8, rows.shape)).astype(np.float32), np.concatenate(labels)


def collection(count: int = 8) -> tuple[Collection, list[Labels]]:
    drawn = [recording(seed) for seed in range(count)]
    return Collection.at_rate([rows for rows, _ in drawn], RATE), [labels for _, labels in drawn]


def score(truth: list[Labels], found: tuple[Labels, ...]) -> float:
    return PROTOCOLS["D"](truth, found).f1


def test_orders_and_idle_time_do_not_matter() -> None:
    made, truth = collection()
    found = FINDER.find(made, K, seed=0).labels
    assert score(truth, found) > 0.9
    assert score(truth, found) > score(truth, Equal().find(made, K, seed=0).labels) + 0.4
    idle = np.concatenate([each == 0 for each in truth])
    assert np.concatenate([each == 0 for each in found])[idle].mean() > 0.8


def test_the_same_seed_gives_the_same_labels_and_steps_are_numbered_by_time() -> None:
    made, truth = collection(5)
    one, two = (FINDER.find(made, K, seed=3) for _ in range(2))
    for first, second, true in zip(one.labels, two.labels, truth, strict=True):
        np.testing.assert_array_equal(first, second)
        assert first.shape == true.shape
        assert set(first.tolist()) <= set(range(K + 1))
    every = np.concatenate(one.labels)
    when = np.concatenate([(np.arange(len(each)) + 0.5) / len(each) for each in one.labels])
    means = [when[every == step].mean() for step in range(1, K + 1)]
    assert means == sorted(means)


def test_one_view_is_enough() -> None:
    """An embedding that says nothing, or features that say nothing: the other view finds the steps."""
    made, truth = collection()
    noise = tuple(np.random.default_rng(0).normal(size=each.shape).astype(np.float32) for each in made.embeddings)
    for embeddings, features in ((noise, made.embeddings), (made.embeddings, noise)):
        found = FINDER.find(Collection(embeddings, made.times, RATE, features), K, 0)
        assert score(truth, found.labels) > score(truth, Equal().find(made, K, 0).labels) + 0.2


def test_steps_that_are_done_twice_are_found_twice() -> None:
    """Every recording does its first step again at the end."""
    drawn = [recording(seed) for seed in range(8)]
    again = [np.flatnonzero(labels == 1) for _, labels in drawn]
    rows = [np.concatenate([own, own[place]]) for (own, _), place in zip(drawn, again, strict=True)]
    truth = [np.concatenate([own, own[place]]) for (_, own), place in zip(drawn, again, strict=True)]
    found = FINDER.find(Collection.at_rate(rows, RATE), K, 0).labels
    assert score(truth, found) > 0.8
    ends = [(each[-len(place) :], each[place]) for each, place in zip(found, again, strict=True)]
    same = [np.bincount(end).argmax() == np.bincount(begin).argmax() for end, begin in ends]
    assert np.mean(same) > 0.7


def test_steps_that_come_back_are_found_at_their_own_length() -> None:
    """Every step is done three times by everybody, so it is three times shorter than its share of the recording."""
    looks = np.random.default_rng(99).normal(0, 2, (K + IDLES, 16))
    rows, truth = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        turns = np.concatenate([rng.permutation(K) for _ in range(3)])
        shown = np.stack([turns, K + rng.integers(IDLES, size=len(turns))], 1).ravel()
        lasted = np.stack([rng.integers(8, 16, len(turns)), rng.integers(3, 16, len(turns))], 1).ravel()
        seen = looks[shown].repeat(lasted, axis=0)
        rows.append((seen + rng.normal(0, 0.8, seen.shape)).astype(np.float32))
        truth.append(np.where(shown < K, shown + 1, 0).repeat(lasted))
    made = Collection.at_rate(rows, RATE)
    one_length = CorrespondAndCut(replace(SETTINGS, shorter=(1.0,)))
    one, any_length = (score(truth, finder.find(made, K, seed=0).labels) for finder in (one_length, FINDER))
    assert any_length > max(one + 0.1, 0.7)


def test_waiting_before_the_work_is_no_part_of_the_first_step() -> None:
    """Until somebody begins, the workplace looks much like the first step does."""
    looks = np.random.default_rng(99).normal(0, 2, (K, 16))
    rows, begins = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        waits = 3 + seed
        shown = np.concatenate([0.6 * looks[:1], looks]).repeat([waits, *rng.integers(14, 30, K)], axis=0)
        rows.append((shown + rng.normal(0, 0.5, shown.shape)).astype(np.float32))
        begins.append(waits)
    made = Collection.at_rate(rows, RATE)

    def off(lead_in: float) -> float:
        found = CorrespondAndCut(replace(SETTINGS, lead_in=lead_in, shorter=(1.0,))).find(made, K, seed=0).labels
        return float(np.abs([np.argmax(each > 0) - begin for each, begin in zip(found, begins, strict=True)]).mean())

    assert off(SETTINGS.lead_in) < 0.4 * off(0.0)
    found = FINDER.find(made, K, seed=0).labels
    assert np.mean([abs(np.argmax(each > 0) - begin) for each, begin in zip(found, begins, strict=True)]) < 1.0


@pytest.mark.parametrize("count", [1, 2])
def test_one_and_two_recordings_are_cut_without_pairs(count: int) -> None:
    made, truth = collection(count)
    found = FINDER.find(made, K, seed=0)
    assert [len(each) for each in found.labels] == [len(each) for each in truth]
    assert set(np.concatenate(found.labels).tolist()) <= set(range(1, K + 1))
    assert "fewer than 3 recordings" in found.notes[-1]
    assert score(truth, found.labels) > 0.4


@pytest.mark.parametrize("seed", range(20))
def test_one_very_long_recording_does_not_keep_the_others_from_being_paired_off(seed: int) -> None:
    lengths = [500] * 9 + [40_000]
    made = Collection.at_rate([np.zeros((length, 1), np.float32) for length in lengths], RATE)
    assert paired_off(made, 10, seed).numbers == tuple(range(9))


def test_of_more_than_thirty_recordings_the_others_are_cut_by_the_same_prototypes() -> None:
    made, truth = collection(34)
    found = FINDER.find(made, K, seed=0).labels
    assert [len(each) for each in found] == [len(each) for each in truth]
    others = [n for n in range(34) if n not in {i * 34 // 30 for i in range(30)}]
    assert len(others) == 4
    assert score(truth, found) > 0.9
    assert score([truth[n] for n in others], tuple(found[n] for n in others)) > 0.85


def test_recordings_left_out_and_merged_frames_are_labelled_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    made, truth = collection()
    chosen = (0, 1, 2, 3, 5, 6)
    monkeypatch.setattr("offline.keysteps.correspond.fewer", lambda whole, *_, **__: Fewer(whole, 2, chosen))
    found = FINDER.find(made, K, seed=0).labels
    assert [len(each) for each in found] == [len(each) for each in truth]
    assert score(truth, found) > 0.8


@pytest.mark.parametrize(("lengths", "k"), [((3, 2, 4), 2), ((1, 40, 40), 3), ((6, 6, 6), 9), ((1, 1, 1), 2)])
def test_odd_collections_get_labels_all_the_same(lengths: tuple[int, ...], k: int) -> None:
    rng = np.random.default_rng(0)
    made = Collection.at_rate([rng.normal(size=(length, 3)).astype(np.float32) for length in lengths], 1.0)
    found = FINDER.find(made, k, seed=0).labels
    assert tuple(len(each) for each in found) == lengths
    assert all(each.min() >= 0 and each.max() <= k for each in found)


def test_many_numbers_of_steps_give_labels_within_them() -> None:
    made, _ = collection(4)
    for k in (1, 2, 12):
        step_s = average_step_s(made, k)
        found = correspond(look(paired_off(made, k, 0).collection(), step_s, SETTINGS), step_s, k, 0, SETTINGS)
        assert len(found.numbers) > k
        assert set(np.concatenate(found.steps).tolist()) <= set(range(k + 1))


def test_a_recording_that_did_not_teach_is_looked_at_as_one_that_did() -> None:
    made, _ = collection(4)
    looked = look(made, 10.0, SETTINGS)
    for number in range(4):
        one = Collection((made.embeddings[number],), (made.times[number],), RATE)
        for own, every in zip(looked.views.of(one), looked.apart, strict=True):
            np.testing.assert_allclose(own[0], every[number], atol=1e-6)


def planted(noise: float) -> tuple[list[Floats], Collection, list[Labels]]:
    """Three groups of 20 frames each, in two orders, in plain rows."""
    rng = np.random.default_rng(0)
    labels = [np.repeat(order, 20).astype(np.int64) for order in ([0, 1, 2], [2, 0, 1], [0, 2, 1])]
    rows = [5.0 * np.eye(3)[each] + rng.normal(0, noise, (60, 3)) for each in labels]
    return rows, Collection.at_rate([each.astype(np.float32) for each in rows], RATE), labels


def test_the_cut_mends_labels_and_noise() -> None:
    rows, made, truth = planted(noise=2.0)
    wrong = [each.copy() for each in truth]
    for each in wrong:
        each[[3, 25, 44]] = (each[[3, 25, 44]] + 1) % 3
    prototypes = GroupPrototypes.learn(rows, wrong, 3, SETTINGS)
    for found, true in zip(cut_by(prototypes, rows, made, 3, 10.0, SETTINGS), truth, strict=True):
        assert (found == true).mean() > 0.95


def test_memberships_by_others_leave_a_recording_out() -> None:
    rows, _, truth = planted(noise=0.5)
    for number, found in enumerate(memberships_by_others(rows, truth, SETTINGS)):
        rest = [n for n in range(3) if n != number]
        prototypes = GroupPrototypes.learn([rows[n] for n in rest], [truth[n] for n in rest], 3, SETTINGS)
        np.testing.assert_allclose(found, prototypes.memberships(rows[number], 3, SETTINGS.fuzzifier), atol=1e-6)
        np.testing.assert_allclose(found.sum(1), 1.0)


def test_a_group_without_frames_gets_none() -> None:
    rows, made, truth = planted(noise=0.5)
    prototypes = GroupPrototypes.learn(rows, truth, 5, SETTINGS)
    assert set(np.concatenate(cut_by(prototypes, rows, made, 5, 10.0, SETTINGS)).tolist()) == {0, 1, 2}


def test_changes_that_cost_more_are_fewer() -> None:
    rows, made, truth = planted(noise=3.0)
    prototypes = GroupPrototypes.learn(rows, truth, 3, SETTINGS)
    free, dear = [cut_by(prototypes, rows, made, 3, 10.0, replace(SETTINGS, change=cost)) for cost in (0.05, 0.5)]
    assert sum(int((np.diff(each) != 0).sum()) for each in dear) < sum(int((np.diff(each) != 0).sum()) for each in free)

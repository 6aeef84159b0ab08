"""Correspond and cut on steps done in many orders with idle time between: few recordings, many, and odd ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from guide.domain import Features, Labels
from guide.teach.collection import Collection
from guide.teach.subsample import Fewer
from offline.keysteps.correspond import (
    CorrespondAndCut,
    CorrespondSettings,
    GroupPrototypes,
    Look,
    Recordings,
    cut_by,
    memberships_by_others,
    procut,
)
from offline.keysteps.equal import Equal
from offline.keysteps.heads import HeadsSettings
from offline.metrics import PROTOCOLS
from tests.plain_discriminant import fit_discriminant

K = 5
RATE = 2.0
IDLES = 3
QUICK = CorrespondSettings(HeadsSettings(heads=2, hidden=64, embedding=16, frames=16, iterations=60))
FINDER = CorrespondAndCut(QUICK)


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


def test_features_are_looked_at_where_there_are_any() -> None:
    made, _ = collection(4)
    blind = Collection(tuple(np.zeros_like(each) for each in made.embeddings), made.times, RATE, made.embeddings)
    for one, other in zip(FINDER.find(made, K, 0).labels, FINDER.find(blind, K, 0).labels, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("count", [1, 2])
def test_one_and_two_recordings_are_cut_without_pairs(count: int) -> None:
    made, truth = collection(count)
    found = FINDER.find(made, K, seed=0)
    assert [len(each) for each in found.labels] == [len(each) for each in truth]
    assert set(np.concatenate(found.labels).tolist()) <= set(range(1, K + 1))
    assert "too few recordings to pair off" in found.notes[-1]
    assert score(truth, found.labels) > 0.5


def test_a_long_collection_that_leaves_two_recordings_is_cut_without_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    made, truth = collection(5)
    monkeypatch.setattr("offline.keysteps.correspond.fewer", lambda whole, *_, **__: Fewer(whole, 1, (0, 3)))
    found = FINDER.find(made, K, 0)
    assert "too few recordings to pair off" in found.notes[-1]
    assert [len(each) for each in found.labels] == [len(each) for each in truth]


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


def test_a_recording_that_did_not_teach_is_looked_at_as_one_that_did() -> None:
    made, _ = collection(4)
    look, rows = Look.learn(made, 10.0, 0, QUICK)
    for embedding, times, row in zip(made.embeddings, made.times, rows, strict=True):
        np.testing.assert_allclose(look.rows(embedding, times), row, atol=1e-6)


def planted(noise: float) -> tuple[Recordings, list[Labels]]:
    """Three groups of 20 frames each, in two orders, in plain rows."""
    rng = np.random.default_rng(0)
    labels = [np.repeat(order, 20).astype(np.int64) for order in ([0, 1, 2], [2, 0, 1], [0, 2, 1])]
    rows = [5.0 * np.eye(3)[each] + rng.normal(0, noise, (60, 3)) for each in labels]
    return Recordings(rows, tuple(np.arange(60) / RATE for _ in labels), RATE, 10.0), labels


def test_the_cut_mends_labels_and_noise() -> None:
    recordings, truth = planted(noise=2.0)
    wrong = [each.copy() for each in truth]
    for each in wrong:
        each[[3, 25, 44]] = (each[[3, 25, 44]] + 1) % 3
    for found, true in zip(procut(recordings, wrong, 3, QUICK), truth, strict=True):
        assert (found == true).mean() > 0.95


def test_memberships_by_others_leave_a_recording_out() -> None:
    recordings, truth = planted(noise=0.5)
    for number, found in enumerate(memberships_by_others(recordings, truth, 3, QUICK)):
        rest = [n for n in range(3) if n != number]
        learned = fit_discriminant([recordings.rows[n] for n in rest], [truth[n] for n in rest], QUICK.shrinkage)
        expected = GroupPrototypes.of(learned).memberships(recordings.rows[number], 3, QUICK.fuzzifier)
        np.testing.assert_allclose(found, expected, atol=1e-6)
        np.testing.assert_allclose(found.sum(1), 1.0)


def test_a_group_without_frames_gets_none() -> None:
    recordings, truth = planted(noise=0.5)
    prototypes = GroupPrototypes.learn(recordings.rows, truth, 5, QUICK)
    assert set(np.concatenate(cut_by(prototypes, recordings, 5, QUICK)).tolist()) == {0, 1, 2}


def test_changes_that_cost_more_are_fewer() -> None:
    recordings, truth = planted(noise=3.0)
    prototypes = GroupPrototypes.learn(recordings.rows, truth, 3, QUICK)
    free, dear = (
        sum(int((np.diff(each) != 0).sum()) for each in cut_by(prototypes, recordings, 3, replace(QUICK, change=cost)))
        for cost in (0.05, 0.5)
    )
    assert dear < free

"""Carried labels read again: whole courses, as the labelled recordings show them; and only where that pays."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from guide.domain import Labels
from guide.teach.collection import Collection
from guide.teach.consensus import Consensus, _durations, _is_agreed, visited
from guide.teach.spread import Spread

RATE = 2.0
LOOKS = np.random.default_rng(2).normal(size=(5, 6)) * 3
STEP_S = 10.0


def made(order: list[int], seed: int) -> tuple[NDArray[np.float64], Labels]:
    labels = np.repeat(order, 20)
    return LOOKS[labels] + np.random.default_rng(seed).normal(size=(len(labels), 6)), labels


def made_task() -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]], list[Labels]]:
    orders = [[1, 2, 3, 4], [1, 3, 2, 4], [2, 1, 3, 4], [1, 2, 4, 3]]
    pairs = [made(order, seed) for seed, order in enumerate(orders)]
    return [rows for rows, _ in pairs], [np.arange(len(rows)) / RATE for rows, _ in pairs], [own for _, own in pairs]


def test_a_step_that_vanished_comes_back() -> None:
    rows, times, truth = made_task()
    carried = [truth[0], truth[1], np.where(truth[2] == 3, 4, truth[2]), truth[3]]
    agreed = Consensus().settle(rows, times, carried, known=[0, 1], step_s=STEP_S)
    assert (agreed[2] == truth[2]).mean() > 0.95


def test_whoever_asks_about_one_recording_hears_what_is_heard_of_all() -> None:
    rows, times, truth = made_task()
    carried = [truth[0], np.where(truth[1] == 2, 3, truth[1]), np.where(truth[2] == 3, 4, truth[2]), truth[3]]
    agreed = Consensus().settle(rows, times, carried, known=[0], step_s=STEP_S)
    for only in (1, 2, 3):
        one = Consensus().settle(rows, times, carried, known=[0], step_s=STEP_S, only=only)
        np.testing.assert_array_equal(one[only], agreed[only])


def test_what_people_gave_stays_as_it_is() -> None:
    rows, times, truth = made_task()
    odd = truth[0][::-1].copy()
    assert (Consensus().settle(rows, times, [odd, *truth[1:]], known=[0], step_s=STEP_S)[0] == odd).all()


def test_steps_need_no_background_and_no_neighbouring_numbers() -> None:
    rows, times, truth = made_task()
    names = np.array([0, 7, 12, 30, 31])
    agreed = Consensus().settle(rows, times, [names[each] for each in truth], known=[0, 1], step_s=STEP_S)
    assert [visited(each) for each in agreed] == [[int(names[step]) for step in visited(each)] for each in truth]


def test_an_order_is_expected_only_where_the_labelled_ones_and_most_of_all_keep_it() -> None:
    visits = [[1, 2, 3], [1, 3, 2], [1, 2, 3], [1, 2, 3], [1, 2, 3]]
    assert _is_agreed(1, 2, visits, known=[0])
    assert _is_agreed(2, 3, visits, known=[0])  # 4 of 5
    assert not _is_agreed(2, 3, visits, known=[1])
    assert not _is_agreed(1, 9, visits, known=[0])


def test_times_are_those_of_stretches() -> None:
    labels = [np.array([0, 1, 1, 2, 2, 2, 2]), np.array([0, 0, 0, 1, 1, 1, 1])]
    usual, spread = _durations(labels, [np.arange(7) / RATE] * 2, [0, 1, 2])
    assert usual.tolist() == [1.0, 1.5, 2.0]
    assert spread > 0.3


@pytest.mark.parametrize("given", [1, 2], ids=["one labelled", "two labelled"])
def test_it_is_tried_out_on_labelled_recordings_only(given: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one nobody can know whether it pays, so it is not used; with two each is left out once."""
    rows, _, truth = made_task()
    known: list[list[int]] = []
    settle = Consensus.settle

    def watched(self: Consensus, rows, times, labels, known_, step_s, only):  # type: ignore[no-untyped-def]
        known.append(list(known_))
        return settle(self, rows, times, labels, known_, step_s, only)

    monkeypatch.setattr(Consensus, "settle", watched)
    collection = Collection.at_rate([each.astype(np.float32) for each in rows], RATE)
    labels = Spread().spread(collection, [own if number < given else None for number, own in enumerate(truth)]).labels
    assert [[int(step) for step in np.unique(each)] for each in labels] == [[1, 2, 3, 4]] * 4
    assert known[:2] == ([] if given == 1 else [[1], [0]])

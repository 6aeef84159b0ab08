"""Carried labels read again: whole histories, as the labelled recordings show them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from guide.domain import Labels
from guide.teach.collection import Collection
from guide.teach.consensus import SURE, Consensus, _durations, _is_agreed, _to_background, visited
from guide.teach.lesson import Shown, teach
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


@pytest.mark.parametrize("known", [[0, 1], [0]], ids=["two labelled", "one"])
def test_a_step_that_vanished_comes_back(known: list[int]) -> None:
    rows, times, truth = made_task()
    carried = [truth[0], truth[1], np.where(truth[2] == 3, 4, truth[2]), truth[3]]
    agreed = Consensus().settle(rows, times, carried, known, step_s=STEP_S)
    assert (agreed[2] == truth[2]).mean() > 0.95


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


def test_how_often_background_follows_a_step_is_what_the_labelled_ones_show() -> None:
    always, never = np.tile([1, 0, 2, 0], 30), np.tile([1, 2], 30)
    assert _to_background([always]) == pytest.approx(0.95)  # even then another step may follow
    assert _to_background([never]) == pytest.approx(0.05)
    assert _to_background([np.array([0, 0])]) == pytest.approx(0.7)  # nobody knows: as live
    assert 0.4 < _to_background([always, never]) < 0.6


@pytest.mark.parametrize("given", [1, 2], ids=["one labelled", "two labelled"])
def test_carried_labels_are_read_again_however_few_are_labelled(given: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, _, truth = made_task()
    asked: list[list[int]] = []

    def turned_round(self: Consensus, rows, times, labels, known, step_s, shown):  # type: ignore[no-untyped-def]
        asked.append(list(known))
        assert [each.ways for each in shown] == [1 + Spread().levelling] * 4
        return [each if number in known else each[::-1] for number, each in enumerate(labels)]

    collection = Collection.at_rate([each.astype(np.float32) for each in rows], RATE)
    some = [own if number < given else None for number, own in enumerate(truth)]
    before = Spread().spread(collection, some).labels
    monkeypatch.setattr(Consensus, "settle", turned_round)
    after = Spread().spread(collection, some).labels
    assert asked == [list(range(given))]
    assert [(each == own).all() for each, own in zip(after, truth, strict=True)] == [n < given for n in range(4)]
    assert min(float((each == own).mean()) for each, own in zip(before, truth, strict=True)) > 0.9


def test_a_place_speaks_against_a_step_and_never_for_it() -> None:
    """Or idle time at the beginning would be the first step, whose place it is."""
    rows, _, truth = made_task()
    lesson = teach([Shown.of(each) for each in rows], truth, 5, Consensus().settings)
    assert lesson.places.max() == 0.0
    assert lesson.places[0, 4] < -1.0  # the last step is never done at the beginning


def test_recordings_teach_as_they_are_shown() -> None:
    """The rows of the labelled ones say nothing; what they are shown as tells all steps apart."""
    rows, times, truth = made_task()
    blank = [np.zeros_like(each) if number < 2 else each for number, each in enumerate(rows)]
    carried = [*truth[:2], np.full_like(truth[2], 1), np.full_like(truth[3], 1)]
    right = [
        min(float((each == own).mean()) for each, own in zip(agreed[2:], truth[2:], strict=True))
        for agreed in (
            Consensus().settle(blank, times, carried, [0, 1], STEP_S),
            Consensus().settle(blank, times, carried, [0, 1], STEP_S, [Shown.of(each) for each in rows]),
        )
    ]
    assert right[0] < 0.7 < 0.9 < right[1]


def test_steps_that_look_alike_are_told_by_their_place() -> None:
    rng, truth = np.random.default_rng(3), [np.repeat([1, 2, 3], [20, 30, 20]) for _ in range(4)]
    looks = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0], [3.0, 0.0]])  # the first is as the last
    rows, times = [looks[own] + rng.normal(size=(70, 2)) for own in truth], [np.arange(70) / RATE] * 4
    consensus, no = Consensus(), np.zeros(3, bool)
    model = consensus._model(truth, times, [0, 1], 35 / 3)
    model = replace(model, before=np.zeros((3, 3), bool), needed=no, single=no)  # no order, and no step is done once
    lesson = teach([Shown.of(each) for each in rows], [own - 1 for own in truth], 3, consensus.settings)
    found = consensus._read(rows[0], times[0], lesson, model)
    assert float((found == truth[0]).mean()) > 0.9
    turned = replace(lesson, places=lesson.places[::-1])
    assert float((consensus._read(rows[0], times[0], turned, model) == truth[0][::-1]).mean()) > 0.9


def test_one_labelled_recording_binds_as_much_as_two() -> None:
    _, times, truth = made_task()
    one, two = (Consensus()._model(truth, times, known, STEP_S) for known in ([0], [0, 1]))
    assert one.expectations == two.expectations == SURE
    assert one.needed.all()
    assert one.to_background == _to_background(truth[:1]) < 0.7  # a step follows on every step here

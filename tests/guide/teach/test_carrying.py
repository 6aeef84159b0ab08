"""Labels carried from a few recordings to the others: whole histories, as the labelled recordings show them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from guide.domain import Labels
from guide.label.visit_counts import VisitCounts
from guide.teach.carrying import SURE, Carrying, Task, _durations, _is_agreed, _to_background
from guide.teach.collection import Collection
from guide.teach.reorder import visited
from guide.teach.subsample import Fewer

RATE = 2.0
STEP_S = 10.0
LOOKS = np.random.default_rng(2).normal(size=(5, 6)) * 3
DIRECTIONS = np.random.default_rng(1).normal(size=(6, 16)) * 3
ORDERS = [[1, 2, 0, 4], [2, 1, 0, 4], [1, 2, 4, 0], [1, 0, 2, 4]]


def make(orders: list[list[int]]) -> tuple[Collection, list[Labels]]:
    labels = [np.repeat(order, 20).astype(np.int64) for order in orders]
    rows: list[NDArray[np.float32]] = [
        (DIRECTIONS[each] + np.random.default_rng(number).normal(size=(len(each), 16))).astype(np.float32)
        for number, each in enumerate(labels)
    ]
    return Collection.at_rate(rows, RATE), labels


def made_task() -> tuple[Task, list[Labels]]:
    truth = [np.repeat(order, 20) for order in ([1, 2, 3, 4], [1, 3, 2, 4], [2, 1, 3, 4], [1, 2, 4, 3])]
    noise = [np.random.default_rng(seed).normal(size=(80, 6)) for seed in range(4)]
    rows = [LOOKS[own] + each for own, each in zip(truth, noise, strict=True)]
    return Task(rows, [np.arange(80) / RATE] * 4, (1, 2, 3, 4), STEP_S, RATE), truth


def right(found: tuple[Labels, ...] | list[Labels], truth: list[Labels]) -> list[float]:
    return [float((one == other).mean()) for one, other in zip(found, truth, strict=True)]


def test_one_labelled_recording_teaches_the_others() -> None:
    collection, truth = make(ORDERS)
    found = Carrying().carry(collection, [truth[0], None, None, None]).labels
    assert right(found, truth) == pytest.approx([1.0] * 4, abs=0.12)
    assert {int(number) for each in found for number in each} <= {0, 1, 2, 4}


def test_given_labels_stay_as_given() -> None:
    collection, truth = make(ORDERS)
    odd = truth[1][::-1].copy()
    found = Carrying().carry(collection, [truth[0], odd, None, None]).labels
    assert (found[1] == odd).all()


def test_the_labels_of_nobody_are_refused() -> None:
    collection, _ = make(ORDERS)
    with pytest.raises(ValueError, match="labels for some"):
        Carrying().carry(collection, [None] * 4)


def test_recordings_that_there_is_no_room_for_are_labelled_too(monkeypatch: pytest.MonkeyPatch) -> None:
    collection, truth = make(ORDERS)
    monkeypatch.setattr("guide.teach.carrying.fewer", lambda whole, *_, **__: Fewer(whole, 2, (0, 2)))
    found = Carrying().carry(collection, [truth[0], None, None, None]).labels
    assert (found[0] == truth[0]).all()
    assert right(found, truth) == pytest.approx([1.0] * 4, abs=0.15)


def test_a_step_that_is_lost_where_frames_are_merged_is_not_carried(monkeypatch: pytest.MonkeyPatch) -> None:
    collection, truth = make(ORDERS)
    moment = truth[0].copy()
    moment[30] = 9  # one frame, and every second stands for two
    monkeypatch.setattr("guide.teach.carrying.fewer", lambda whole, *_, **__: Fewer(whole, 2, (0, 1, 2, 3)))
    found = Carrying().carry(collection, [moment, None, None, None]).labels
    assert (found[0] == moment).all()
    assert {int(number) for each in found[1:] for number in each} <= {0, 1, 2, 4}


def test_where_all_is_labelled_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    collection, truth = make(ORDERS)
    monkeypatch.setattr(Carrying, "task_of", None)
    found = Carrying().carry(collection, truth).labels
    assert all((each == own).all() for each, own in zip(found, truth, strict=True))


def test_idle_time_at_the_beginning_stays_idle_time() -> None:
    """Both labelled recordings begin with the first step at once, so its place is the very beginning."""
    collection, truth = make([[1, 2, 0, 4], [1, 2, 4, 0], [0, 1, 2, 4], [0, 1, 4, 2]])
    found = Carrying().carry(collection, [truth[0], truth[1], None, None]).labels
    assert min(float((each[:18] == 0).mean()) for each in found[2:]) > 0.8


def test_the_lead_in_is_told_from_other_background_and_is_background() -> None:
    shown = [np.repeat([4, 1, 0, 2, 0, 3], 20), np.repeat([4, 2, 0, 1, 0, 3], 20)]  # 4 is how the lead-in looks
    truth = [np.where(own == 4, 0, own) for own in shown]
    noise = [np.random.default_rng(seed).normal(size=(120, 6)) for seed in range(2)]
    rows = [LOOKS[own] + each for own, each in zip(shown, noise, strict=True)]
    task = Task(rows, [np.arange(120) / RATE] * 2, (0, 1, 2, 3), STEP_S, RATE)
    carrying = Carrying()
    lesson, model = carrying.lesson(task, truth), carrying.model(task, truth, [0, 1])
    plan = lesson.plan(rows[0], carrying.settings)
    assert plan[:20, 0].mean() > 0.5 > plan[20:, 0].mean()
    assert right([carrying.read(task, 0, lesson, model)], truth[:1])[0] > 0.9
    plain = Carrying(has_lead_in=False)
    assert plain.lesson(task, truth).plan(rows[0], plain.settings)[:, 0].max() < 0.01


def test_a_step_is_done_as_often_as_the_labelled_ones_show() -> None:
    collection, truth = make([[1, 2, 1, 2, 4], [1, 2, 4, 1, 2], [2, 1, 2, 1, 4], [1, 4, 2, 1, 2]])
    found = Carrying().carry(collection, [truth[0], truth[1], None, None]).labels
    assert [visited(each) for each in found] == [visited(each) for each in truth]


@pytest.mark.parametrize("known", [[0, 1], [0]], ids=["two labelled", "one"])
def test_a_step_that_looks_like_another_does_not_vanish(known: list[int]) -> None:
    """By frames alone most of it would go to the other."""
    task, truth = made_task()
    alike = np.where(np.arange(5)[:, None] == 3, 0.2 * LOOKS[3] + 0.8 * LOOKS[4], LOOKS)
    rows = [each + alike[own] - LOOKS[own] for each, own in zip(task.rows, truth, strict=True)]
    task = task._replace(rows=rows)
    given = [own if number in known else None for number, own in enumerate(truth)]
    assert [set(visited(each)) for each in Carrying().settle(task, given)] == [{1, 2, 3, 4}] * 4


def test_steps_need_no_background_and_no_neighbouring_numbers() -> None:
    task, truth = made_task()
    names = np.array([0, 7, 12, 30, 31])
    given = [names[truth[0]], names[truth[1]], None, None]
    agreed = Carrying().settle(task._replace(steps=(7, 12, 30, 31)), given)
    assert [visited(each) for each in agreed] == [[int(names[step]) for step in visited(each)] for each in truth]


@drawn(st.lists(st.permutations([1, 2, 3]), min_size=2, max_size=6), st.integers(1, 3))
@settings(derandomize=True, deadline=None, max_examples=60)
def test_an_order_is_expected_only_where_the_labelled_ones_and_most_of_all_keep_it(
    visits: list[list[int]], known: int
) -> None:
    keep = [each.index(1) < each.index(2) for each in visits]
    assert _is_agreed(1, 2, visits, known) == (all(keep[:known]) and sum(keep) >= 0.8 * len(keep))
    assert not _is_agreed(1, 9, visits, known)


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


def test_steps_that_look_alike_are_told_by_their_place() -> None:
    rng, truth = np.random.default_rng(3), [np.repeat([1, 2, 3], [20, 30, 20]) for _ in range(4)]
    looks = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0], [3.0, 0.0]])  # the first is as the last
    rows = [looks[own] + rng.normal(size=(70, 2)) for own in truth]
    task = Task(rows, [np.arange(70) / RATE] * 4, (1, 2, 3), 35 / 3, RATE)
    carrying, no = Carrying(), np.zeros(3, bool)
    model = carrying.model(task, truth, [0, 1])
    model = replace(
        model, before=np.zeros((3, 3), bool), needed=no, visits=VisitCounts.learn(np.zeros((0, 3), np.int64))
    )
    lesson = carrying.lesson(task, truth)
    assert lesson.places.max() <= 0.0  # a place speaks against a step and never for it
    assert float((carrying.read(task, 0, lesson, model) == truth[0]).mean()) > 0.9
    turned = replace(lesson, places=lesson.places[::-1])
    assert float((carrying.read(task, 0, turned, model) == truth[0][::-1]).mean()) > 0.9


def test_one_labelled_recording_binds_as_much_as_two() -> None:
    task, truth = made_task()
    one, two = (Carrying().model(task, truth, known) for known in ([0], [0, 1]))
    assert one.expectations == two.expectations == SURE
    assert one.needed.all()
    assert one.to_background == _to_background(truth[:1]) < 0.7  # a step follows on every step here


def test_a_last_glimpse_of_a_step_does_not_make_up_for_its_lacking() -> None:
    collection, truth = make([[1, 2, 0, 4], [2, 1, 0, 4], [1, 2, 0]])
    collection.embeddings[2][-1] = (DIRECTIONS[0] + DIRECTIONS[4]) / 2
    found = Carrying().carry(collection, [truth[0], truth[1], None]).labels
    assert visited(found[2]) == [1, 2]

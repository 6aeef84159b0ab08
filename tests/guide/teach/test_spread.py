"""Labels carried from a few recordings to the others."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from guide.domain import Labels
from guide.teach.collection import Collection
from guide.teach.spread import PLACE_MOST, Spread, columns_of
from guide.teach.subsample import Fewer, fewer

DIRECTIONS = np.random.default_rng(1).normal(size=(6, 16)) * 3


def make(orders: list[list[int]]) -> tuple[Collection, list[Labels]]:
    labels = [np.repeat(order, 20).astype(np.int64) for order in orders]
    rows: list[NDArray[np.float32]] = [
        (DIRECTIONS[each] + np.random.default_rng(number).normal(size=(len(each), 16))).astype(np.float32)
        for number, each in enumerate(labels)
    ]
    return Collection.at_rate(rows, 2.0), labels


ORDERS = [[1, 2, 0, 4], [2, 1, 0, 4], [1, 2, 4, 0], [1, 0, 2, 4]]


def test_one_labelled_recording_teaches_the_others() -> None:
    collection, truth = make(ORDERS)
    found = Spread().spread(collection, [truth[0], None, None, None]).labels
    assert [float((one == other).mean()) for one, other in zip(found, truth, strict=True)] == pytest.approx(
        [1.0] * 4, abs=0.12
    )


def test_given_labels_stay_as_given() -> None:
    collection, truth = make(ORDERS)
    odd = truth[1][::-1].copy()
    found = Spread().spread(collection, [truth[0], odd, None, None]).labels
    assert (found[1] == odd).all()


def test_numbers_are_those_given() -> None:
    collection, truth = make(ORDERS)
    found = Spread().spread(collection, [truth[0], None, None, None]).labels
    assert {int(number) for each in found for number in each} <= {0, 1, 2, 4}


def test_the_labels_of_nobody_are_refused() -> None:
    collection, _ = make(ORDERS)
    with pytest.raises(ValueError, match="labels for some"):
        Spread().spread(collection, [None] * 4)


def test_recordings_that_there_is_no_room_for_are_labelled_too(monkeypatch: pytest.MonkeyPatch) -> None:
    collection, truth = make(ORDERS)
    monkeypatch.setattr("guide.teach.spread.fewer", lambda whole, *_, **__: Fewer(whole, 2, (0, 2)))
    found = Spread().spread(collection, [truth[0], None, None, None]).labels
    assert (found[0] == truth[0]).all()
    assert [float((one == other).mean()) for one, other in zip(found, truth, strict=True)] == pytest.approx(
        [1.0] * 4, abs=0.15
    )


def test_recordings_also_teach_before_a_levelled_bench() -> None:
    """Slow changes of what stands around count for less than they do in the recordings as they are."""
    collection, _ = make(ORDERS)
    drift = np.linspace(0, 40, 80)[:, None] * np.eye(16)[0]
    drifting = Collection.at_rate([(each + drift).astype(np.float32) for each in collection.embeddings], 2.0)
    few = fewer(drifting, 4, seed=0, keep=[0])
    plain, level = (Spread(levelling=count).task_of(few, np.array([0, 1, 2, 4]))[0].shown[0] for count in (0, 3))
    np.testing.assert_allclose(plain.total, Spread().task_of(few, np.array([0, 1, 2, 4]))[0].rows[0])
    slow = [abs(np.corrcoef(one.total[:, 0] / one.ways, np.arange(80))[0, 1]) for one in (plain, level)]
    assert level.ways == 4
    assert slow[1] < slow[0]


def test_where_all_is_labelled_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    collection, truth = make(ORDERS)
    monkeypatch.setattr(Spread, "task_of", None)
    found = Spread().spread(collection, truth).labels
    assert all((each == own).all() for each, own in zip(found, truth, strict=True))


def test_idle_time_at_the_beginning_stays_idle_time() -> None:
    """Both labelled recordings begin with the first step at once, so its place is the very beginning."""
    collection, truth = make([[1, 2, 0, 4], [1, 2, 4, 0], [0, 1, 2, 4], [0, 1, 4, 2]])
    numbers, spread = np.array([0, 1, 2, 4]), Spread()
    few = fewer(collection, len(numbers), seed=0, keep=[0, 1])
    task, _ = spread.task_of(few, numbers)
    lesson, _ = spread.carry(task, columns_of(few, [truth[0], truth[1], None, None], numbers))
    assert (lesson.places[:, 0] == 0).all()  # idle time may lie anywhere
    assert lesson.places[[*range(6), *range(34, 40)]].max() == 0.0  # at both ends a place speaks for nothing
    assert lesson.places.min() < -1.0
    found = spread.spread(collection, [truth[0], truth[1], None, None]).labels
    assert min(float((each[:18] == 0).mean()) for each in found[2:]) > 0.8


def test_a_usual_place_does_not_drown_what_is_seen() -> None:
    collection, truth = make(ORDERS)
    numbers, spread = np.array([0, 1, 2, 4]), Spread()
    few = fewer(collection, len(numbers), seed=0, keep=[0])
    task, _ = spread.task_of(few, numbers)
    lesson, _ = spread.carry(task, columns_of(few, [truth[0], None, None, None], numbers))
    assert lesson.places.max() == pytest.approx(np.log(PLACE_MOST))  # a step of a quarter would be at 4 times

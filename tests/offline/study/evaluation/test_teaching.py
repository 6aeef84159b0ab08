"""What the others teach: in every way of labelling them, and never with the recording left out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from guide.errors import InputError
from guide.teach.collection import Found
from guide.teach.reorder import visits_a_step
from offline.config import resolve
from offline.study.evaluation.embedders import Embedders
from offline.study.evaluation.finding import Search
from offline.study.evaluation.teaching import (
    ALL,
    Way,
    demonstrations_of,
    read_numbers,
    require_enough,
    teach,
    ways,
    without,
)
from tests.faulty_task import make_task


def test_ways_are_as_many_as_there_are_choices_and_no_more_than_asked_for() -> None:
    found = list(ways(["0", "1", "2", "3", "7", "all"], recordings=3, most=2, seed=0))
    assert [way.count for way in found] == ["0", "1", "1", "2", "2", ALL], "three of three and more are all"
    assert all(len(way.chosen) == int(way.count) for way in found if way.chosen)


def test_labels_that_are_given_are_taken_as_they_are(tmp_path: Path) -> None:
    search = Search(resolve("default", None, {}), Embedders(tmp_path, torch.device("cpu")))
    task = without(make_task(), 0)
    assert teach(task, Way(ALL), search).labels == task.truth
    carried = teach(task, Way("1", (2,)), search)
    assert np.array_equal(carried.labels[2], task.truth[2])
    assert carried.names == {step: step for step in task.steps}


def test_found_steps_are_matched_with_true_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = make_task()
    found = Found(tuple(np.where(labels > 0, labels % 4 + 1, 0) for labels in task.truth))
    monkeypatch.setattr(Search, "find", lambda *_: found)
    search = Search(resolve("default", None, {}), Embedders(tmp_path, torch.device("cpu")))
    assert teach(task, Way("0"), search).names == {2: 1, 3: 2, 4: 3, 1: 4}


def test_a_task_without_features_teaches_nothing() -> None:
    with pytest.raises(InputError, match="got 0: choose another task"):
        require_enough(replace(make_task(), is_seen=False))


def test_demonstrations_look_back_as_long_as_a_step_takes() -> None:
    task = make_task()
    found = demonstrations_of(task, Way("0"))
    assert found.settings.memory_s == pytest.approx(2 * task.recordings[0].duration_s / 4)
    assert [one.id for one in found.items] == [one.id for one in task.recordings]
    one = task.recordings[0]
    np.testing.assert_allclose(found.embed(one.pooled, one.times), found.embeddings[0], atol=1e-4)


def test_labels_say_how_often_steps_come() -> None:
    task = make_task()
    twice = replace(task, truth=tuple(np.concatenate([own[::2], own[::2]])[: len(own)] for own in task.truth))
    once, again = (demonstrations_of(one, Way("all")) for one in (task, twice))
    assert again.settings.memory_s == pytest.approx(once.settings.memory_s / visits_a_step(twice.truth))
    assert visits_a_step(twice.truth) > 1.5


@pytest.mark.parametrize("text", ["", "two", "1.5", "-1", "²"])
def test_numbers_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="--labelled"):
        read_numbers(text)

"""Recordings left out are labelled by what the others taught, and nothing of their own labels is seen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console

from guide.errors import InputError
from offline.config import resolve
from offline.features import RecordingFeatures
from offline.metrics.live import StepFrames
from offline.study.evaluation.embedders import Embedders
from offline.study.evaluation.finding import Search
from offline.study.evaluation.task import LabelledTask
from offline.study.left_out import ELAPSED, LeftOutOptions, _lags, _table, _task, elapsed_time, main

ORDERS = ([1, 2, 3], [2, 1, 3], [1, 3, 2], [1, 2, 3])


def make_task(orders: tuple[list[int], ...] = ORDERS, seed: int = 0) -> LabelledTask:
    """Steps of 20 s with a look of their own, a few seconds of something else in between."""
    rng = np.random.default_rng(seed)
    looks = np.random.default_rng(7).normal(size=(4, 24)) * 1.5
    recordings, truth = [], []
    for number, order in enumerate(orders):
        labels = np.concatenate([np.repeat([0, step], [4, 20]) for step in order])
        rows = (looks[labels] + rng.normal(size=(len(labels), 24)) + 4.0).astype(np.float32)
        recordings.append(RecordingFeatures(f"r{number}", 1.0, np.arange(len(labels)) / 1.0, rows))
        truth.append(labels)
    return LabelledTask("1", "tea", {1: "boil", 2: "pour", 3: "stir"}, tuple(recordings), tuple(truth))


def search(tmp_path: Path) -> Search:
    return Search(resolve("default", None, {}), Embedders(tmp_path, torch.device("cpu")))


def test_steps_with_a_look_of_their_own_are_recognised(tmp_path: Path) -> None:
    scores = _task(make_task(), ["1", "all", "7"], [2.0], search(tmp_path), 1, Console(quiet=True))
    assert len(scores["all labelled, 2 s"]) == 4, "seven of three are all, and all are scored once"
    assert np.mean([one.accuracy for one in scores["all labelled, 2 s"]]) > 0.85
    assert np.mean([one.accuracy for one in scores["1 labelled, 2 s"]]) > 0.6
    assert np.mean([one.accuracy for one in scores[ELAPSED]]) < 0.8, "orders differ, so the clock alone is wrong"


def test_a_longer_wait_is_no_worse(tmp_path: Path) -> None:
    scores = _task(make_task(), ["all"], [0.0, 5.0], search(tmp_path), 1, Console(quiet=True))
    early, late = (np.mean([one.accuracy for one in scores[f"all labelled, {lag} s"]]) for lag in (0, 5))
    assert late >= early


def test_elapsed_time_is_what_most_did_then() -> None:
    task = make_task()
    found = elapsed_time(task, task.truth, task.recordings[0])
    assert found[10] == 1, "three of four began with it"
    assert found[60] == 3


def test_the_table_has_a_mean_over_tasks() -> None:
    row = "all labelled, 2 s"
    table = _table({"a": {row: [StepFrames(0.5, 0.25)]}, "b": {row: [StepFrames(1.0, 0.75)]}})
    cells = [list(column.cells) for column in table.columns]
    assert [column[0] for column in cells] == [row, "50.0 / 25.0", "100.0 / 75.0", "75.0 / 50.0"]


@pytest.mark.parametrize("text", ["", "two", "-1", "2,inf", "nan"])
def test_lags_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="--lags"):
        _lags(text)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere"):
        main(LeftOutOptions(tmp_path / "nowhere", cache=tmp_path))

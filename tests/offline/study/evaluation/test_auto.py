"""--k auto: the choice of training, made once and kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from offline.config import Recipe
from offline.features import RecordingFeatures
from offline.study.evaluation.auto import ChosenCount, choose_count
from offline.study.evaluation.embedders import Embedders
from offline.study.evaluation.finding import Search
from offline.study.evaluation.methods import RAW
from offline.study.evaluation.task import LabelledTask

STEPS = 5
EACH = 12  # frames a step takes
LOOKS = np.random.default_rng(4).normal(size=(STEPS, 12)) * 4


def make_task() -> LabelledTask:
    """Three recordings of five steps that look clearly different."""
    labels = np.repeat(np.arange(STEPS), EACH)
    noise = [np.random.default_rng(seed).normal(size=(len(labels), 12)) for seed in range(3)]
    rows = [(LOOKS[labels] + each).astype(np.float32) for each in noise]
    seen = [RecordingFeatures(str(n), 2.0, np.arange(len(each)) / 2, each) for n, each in enumerate(rows)]
    return LabelledTask("1", "tea", {n + 1: f"step {n}" for n in range(STEPS)}, tuple(seen), (labels + 1,) * 3)


def search(folder: Path) -> Search:
    return Search(Recipe(), Embedders(folder, torch.device("cpu")))


def test_a_number_is_chosen_of_those_tried_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("offline.keysteps.choose.NUMBERS", (4, 5, 7))
    task, told = make_task(), list[str]()
    chosen = choose_count(search(tmp_path), task, RAW, told.append)
    assert chosen.k in (4, 5, 7)
    assert chosen.note.startswith(f"K = {chosen.k} chosen: tried 4, 5, 7: beyond {chosen.k}")
    assert [words.split()[0] for words in told] == ["4", "5", "7"]
    monkeypatch.setattr("offline.study.evaluation.auto.choose_k", lambda *_, **__: pytest.fail("it was chosen again"))
    assert choose_count(search(tmp_path), task, RAW, told.append) == chosen


def test_the_embedding_is_the_one_training_has_before_it_chooses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str | None, int]] = []

    def collection(self: Search, task: LabelledTask, loss: str | None, k: int, seed: int, tell: object) -> object:
        asked.append((loss, k))
        return task.collection()

    monkeypatch.setattr(Search, "collection", collection)
    monkeypatch.setattr("offline.study.evaluation.auto.choose_k", lambda *_, **__: ChosenCount(6, "a knee"))
    chosen = choose_count(search(tmp_path), make_task(), "cidm", lambda _: None)
    assert (chosen.note, asked) == ("K = 6 chosen: a knee", [("cidm", Recipe().steps)])

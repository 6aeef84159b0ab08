"""What is kept between runs is named by all the code that decides it; --k auto is the choice of training."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Final

import numpy as np
import pytest
import torch

from offline.config import Recipe
from offline.features import RecordingFeatures
from offline.keysteps.registry import FINDERS
from offline.study.evaluation.embedders import Embedders
from offline.study.evaluation.finding import SOURCES, Search
from offline.study.evaluation.methods import RAW
from offline.study.evaluation.task import LabelledTask
from tests.imported import imported_by

PLAIN: Final = ("guide.domain", "guide.errors", "guide.teach.progress")  # values and messages: they decide nothing


def is_covered(module: str) -> bool:
    return module in PLAIN or any(module == source or module.startswith(f"{source}.") for source in SOURCES)


def test_a_change_anywhere_in_finders_or_carried_labels_makes_them_anew() -> None:
    decide = [module for module, _ in FINDERS.values()] + ["offline.keysteps.choose", "guide.teach.carrying"]
    used = set[str]().union(*map(imported_by, decide))
    assert {"guide.teach.lesson", "guide.label.histories", "offline.keysteps.kmeans"} <= used
    assert [module for module in sorted(used) if not is_covered(module)] == []


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
    k, note = search(tmp_path).choose(task, RAW, told.append)
    assert k in (4, 5, 7)
    assert note.startswith(f"K = {k} chosen: 4 to 7 were tried")
    assert sorted(words.split()[0] for words in told) == ["4", "5", "7"]
    monkeypatch.setattr("offline.study.evaluation.finding.choose_k", lambda *_, **__: pytest.fail("chosen again"))
    assert search(tmp_path).choose(task, RAW, told.append) == (k, note)


def test_the_embedding_is_the_one_training_has_before_it_chooses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str | None, int]] = []

    def collection(self: Search, task: LabelledTask, loss: str | None, k: int, seed: int, tell: object) -> object:
        asked.append((loss, k))
        return task.collection()

    knee = SimpleNamespace(k=6, reason="a knee")
    monkeypatch.setattr(Search, "collection", collection)
    monkeypatch.setattr("offline.study.evaluation.finding.choose_k", lambda *_, **__: knee)
    assert search(tmp_path).choose(make_task(), "cidm", lambda _: None) == (6, "K = 6 chosen: a knee")
    assert asked == [("cidm", Recipe().steps)]

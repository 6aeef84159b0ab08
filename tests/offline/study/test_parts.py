"""Every part of a stage has a row with and one without it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from offline.config import resolve
from offline.features import RecordingFeatures
from offline.study.evaluation.embedders import Embedders
from offline.study.evaluation.finding import Search
from offline.study.evaluation.task import LabelledTask
from offline.study.mechanisms import WHOLE
from offline.study.parts import Stage, scores_of


@pytest.fixture
def task() -> LabelledTask:
    looks = 4 * np.eye(6, dtype=np.float32)
    truth = tuple(np.repeat(order, 20) for order in ([1, 2, 3], [2, 1, 3], [1, 3, 2], [1, 2, 3]))
    rng = np.random.default_rng(0)
    rows = [looks[labels] + rng.normal(size=(60, 6)).astype(np.float32) for labels in truth]
    seen = tuple(RecordingFeatures(str(n), 2.0, np.arange(60) / 2, each) for n, each in enumerate(rows))
    return LabelledTask("made", "made", {1: "a", 2: "b", 3: "c"}, seen, truth)


@pytest.mark.parametrize(("stage", "parts"), [("finder", 10), ("carrying", 6), ("recognition", 3), ("live", 5)])
def test_every_part_is_scored_with_and_without(stage: Stage, parts: int, task: LabelledTask, tmp_path: Path) -> None:
    recipe = replace(resolve("default", None, {}), most_iterations=20)
    found = scores_of(stage, task, Search(recipe, Embedders(tmp_path, torch.device("cpu"))), seed=0)
    assert len(found) == parts
    assert all(0.0 <= value <= 1.0 for value in found.values())
    assert found[WHOLE] > 0.8

"""Every part of the finder has a row with and one without it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from offline.config import resolve
from offline.features import RecordingFeatures
from offline.study.evaluation.embedders import Embedders
from offline.study.evaluation.finding import Search
from offline.study.evaluation.task import LabelledTask
from offline.study.finder_parts import ONE_HEAD, SETTINGS, VIEWS, scores_of


def test_every_part_is_scored_with_and_without(tmp_path: Path) -> None:
    looks = 4 * np.eye(6, dtype=np.float32)
    truth = tuple(np.repeat(order, 20) for order in ([1, 2, 3], [2, 1, 3], [1, 3, 2], [1, 2, 3]))
    rng = np.random.default_rng(0)
    rows = [looks[labels] + rng.normal(size=(60, 6)).astype(np.float32) for labels in truth]
    seen = tuple(RecordingFeatures(str(n), 2.0, np.arange(60) / 2, each) for n, each in enumerate(rows))
    task = LabelledTask("made", "made", {1: "a", 2: "b", 3: "c"}, seen, truth)
    recipe = replace(resolve("default", None, {}), most_iterations=20)
    found = scores_of(task, Search(recipe, Embedders(tmp_path, torch.device("cpu"))), seed=0)
    assert set(found) == {*SETTINGS, *VIEWS, ONE_HEAD}
    assert found["all parts"] > 0.8

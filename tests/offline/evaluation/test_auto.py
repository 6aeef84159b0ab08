"""--k auto: the choice of training, refused while there is none."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

from guide.errors import InputError
from offline.config import Recipe
from offline.evaluation import auto
from offline.evaluation.embedders import Embedders
from offline.evaluation.finding import Search
from offline.evaluation.task import LabelledTask
from offline.features import RecordingFeatures


@dataclass(frozen=True)
class Choice:
    k: int
    reason: str


def chosen(monkeypatch: pytest.MonkeyPatch, choice: object, folder: Path) -> tuple[int, tuple[str, ...]]:
    module = ModuleType(auto.MODULE)
    module.choose_k = lambda collection, seed: choice  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, auto.MODULE, module)
    monkeypatch.setattr(Search, "collection", lambda self, task, loss, k, seed, tell: task.collection())
    seen = RecordingFeatures("a", 1.0, np.arange(4.0), np.zeros((4, 2), np.float32))
    task = LabelledTask("1", "tea", {1: "boil"}, (seen,), (np.array([0, 1, 1, 1]),))
    return auto.chosen_count(Search(Recipe(), Embedders(folder, torch.device("cpu"))), task)


def test_the_choice_may_be_a_number_or_come_with_its_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert chosen(monkeypatch, 5, tmp_path) == (5, ("K = 5 chosen without labels",))
    assert chosen(monkeypatch, Choice(6, "a knee"), tmp_path) == (6, ("K = 6 chosen: a knee",))


def test_without_a_choice_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "MODULE", "offline.keysteps.nobody_chooses")
    with pytest.raises(InputError, match="give --k true or a number"):
        auto.load_choice()


def test_a_broken_choice_is_our_own_fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "broken_choice.py").write_text("import nobody_has_this\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(auto, "MODULE", "broken_choice")
    with pytest.raises(ModuleNotFoundError, match="nobody_has_this"):
        auto.load_choice()

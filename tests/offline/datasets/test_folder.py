"""The data set in a folder is recognised by its files."""

from __future__ import annotations

from pathlib import Path

import pytest

from guide.errors import InputError
from offline.datasets.folder import choose_task, read_all
from offline.datasets.sequence import TaskSequences

TASKS = {"3": TaskSequences("Mug Pizza", (), ()), "tent": TaskSequences("tent", (), ())}


@pytest.mark.parametrize(("word", "name"), [("3", "Mug Pizza"), ("mug pizza", "Mug Pizza"), ("tent", "tent")])
def test_a_task_is_chosen_by_word_or_name(word: str, name: str) -> None:
    assert choose_task(TASKS, word).name == name


def test_an_unknown_task_is_answered_with_those_there_are() -> None:
    with pytest.raises(InputError, match=r"no task 'soup' here, there are 3 \(Mug Pizza\), tent: choose"):
        choose_task(TASKS, "soup")


def test_a_folder_of_neither_kind_is_refused(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InputError, match="holds neither"):
            read_all(folder)

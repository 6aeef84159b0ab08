"""The data set in a folder is recognised by its files."""

from __future__ import annotations

from pathlib import Path

import pytest

from guide.errors import InputError
from offline.study.datasets.folder import choose, read_all
from offline.study.datasets.sequence import TaskSequences
from tests.made_datasets import MAKERS, write

TASKS = {"3": TaskSequences("Mug Pizza", (), ()), "tent": TaskSequences("tent", (), ())}


@pytest.mark.parametrize(("word", "name"), [("3", "Mug Pizza"), ("mug pizza", "Mug Pizza"), ("tent", "tent")])
def test_a_task_is_chosen_by_word_or_name(word: str, name: str) -> None:
    ((_, task),) = choose(TASKS, [word], lambda one: one.name)
    assert task.name == name


@pytest.mark.parametrize("name", MAKERS)
def test_every_data_set_is_recognised(tmp_path: Path, name: str) -> None:
    make, word = MAKERS[name]
    ((_, task),) = choose(read_all(make(tmp_path)), [word], lambda one: one.name)
    assert task.recordings
    assert [step.number for step in task.steps] == list(range(1, len(task.steps) + 1))
    for recording in task.recordings:
        assert {segment.step for segment in recording.segments} <= {step.number for step in task.steps}
        assert max(segment.end for segment in recording.segments) <= recording.duration_s


def test_a_folder_of_no_kind_is_refused_in_one_sentence(tmp_path: Path) -> None:
    write(tmp_path / "ages.csv", "name,age,city\nann,3,rome\n")
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path, tmp_path / "empty"):
        with pytest.raises(InputError, match=r"holds no data set we know \(egoprocel\.json, .* check the path\.$"):
            read_all(folder)
    with pytest.raises(InputError, match="a data set folder was expected"):
        read_all(tmp_path / "nowhere")

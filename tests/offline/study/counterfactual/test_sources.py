"""Sources: labelled recordings of one task, and one sentence where there are none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from guide.errors import InputError
from offline.study.counterfactual.sources import Source, read_task
from offline.study.evaluation.recording_tasks import LabelRequest


def write(folder: Path, name: str, rows: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / f"{name}.npy", np.arange(8, dtype=np.float32)[:, None])
    (folder / f"{name}.csv").write_text(rows)


def test_features_with_labels_beside_them(tmp_path: Path) -> None:
    write(tmp_path / "task", "a", '0.0,2.0,"1 open"\n2.0,4.0,"2 close"\n')
    task = read_task(tmp_path / "task", None, 2.0, LabelRequest())
    assert task.names == {1: "open", 2: "close"}
    assert task.sources[0].labels.tolist() == [1] * 4 + [2] * 4
    assert (task.sources[0].suffix, task.sources[0].layout.steps) == (".npz", (1, 2))


def test_one_of_several_tasks_must_be_chosen(tmp_path: Path) -> None:
    for name in ("tea", "soup"):
        write(tmp_path / name, "a", '0.0,2.0,"1 open"\n2.0,4.0,"2 close"\n')
    with pytest.raises(InputError, match=r"holds 2 tasks .* choose one with --task"):
        read_task(tmp_path, None, 2.0, LabelRequest())
    assert len(read_task(tmp_path, "tea", 2.0, LabelRequest()).sources) == 1


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a folder of labelled recordings was expected"):
        read_task(tmp_path / "no", None, None, LabelRequest())


def test_features_are_written_with_their_rate(tmp_path: Path) -> None:
    source = Source("a", 4.0, np.arange(3) / 4, np.array([1, 1, 2]), features=np.arange(3, dtype=np.float16)[:, None])
    source.write(np.array([2, 0]), tmp_path / "new.npz")
    with np.load(tmp_path / "new.npz") as file:
        assert (file["features"].ravel().tolist(), float(file["rate"])) == ([2.0, 0.0], 4.0)
        assert file["features"].dtype == np.float16

"""A bundle against labels: its own segments score all, others less; bad labels are one sentence."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from guide.commands.entry import entry
from offline.score import ScoreOptions, main, score
from tests.tiny import Learned


@pytest.fixture
def labels(features_task: Learned, tmp_path: Path) -> Path:
    """What was found, as if a person had labelled it, for two of the three recordings."""
    folder = tmp_path / "labels"
    folder.mkdir()
    for name in ("a.csv", "b.csv"):
        shutil.copy(features_task.folder / "segments" / name, folder / name)
    return folder


def test_its_own_segments_score_all(features_task: Learned, labels: Path) -> None:
    standing = score(ScoreOptions(features_task.folder, labels))
    assert standing.recordings == 2
    assert standing.ours.f1 > 0.99
    assert standing.random.f1 < standing.ours.f1
    assert standing.equal.f1 < standing.ours.f1


def test_the_page_reads_one_object(features_task: Learned, labels: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(ScoreOptions(features_task.folder, labels, jsonl=True))
    plain = json.loads(capsys.readouterr().out)
    assert set(plain) == {"recordings", "ours", "equal", "random"}
    assert plain["ours"]["f1"] > 0.99


def test_words_for_people(features_task: Learned, labels: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(ScoreOptions(features_task.folder, labels))
    assert "equal time split" in capsys.readouterr().out


def test_a_folder_without_labels_is_one_sentence(
    features_task: Learned, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        entry(ScoreOptions, main, args=[str(features_task.folder), "--labels", str(tmp_path)])
    assert left.value.code == 2
    assert "named like a recording" in capsys.readouterr().err

"""CaptainCook4D: features, labels with overlaps resolved, mistakes."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pytest

from guide.domain import Labels, Segment
from guide.errors import InputError
from offline.metrics import protocol_d
from offline.study.datasets.captaincook import list_recipes, read_recipe, read_sequences

SHARED = os.environ.get("CNC_SHARED_DATA")


def step(step_id: int, description: str, start: float, end: float, *tags: str) -> dict[str, Any]:
    errors = {"errors": [{"tag": tag, "description": ""} for tag in tags]} if tags else {}
    return {"step_id": step_id, "description": description, "start_time": start, "end_time": end, **errors}


RECORDINGS = [
    {
        "recording_id": "3_1",
        "activity_id": 3,
        "is_error": False,
        "step_annotations": [step(30, "Pour", 4.2, 6.6), step(28, "Stir", 0.9, 4.6)],
    },
    {
        "recording_id": "3_2",
        "activity_id": 3,
        "is_error": True,
        "step_annotations": [
            step(28, "Stir", -1.0, -1.0, "Missing Step"),
            step(30, "Pour", 1.0, 3.0, "Measurement Error"),
        ],
    },
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "error_annotations_subset.json").write_text(json.dumps(RECORDINGS))
    names = {"3_1": {"activity_id": 3, "activity_name": "Mug Pizza"}}
    (tmp_path / "complete_step_annotations_subset.json").write_text(json.dumps(names))
    (tmp_path / "omnivore_f16").mkdir()
    for name, length in (("3_1", 8), ("3_2", 4)):
        np.save(tmp_path / "omnivore_f16" / f"{name}.npy", np.full((length, 1024), 0.5, dtype=np.float16))
    return tmp_path


def test_a_recipe(folder: Path) -> None:
    task = read_recipe(folder, 3)
    assert (task.number, task.name, task.missing) == (3, "Mug Pizza", ())
    assert [key_step.label for key_step in task.steps] == ["1 Stir", "2 Pour"]
    first, second = task.recordings
    assert first.features.shape == (8, 1024)
    assert first.features.dtype == np.float32
    assert first.labels.tolist() == [1, 1, 1, 1, 1, 2, 2, 0]  # frame 4: stirring is listed later and wins
    assert second.labels.tolist() == [0, 2, 2, 0]
    assert second.steps[1].mistakes == ("Measurement Error",)
    assert (first.is_error, second.is_error) == (False, True)
    assert task.clean == (first,)
    assert first.overlaps == 1


def test_missing_features_are_named_and_counted(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    (folder / "omnivore_f16" / "3_1.npy").unlink()
    with caplog.at_level(logging.WARNING):
        task = read_recipe(folder, 3)
    assert task.missing == ("3_1",)
    assert [recording.id for recording in task.recordings] == ["3_2"]
    assert "3_1 has annotations but no features" in caplog.text


def _archive(stream: BinaryIO) -> None:
    np.savez(stream, features=np.zeros((8, 1024), np.float16))


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (lambda stream: np.save(stream, np.zeros((8,), np.float16)), "T x 1024"),
        (lambda stream: np.save(stream, np.zeros((8, 512), np.float16)), "T x 1024"),
        (lambda stream: stream.write(b""), "an array"),
        (lambda stream: stream.write(b"not an array"), "an array"),
        (lambda stream: stream.write(b"PK\x03\x04 cut short"), "an array"),
        (_archive, "an array"),
    ],
)
def test_features_of_another_kind_are_refused(folder: Path, write: Callable[[BinaryIO], object], words: str) -> None:
    with (folder / "omnivore_f16" / "3_1.npy").open("wb") as stream:
        write(stream)
    with pytest.raises(InputError, match=rf"3_1\.npy should hold {words}"):
        read_recipe(folder, 3)


def test_features_that_cannot_be_opened_are_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(np, "load", refuse)
    with pytest.raises(InputError, match=r"\.npy should hold an array .*Input/output error"):
        read_recipe(folder, 3)


def test_sequences_are_by_start_with_mistakes_and_skips(folder: Path) -> None:
    task = read_sequences(folder, 3)
    assert task.recordings[0].segments == (Segment(1, 0.9, 4.6), Segment(2, 4.2, 6.6))
    assert task.recordings[0].duration_s == 8.0
    assert task.recordings[1].mistakes == (("Measurement Error",),)
    assert task.recordings[1].skipped == (1,)
    assert [sequence.id for sequence in read_sequences(folder, 3, clean_only=True).recordings] == ["3_1"]


def test_sequences_do_not_need_features(folder: Path) -> None:
    for path in (folder / "omnivore_f16").iterdir():
        path.unlink()
    assert read_sequences(folder, 3).recordings[0].duration_s == 6.6


def equal_split(frames: int, k: int) -> Labels:
    return 1 + np.arange(frames, dtype=np.int64) * k // frames


@pytest.mark.skipif(SHARED is None, reason="CNC_SHARED_DATA does not point to the real data")
@pytest.mark.parametrize(
    ("recipe", "recordings", "clean", "steps", "f1"),
    [(1, 18, 5, 12, 36.8), (3, 13, 5, 14, 44.4), (12, 18, 11, 9, 30.6)],
)
def test_equal_split_on_the_real_recordings(recipe: int, recordings: int, clean: int, steps: int, f1: float) -> None:
    """Acceptance of protocol D: the known floors of the three recipes."""
    task = read_recipe(Path(str(SHARED)) / "captaincook4d", recipe)
    assert (len(task.recordings), len(task.clean), len(task.steps)) == (recordings, clean, steps)
    truth = [recording.labels for recording in task.clean]
    score = protocol_d(truth, [equal_split(len(labels), steps) for labels in truth])
    assert 100 * score.f1 == pytest.approx(f1, abs=0.05)


@pytest.mark.skipif(SHARED is None, reason="CNC_SHARED_DATA does not point to the real data")
def test_the_real_recipes() -> None:
    recipes = list_recipes(Path(str(SHARED)) / "captaincook4d")
    assert recipes == {1: "Microwave Egg Sandwich", 3: "Microwave Mug Pizza", 12: "Tomato Mozzarella Salad"}

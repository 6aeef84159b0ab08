"""The annotation files: checked at the door, steps renumbered from 1."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from guide.errors import InputError
from offline.study.datasets.captaincook_annotations import AnnotationSheet


def step(step_id: int, description: str, start: float, end: float, *tags: str) -> dict[str, Any]:
    errors = {"errors": [{"tag": tag, "description": ""} for tag in tags]} if tags else {}
    return {"step_id": step_id, "description": description, "start_time": start, "end_time": end, **errors}


def write(folder: Path, recordings: Any) -> Path:
    (folder / "error_annotations_subset.json").write_text(json.dumps(recordings))
    names = {"12_1": {"activity_id": 12, "activity_name": "Salad"}}
    (folder / "complete_step_annotations_subset.json").write_text(json.dumps(names))
    return folder


def recording(*steps: dict[str, Any], id_: str = "12_1", is_error: bool = False) -> dict[str, Any]:
    return {"recording_id": id_, "activity_id": 12, "is_error": is_error, "step_annotations": list(steps)}


def test_steps_are_numbered_from_1_and_named_by_the_usual_words(tmp_path: Path) -> None:
    entries = [
        recording(step(121, "Slice ", 5, 9), step(119, "Rinse", 1, 4)),
        recording(step(121, "Slice", 0, 3), step(119, "Slice", 4, 5), id_="12_2"),
        recording(step(119, "Rinse", 0, 3), id_="12_3"),
    ]
    sheet = AnnotationSheet(write(tmp_path, entries))
    assert {number: key_step.label for number, key_step in sheet.key_steps(12).items()} == {
        119: "1 Rinse",
        121: "2 Slice",
    }
    assert sheet.recipes == {12: "Salad"}


def test_an_unknown_recipe_is_answered_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"recipe 3 is not in .* it holds 12 \(Salad\)"):
        AnnotationSheet(write(tmp_path, [recording(step(1, "Rinse", 0, 1))])).recordings(3)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"a": 1}, "garbles a field"),
        ([{"recording_id": "12_1"}], "KeyError"),
        ([recording(step(1, "Rinse", 5, 4))], "recording 12_1, step 1: it ends before it starts"),
        (7, "garbles a field"),
    ],
)
def test_damaged_annotations_are_named(tmp_path: Path, content: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        AnnotationSheet(write(tmp_path, content))


def test_damaged_names_are_named(tmp_path: Path) -> None:
    write(tmp_path, [])
    (tmp_path / "complete_step_annotations_subset.json").write_text("[]")
    with pytest.raises(InputError, match="should name the recipe"):
        AnnotationSheet(tmp_path)

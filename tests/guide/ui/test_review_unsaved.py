"""Labels that nobody saved yet: found again after a reload, left alone where they fit no longer."""

from __future__ import annotations

from pathlib import Path

import pytest

from guide.domain import KeyStep, Segment
from guide.ui import review_unsaved
from guide.ui.review_unsaved import Unsaved

LABELS = Unsaved((Segment(1, 0.0, 2.5), Segment(9, 3.0, 4.0)), (KeyStep(9, "wipe <b>dust</b>"),))


def test_what_was_drawn_is_found_again_until_it_is_saved(tmp_path: Path) -> None:
    review_unsaved.keep(tmp_path, "../01", "a 0", LABELS)
    assert review_unsaved.read(tmp_path, "../01", "a 0", 5.0, [1, 2]) == LABELS
    assert review_unsaved.read(tmp_path, "02", "a 0", 5.0, [1, 2]) is None
    assert {path.parent for path in tmp_path.rglob("*.json")} == {tmp_path / "unsaved"}
    review_unsaved.forget(tmp_path, "../01")
    assert review_unsaved.read(tmp_path, "../01", "a 0", 5.0, [1, 2]) is None
    review_unsaved.forget(tmp_path, "../01")


def test_labels_upon_another_state_of_the_review_are_left_alone(tmp_path: Path) -> None:
    review_unsaved.keep(tmp_path, "01", "a 0", LABELS)
    assert review_unsaved.read(tmp_path, "01", "a 1", 5.0, [1, 2]) is None


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"began": "a 0"}', '{"began": "a 0", "steps": [[1]], "segments": []}',
     '{"began": "a 0", "steps": [["x", 3]], "segments": []}', '{"began": "a 0", "steps": [], "segments": 7}',
     '{"began": "a 0", "steps": [], "segments": [[1, 0, 2], [1, 1, 3]]}'],
)  # fmt: skip
def test_a_file_that_makes_no_sense_is_left_alone(text: str, tmp_path: Path) -> None:
    review_unsaved.keep(tmp_path, "01", "a 0", LABELS)
    [path] = tmp_path.rglob("*.json")
    path.write_text(text)
    assert review_unsaved.read(tmp_path, "01", "a 0", 5.0, [1, 2]) is None


def test_a_disk_that_refuses_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "unsaved").write_text("in the way")
    review_unsaved.keep(tmp_path, "01", "a 0", LABELS)
    assert review_unsaved.read(tmp_path, "01", "a 0", 5.0, [1, 2]) is None

"""The order checker on a data set: rows by hand, graphs against the truth, one sentence for what is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from guide.domain import KeyStep, Precedence
from guide.errors import InputError
from guide.procedure.model import Procedure
from offline.study.order import Config, graph_f1, read_graph, run

NAMES = ("Stir", "Pour", "Heat")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four recordings in the right order and one with the last two steps exchanged."""
    orders = {f"3_{number}": (0, 1, 2) for number in range(4)} | {"3_9": (0, 2, 1)}
    recordings = []
    for name, order in orders.items():
        tags = {"errors": [{"tag": "Order Error", "description": ""}]} if name == "3_9" else {}
        steps = [
            {"step_id": step, "description": NAMES[step], "start_time": 3.0 * at, "end_time": 3.0 * at + 2}
            | (tags if step else {})
            for at, step in enumerate(order)
        ]
        recordings.append({"recording_id": name, "activity_id": 3, "is_error": bool(tags), "step_annotations": steps})
    (tmp_path / "error_annotations_subset.json").write_text(json.dumps(recordings))
    names = {name: {"activity_id": 3, "activity_name": "Mug Pizza"} for name in orders}
    (tmp_path / "complete_step_annotations_subset.json").write_text(json.dumps(names))
    (tmp_path / "omnivore_f16").mkdir()
    for name in orders:
        np.save(tmp_path / "omnivore_f16" / f"{name}.npy", np.full((12, 1024), 0.5, dtype=np.float16))
    (tmp_path / "task_graphs").mkdir()
    numbered = {"0": "START", "1": "Stir", "2": "Pour", "3": "Heat", "4": "END"}
    graph = {"steps": numbered, "edges": [[0, 1], [1, 2], [2, 3], [1, 3], [3, 4]]}
    (tmp_path / "task_graphs" / "mugpizza.json").write_text(json.dumps(graph))
    return tmp_path


def test_a_recipe_has_its_row(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(Config(folder))
    row = next(line for line in capsys.readouterr().out.splitlines() if "Mug Pizza" in line)
    assert [cell.strip() for cell in row.split("│")[1:-1]] == [
        "3 Mug Pizza", "4 / 1", "100.0", "100.0", "100.0", "66.7", "25.0", "100.0", "100.0", "0.00", "0.00", "100.0",
    ]  # fmt: skip


def test_a_graph_is_compared_reduced() -> None:
    pairs = tuple(Precedence(first, then, 3, 3) for first, then in ((1, 2), (2, 3), (1, 3)))
    task = Procedure(tuple(KeyStep(number, name) for number, name in enumerate(NAMES, 1)), 3, precedences=pairs)
    assert graph_f1(task, [("Stir", "Pour"), ("Pour", "Heat"), ("Stir", "Heat")]) == 1.0
    assert graph_f1(task, [("Stir", "Heat"), ("Pour", "Heat")]) == 0.5, "one of two edges on either side"
    assert graph_f1(task, []) == 0.0


@pytest.mark.parametrize("text", ["[]", '{"steps": {"0": "a"}, "edges": [[0, 7]]}', '{"steps": {}}'])
def test_what_is_no_graph_is_one_sentence(text: str, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(InputError, match="steps by number and edges"):
        read_graph(tmp_path / "bad.json")


def test_a_recipe_that_is_not_there(folder: Path) -> None:
    with pytest.raises(InputError, match="no recipe 7"):
        run(Config(folder, tasks=(7,)))

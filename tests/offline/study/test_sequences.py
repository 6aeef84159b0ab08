"""True step sequences as JSON lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from guide.domain import KeyStep, Segment
from guide.errors import InputError
from guide.procedure.sequences import parse_sequences
from offline.study.datasets.sequence import StepSequence, TaskSequences
from offline.study.sequences import Config, run, to_line
from tests.made_datasets import MAKERS, make_egoprocel, make_egoprocel_json

STEPS = (KeyStep(1, "Stir"), KeyStep(2, "Pour"))
CLEAN = StepSequence("a", 9.0, (Segment(2, 0.5, 4.0), Segment(1, 5.0, 8.25)))
WRONG = StepSequence("b", 9.0, (Segment(2, 0.5, 4.0),), mistakes=(("Order Error",),), skipped=(1,))
TASK = TaskSequences("Tea", STEPS, (CLEAN, WRONG))


def test_a_clean_recording() -> None:
    assert json.loads(to_line(CLEAN, TASK)) == {
        "id": "a",
        "steps": [{"name": "Pour", "start": 0.5, "end": 4.0}, {"name": "Stir", "start": 5.0, "end": 8.25}],
    }


def test_a_recording_with_mistakes() -> None:
    assert json.loads(to_line(WRONG, TASK)) == {
        "id": "b",
        "steps": [
            {"name": "Pour", "start": 0.5, "end": 4.0, "tags": ["Order Error"], "mistake": True},
            {"name": "Stir", "start": -1.0, "end": -1.0},
        ],
    }


def test_only_the_chosen_tag_makes_a_mistake() -> None:
    steps = json.loads(to_line(WRONG, TASK, "Timing Error"))["steps"]
    assert "mistake" not in steps[0]
    assert steps[0]["tags"] == ["Order Error"]


def test_the_order_checker_reads_it() -> None:
    wrong = parse_sequences([to_line(WRONG, TASK)], "a file")[0]
    assert wrong.left_out == ("Stir",)
    assert wrong.done[0].is_mistake


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "pc.jsonl"
    run(Config(make_egoprocel_json(tmp_path / "data"), task="pc_assembly", out=out))
    assert json.loads(out.read_text())["steps"] == [{"name": "fit board", "start": 1.0, "end": 2.9}]
    assert "1 recordings, 1 steps of pc_assembly" in capsys.readouterr().out
    with pytest.raises(InputError, match="no task 'tea'"):
        run(Config(tmp_path / "data", task="tea", out=out))


@pytest.mark.parametrize("name", MAKERS)
def test_every_data_set_gives_sequences_the_order_checker_reads(tmp_path: Path, name: str) -> None:
    make, word = MAKERS[name]
    out = tmp_path / "out.jsonl"
    run(Config(make(tmp_path / "data"), task=word, out=out))
    read = parse_sequences(out.read_text().splitlines(), "out.jsonl")
    assert read
    assert all(sequence.done for sequence in read)


def test_one_view_and_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.jsonl"
    run(Config(make_egoprocel(tmp_path / "data"), task="Brownie.cmu", out=out, view="top"))
    assert json.loads(out.read_text())["id"] == "S07_Brownie_7151020-11"
    assert "missing: S08_Brownie has no view top" in capsys.readouterr().out
    with pytest.raises(InputError, match="has no view 'side'"):
        run(Config(tmp_path / "data", task="Brownie.cmu", out=out, view="side"))

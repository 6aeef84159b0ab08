"""The procedure for machines: its document names every field, and a program written from the document works."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from guide.domain import KeyStep, Segment
from guide.procedure.export import to_dot, to_plain
from guide.procedure.learn import learn_procedure
from guide.procedure.model import Procedure

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "procedure.md"
ORDERS = [(1, 2, 3), (1, 3, 2), (1, 2, 3)]


def learnt() -> Procedure:
    sequences = [[Segment(step, place, place + 0.5) for place, step in enumerate(order)] for order in ORDERS]
    return learn_procedure(sequences, (KeyStep(1, "cut"), KeyStep(2, 'say "so"'), KeyStep(3, "a\\b\nc")))


def fields(value: Any, before: str = "") -> set[str]:
    """Every key of an object, those of its inner objects among them."""
    if isinstance(value, list):
        return {key for one in value for key in fields(one, before)}
    if not isinstance(value, dict):
        return set()
    return set(value) | {key for one in value.values() for key in fields(one)}


def test_the_document_names_every_field() -> None:
    words = set(re.findall(r"[a-z_]+", " ".join(re.findall(r"`([^`]*)`", DOCUMENT.read_text(encoding="utf-8")))))
    assert fields(to_plain(learnt())) <= words


def test_precedence_orderings_and_durations_by_hand() -> None:
    plain = json.loads(json.dumps(to_plain(learnt()), allow_nan=False))
    assert plain["orderings"] == [{"steps": [1, 2, 3], "count": 2}, {"steps": [1, 3, 2], "count": 1}]
    assert [2, 3, 2, 3] in plain["precedence"]
    assert [3, 2, 1, 3] in plain["precedence"]
    assert plain["steps"][0]["seen"] == {"present": 3, "repeated": 0, "most_visits": 1, "durations_s": [0.5] * 5}


def test_the_program_in_the_document_carries_it_out(tmp_path: Path) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    place = tmp_path / "exported" / "NAME" / "procedure.json"
    place.parent.mkdir(parents=True)
    place.write_text(json.dumps(to_plain(learnt())), encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert ran.stdout == "[1, 2, 3]\n", ran.stderr


def test_the_drawing_holds_every_name_on_one_line_and_only_what_always_held() -> None:
    lines = to_dot(learnt()).splitlines()
    assert '  2 [label="2 say \\"so\\""];' in lines
    assert '  3 [label="3 a\\\\b c"];' in lines
    assert [line for line in lines if "->" in line] == ['  1 -> 2 [label="3 of 3"];', '  1 -> 3 [label="3 of 3"];']

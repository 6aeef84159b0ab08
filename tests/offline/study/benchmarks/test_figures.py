"""Figures know their limits and say so in text and JSON."""

from __future__ import annotations

import json

import pytest

from guide.benchmarks.figures import Figure, Part
from offline.study.benchmarks.figures import machine, report


@pytest.mark.parametrize(
    ("figure", "verdict"),
    [
        (Figure("plain", 1.0), ""),
        (Figure("fast", 3.0, least=3.0), "ok"),
        (Figure("slow", 2.9, least=3.0), "MISSED"),
        (Figure("small", 1.3, most=1.3), "ok"),
        (Figure("large", 1.31, most=1.3), "MISSED"),
    ],
)
def test_verdicts(figure: Figure, verdict: str) -> None:
    assert figure.verdict == verdict


def test_a_missed_limit_stands_in_the_text_and_in_the_json() -> None:
    part = Part("Race", "somewhere", (Figure("times faster", 2.0, least=3.0),), ("a note",))
    assert part.text().splitlines()[1].split() == ["times", "faster", "2", "at", "least", "3", "MISSED"]
    assert part.text().splitlines()[2].strip() == "a note"
    written = json.loads(json.dumps(report([part])))
    assert written["machine"] == machine()
    assert written["parts"][0]["figures"][0]["verdict"] == "MISSED"


def test_a_part_without_figures_is_only_its_notes() -> None:
    assert Part("Step", "here", (), ("needs a GPU",)).text() == "Step, here\n  needs a GPU"


def test_the_machine_in_words() -> None:
    assert "core" in machine()
    assert "torch" in machine()

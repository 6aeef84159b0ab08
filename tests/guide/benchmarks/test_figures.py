"""Figures know their limits."""

from __future__ import annotations

import json

import pytest

from guide.benchmarks.figures import Figure, Part


@pytest.mark.parametrize(
    ("figure", "verdict"),
    [
        (Figure("plain", 1.0), ""),
        (Figure("fast", 3.0, least=3.0), "ok"),
        (Figure("slow", 2.9, least=3.0), "MISSED"),
        (Figure("small", 1.3, most=1.3), "ok"),
        (Figure("large", 1.31, most=1.3), "MISSED"),
        (Figure("between", 92.1, least=75.0, most=92.0), "MISSED"),
    ],
)
def test_verdicts(figure: Figure, verdict: str) -> None:
    assert figure.verdict == verdict
    assert (figure.wanted == "75 to 92") == (figure.name == "between")


def test_a_part_as_json() -> None:
    part = Part("Race", "here", (Figure("times", 2.0, least=3.0),), ("a note",))
    written = json.loads(json.dumps(part.as_json()))
    assert written["figures"][0]["verdict"] == "MISSED"
    assert written["notes"] == ["a note"]


def test_a_part_without_figures_is_only_its_notes() -> None:
    assert Part("Step", "here", (), ("needs a GPU",)).text() == "Step, here\n  needs a GPU"

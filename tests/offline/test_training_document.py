"""docs/training.md names what can be chosen, and what a training writes."""

from __future__ import annotations

from pathlib import Path

from offline.curves import METRICS
from offline.keysteps.registry import FINDERS
from offline.losses.registry import LOSS_NAMES

TEXT = (Path(__file__).parents[2] / "docs" / "training.md").read_text(encoding="utf-8")


def test_names_that_can_be_chosen_are_real() -> None:
    assert all(f"`{name}`" in TEXT for name in LOSS_NAMES)
    assert {"correspond", "pcm"} <= set(FINDERS)
    assert METRICS in TEXT

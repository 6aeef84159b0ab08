"""docs/training.md tells every setting with the defaults the code has."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from offline.config import PRESETS, Recipe
from offline.curves import METRICS
from offline.keysteps.registry import FINDERS
from offline.losses.registry import LOSS_NAMES

TEXT = (Path(__file__).parents[2] / "docs" / "training.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `(\w+)` \| (\S+) \| (\S+) \| (.+) \|$", re.MULTILINE)


def shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


@pytest.mark.parametrize("name", [field.name for field in fields(Recipe)])
def test_every_key_stands_there_with_its_defaults(name: str) -> None:
    told = {key: (default, paper) for key, default, paper, _ in ROW.findall(TEXT)}
    values = shown(getattr(PRESETS["default"], name)), shown(getattr(PRESETS["paper"], name))
    assert told.get(name) == values, f"write the row: | `{name}` | {values[0]} | {values[1]} | what it means |"


def test_no_key_is_told_that_does_not_exist() -> None:
    assert {key for key, *_ in ROW.findall(TEXT)} == {field.name for field in fields(Recipe)}


def test_names_that_can_be_chosen_are_real() -> None:
    assert all(f"`{name}`" in TEXT for name in LOSS_NAMES)
    assert {"correspond", "pcm"} <= set(FINDERS)
    assert METRICS in TEXT

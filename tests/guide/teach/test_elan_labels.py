"""Which tier of an ELAN file holds the steps, and which numbers they get."""

from __future__ import annotations

from pathlib import Path

import pytest

from guide.errors import InputError
from guide.record.elan import Annotation, ElanFile, Tier, write_elan
from guide.teach.elan_labels import choose_tier, label_cells, number_names, read_values

ONE = (Annotation(0.0, 1.0, "a"),)


@pytest.mark.parametrize(
    ("tiers", "tier", "chosen"),
    [
        ([Tier("work", ONE)], None, "work"),
        ([Tier("work", ONE), Tier("empty", ())], None, "work"),
        ([Tier("notes", ONE), Tier("Key_Steps", ONE)], None, "Key_Steps"),
        ([Tier("notes", ONE), Tier("steps", ONE)], "notes", "notes"),
        ([Tier("empty", ())], None, ""),
        ([], None, ""),
    ],
)
def test_the_tier_is_chosen(tiers: list[Tier], tier: str | None, chosen: str) -> None:
    assert choose_tier(ElanFile(tuple(tiers)), "a.eaf", tier).name == chosen


@pytest.mark.parametrize(
    ("tiers", "tier", "sentence"),
    [
        ([Tier("left", ONE), Tier("right", ONE)], None, "one tier of steps, it has the tiers 'left', 'right': choose"),
        ([Tier("steps", ONE), Tier("step", ONE)], None, "one tier of steps"),
        ([Tier("left", ONE)], "steps", "should hold a tier 'steps', it has the tiers 'left'"),
    ],
)
def test_no_telling_is_said(tiers: list[Tier], tier: str | None, sentence: str) -> None:
    with pytest.raises(InputError, match=f"a.eaf.*{sentence}"):
        choose_tier(ElanFile(tuple(tiers)), "a.eaf", tier)


def test_names_are_numbered_as_they_first_come_over_all_files(tmp_path: Path) -> None:
    write_elan(tmp_path / "a.eaf", [Tier("s", (Annotation(5.0, 6.0, "glue"), Annotation(0.0, 1.0, "cut")))])
    write_elan(tmp_path / "b.eaf", [Tier("s", (Annotation(0.0, 1.0, "paint"), Annotation(1.0, 2.0, "Cut ")))])
    values = read_values([tmp_path / "a.eaf", tmp_path / "b.eaf"])
    assert number_names(values) == {"cut": 1, "glue": 2, "paint": 3}


def test_values_with_numbers_keep_them_and_mixed_ones_are_left_to_the_checks() -> None:
    file = ElanFile((Tier("s", (Annotation(0.0, 1.0, "3 cut", 7), Annotation(1.0, 2.5, "glue", 8))),))
    numbers = number_names(["3 cut", "glue"])
    assert label_cells(file, Path("a.eaf"), None, numbers) == [
        (7, ["0.000", "1.000", "3 cut"]),
        (8, ["1.000", "2.500", "glue"]),
    ]


def test_a_name_may_start_with_a_number_word_of_its_own() -> None:
    assert number_names(["2", ""]) == {"2": 1}

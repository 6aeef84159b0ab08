"""Tables of flags, worked out by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.table import Table

from offline.study.flag_tables import (
    POOLED,
    agreement_table,
    area_under_curve,
    fault_table,
    missed_table,
    told_table,
    world_table,
)
from offline.study.keep import Plain


def followed(kind: str, found: int, flags: int, **more: str | float | None) -> Plain:
    is_clean = kind == "none"
    row: Plain = {
        "task": "tea", "seed": 7, "labelled": "all", "priors": "on", "kind": kind, "planted": kind, "wrong": "",
        "faults": int(not is_clean), "found": found, "flags": flags, "clean": int(is_clean),
        "clean_alarms": flags if is_clean else 0, "late_s": 2.0 if found else None, "word_s": None, "name_s": None,
        "word_steps": None, "questions": 1,
    }  # fmt: skip
    return {**row, **more}


def cells(table: Table) -> list[list[str]]:
    return [list(row) for row in zip(*(column.cells for column in table.columns), strict=True)]


def test_flags_are_counted_over_recordings() -> None:
    rows = [
        followed("none", 0, 1),
        followed("none", 0, 0),
        followed("missed", 1, 1, late_s=4.0, word_s=3.0, word_steps=0.5),
        followed("missed", 0, 2),
        followed("out_of_order", 1, 1, late_s=1.0, word_s=1.0, word_steps=0.25),
        {**followed("shuffled", 0, 0), "agreement": 0.5},
    ]
    table = fault_table(rows, "", ("labelled", "priors"))
    assert cells(table) == [
        ["tea", "all", "on", "0.40", "0.67", "1 of 2", "1 of 1", "0 of 0", "0.50", "2.50", "2.00", "0.38", "1.0"],
    ]


def test_rows_come_by_number_of_labels_and_tasks_are_summed_up() -> None:
    rows = [followed("missed", 1, 1, labelled=count, task=task) for task in "ab" for count in ("all", "10", "2", "0")]
    found = cells(fault_table(rows, "", ("labelled",)))
    assert [row[:2] for row in found] == [
        [task, count] for task in ("a", "b", POOLED) for count in ("0", "2", "10", "all")
    ]
    assert found[-1][4] == "2 of 2"


def test_nothing_flagged_is_no_precision() -> None:
    (row,) = cells(fault_table([followed("missed", 0, 0)], "", ()))
    assert row[1:3] == ["-", "0.00"]
    assert row[6:10] == ["-"] * 4, "without clean recordings there is no rate, without hits no delay"


def test_agreement_is_a_mean_over_recordings() -> None:
    rows: list[Plain] = [
        {"task": "tea", "labelled": "1", "kind": "shuffled", "agreement": share} for share in (0.75, 1.0, None)
    ]
    assert cells(agreement_table(rows, "", ("labelled",))) == [["tea", "1", "2", "0.875", "0.750"]]


def test_missed_steps_are_scored_step_by_step() -> None:
    truth = [(True, True, 0.9, 0.2), (True, False, 0.4, 0.8), (False, True, 0.5, 0.1), (False, False, 0.1, 0.3)]
    rows: list[Plain] = [
        {"task": "tea", "kind": "mistaken", "is_missed": m, "is_flagged": f, "certainty": c, "unseen": u}
        for m, f, c, u in truth
    ]
    assert cells(missed_table(rows, "", ())) == [["tea", "4", "2", "2", "0.50", "0.50", "0.50", "0.75", "0.75"]]


SCORES = st.lists(st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.booleans()), max_size=12)


@settings(derandomize=True, deadline=None)
@given(SCORES)
def test_the_area_is_the_chance_that_a_positive_scores_higher(pairs: list[tuple[float, bool]]) -> None:
    positive, negative = ([score for score, is_positive in pairs if is_positive == side] for side in (True, False))
    found = area_under_curve([score for score, _ in pairs], [is_positive for _, is_positive in pairs])
    if not positive or not negative:
        assert np.isnan(found)
    else:
        wins = [(one > other) + 0.5 * (one == other) for one, other in product(positive, negative)]
        assert found == pytest.approx(np.mean(wins))


WORLD = [
    followed("missed", 1, 1, word_s=2.0, name_s=2.0),
    followed("out_of_order", 0, 0, planted="4 before 3"),
    followed("out_of_order", 1, 1, late_s=7.0, word_s=1.5, name_s=1.0),
    followed("none", 0, 1, wrong="repeated 2"),
]


def test_worlds_stand_apart_and_together() -> None:
    other = [{**one, "seed": 8} for one in WORLD[:1]]
    two = [{**one, "labelled": "2"} for one in WORLD[1:2]]
    found = cells(world_table([*WORLD, *other, *two], ""))
    assert [row[:2] for row in found] == [["all", "7"], ["all", "8"], ["all", "together"], ["2", "7"]]
    assert found[0][2:] == ["0.67", "0.67", "1 of 1", "1 of 2", "1.00", "4.50", "1.75", "1.50", "1.0"]
    assert found[3][2:] == ["-", "0.00", "0 of 0", "0 of 1", "-", "-", "-", "-", "1.0"]


def test_what_was_not_found_is_told_with_how_often() -> None:
    told = told_table([*WORLD, WORLD[1], followed("missed", 0, 2, planted="missed 1", wrong="missed 2, 9 before 8")])
    assert cells(told) == [["all", "7", "4 before 3 (2), missed 1", "repeated 2, missed 2, 9 before 8"]]

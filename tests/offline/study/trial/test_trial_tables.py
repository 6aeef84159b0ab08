"""Tables count what was found, world by world and together."""

from __future__ import annotations

import io

from rich.console import Console
from rich.table import Table

from offline.study.keep import Plain
from offline.study.trial.trial_tables import cells, flag_table, groups, told_table


def row(kind: str, planted: str, found: int, wrong: str = "", **more: str | float | None) -> Plain:
    flags = found + len([word for word in wrong.split(", ") if word])
    is_clean = kind == "none"
    return {
        "seed": 7, "labelled": "2", "kind": kind, "planted": planted, "wrong": wrong, "late_s": None, "word_s": None,
        "name_s": None,
        "questions": 0, "faults": int(not is_clean), "found": found, "flags": flags, "clean": int(is_clean),
        "clean_alarms": flags if is_clean else 0, **more,
    }  # fmt: skip


ROWS = [
    row("missed", "missed 3", 1, late_s=2.0, word_s=2.0, name_s=2.0),
    row("out_of_order", "4 before 3", 0),
    row("out_of_order", "4 before 3", 1, late_s=7.0, word_s=1.5, name_s=1.0),
    row("none", "", 0, "repeated 2", questions=1),
]


def printed(table: Table) -> str:
    out = io.StringIO()
    Console(file=out, width=150).print(table)
    return out.getvalue()


def test_cells_count_what_was_found() -> None:
    assert cells(ROWS) == ["0.67", "0.67", "1 of 1", "1 of 2", "1.00", "4.5", "1.8", "1.5", "0.2"]
    assert cells([row("missed", "missed 3", 0)]) == ["-", "0.00", "0 of 1", "0 of 0", "0.00", "-", "-", "-", "0.0"]


def test_worlds_stand_apart_and_together() -> None:
    other = [{**one, "seed": 8} for one in ROWS[:1]]
    all_labelled = [{**one, "labelled": "all"} for one in ROWS[1:2]]
    found = groups([*ROWS, *other, *all_labelled])
    assert [(labelled, world, len(some)) for labelled, world, some in found] == [
        ("2", "7", 4), ("2", "8", 1), ("2", "together", 5), ("all", "7", 1),
    ]  # fmt: skip
    table = printed(flag_table([*ROWS, *other], "flags"))
    assert [line.split()[3] for line in table.splitlines() if " 2 " in line and "│" in line] == ["7", "8", "together"]


def test_what_was_not_found_is_told_with_how_often() -> None:
    told = printed(told_table([*ROWS, ROWS[1], row("missed", "missed 1", 0, "missed 2, 9 before 8")]))
    assert "4 before 3 (2), missed 1" in told
    assert "repeated 2, missed 2, 9 before 8" in told
    assert "missed 3" not in told, "it was found"
    two = printed(told_table([*ROWS, {**ROWS[1], "seed": 8}]))
    assert "together" not in two

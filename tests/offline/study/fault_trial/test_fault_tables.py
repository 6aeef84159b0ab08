"""Tables, worked out by hand."""

from __future__ import annotations

from rich.table import Table

from offline.study.fault_trial.fault_tables import POOLED, agreement_table, flag_table, missed_table
from offline.study.keep import Plain


def followed(kind: str, found: int, flags: int, **more: str | float | None) -> Plain:
    is_clean = kind == "none"
    row: Plain = {
        "task": "tea", "labelled": "all", "priors": "on", "kind": kind,
        "faults": int(not is_clean), "found": found, "flags": flags, "clean": int(is_clean),
        "clean_alarms": flags if is_clean else 0, "late_s": 2.0 if found else None, "questions": 1,
    }  # fmt: skip
    return {**row, **more}


def cells(table: Table) -> list[list[str]]:
    return [list(row) for row in zip(*(column.cells for column in table.columns), strict=True)]


def test_flags_are_counted_over_recordings() -> None:
    rows = [
        followed("none", 0, 1),
        followed("none", 0, 0),
        followed("missed", 1, 1, late_s=4.0),
        followed("missed", 0, 2),
        followed("out_of_order", 1, 1, late_s=1.0),
        {**followed("shuffled", 0, 0), "agreement": 0.5},
    ]
    table = flag_table(rows, "", ("labelled", "priors"))
    assert cells(table) == [
        ["tea", "all", "on", "0.40", "0.67", "1 of 2", "1 of 1", "0 of 0", "0.50", "2.5", "1.0"],
    ]


def test_rows_come_by_number_of_labels_and_tasks_are_summed_up() -> None:
    rows = [followed("missed", 1, 1, labelled=count, task=task) for task in "ab" for count in ("all", "10", "2", "0")]
    found = cells(flag_table(rows, "", ("labelled",)))
    assert [row[:2] for row in found] == [
        [task, count] for task in ("a", "b", POOLED) for count in ("0", "2", "10", "all")
    ]
    assert found[-1][4] == "2 of 2"


def test_nothing_flagged_is_no_precision() -> None:
    (row,) = cells(flag_table([followed("missed", 0, 0)], "", ()))
    assert row[1:3] == ["-", "0.00"]
    assert row[6:8] == ["-", "-"], "without clean recordings there is no rate, without hits no delay"


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


def test_an_empty_table_has_no_rows() -> None:
    assert flag_table([], "", ("labelled",)).row_count == 0
    assert missed_table([], "", ()).row_count == 0

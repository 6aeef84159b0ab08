"""The paper's tables are complete and agree with each other where they repeat a number."""

from __future__ import annotations

import pytest

from offline.study import published
from offline.study.published import (
    CLUSTERERS,
    EGOPROCEL,
    KEY_STEP_COUNTS,
    KEY_STEP_COUNTS_MORE,
    LOSSES,
    LOSSES_MORE,
    STATISTICS,
    SUCCESSORS,
    VIEWS,
    PublishedTable,
)

TABLES = {name: table for name, table in vars(published).items() if isinstance(table, PublishedTable)}


@pytest.mark.parametrize("name", TABLES)
def test_every_row_fills_every_column_once(name: str) -> None:
    table = TABLES[name]
    assert all(len(values) == len(table.columns) for _, values in table.rows)
    assert len(dict(table.rows)) == len(table.rows)
    assert len(set(table.columns)) == len(table.columns)


def test_cnc_is_the_same_in_all_tables() -> None:
    for ablation, counts in ((LOSSES, KEY_STEP_COUNTS), (LOSSES_MORE, KEY_STEP_COUNTS_MORE)):
        for column in (each for each in ablation.columns if each.endswith(" F1")):
            score = EGOPROCEL.value("CnC", column)
            assert ablation.value("TC3I + PCM", column) == score
            assert counts.value("CnC", column.replace("F1", "K = 7")) == score
    assert VIEWS.value("Egocentric", "F1") == EGOPROCEL.value("CnC", "CMU-MMAC F1")
    assert CLUSTERERS.value("CnC", "CMU-MMAC F1") == pytest.approx(VIEWS.value("Egocentric", "F1"), abs=0.05)


def test_means_are_those_that_are_printed_elsewhere() -> None:
    assert len(STATISTICS.rows) == 16
    assert sum(float(values[1] or 0) for _, values in STATISTICS.rows) / 16 == pytest.approx(8.7, abs=0.05)
    values = dict(EGOPROCEL.rows)["CnC"]
    for first, column in enumerate(("A F1", "A IoU")):
        mean = sum(float(value or 0) for value in values[first::2]) / 6
        assert SUCCESSORS.value("CnC", column) == pytest.approx(mean, abs=0.05)

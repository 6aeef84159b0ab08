"""The paper's tables are complete and agree with each other where they repeat a number."""

from __future__ import annotations

import pytest

from offline.study.published import (
    CLUSTERERS,
    EGOPROCEL,
    KEY_STEP_COUNTS,
    KEY_STEP_COUNTS_MORE,
    LOSSES,
    LOSSES_MORE,
    STATISTICS,
    SUCCESSORS,
    TABLES,
    VIEWS,
    PublishedTable,
)


@pytest.mark.parametrize("table", [*TABLES, SUCCESSORS], ids=lambda table: table.number)
def test_every_row_fills_every_column_once(table: PublishedTable) -> None:
    assert all(len(values) == len(table.columns) for _, values in table.rows)
    assert len({name for name, _ in table.rows}) == len(table.rows)
    assert len(set(table.columns)) == len(table.columns)


def test_tables_come_in_the_paper_s_order() -> None:
    assert [int(table.number) for table in TABLES] == list(range(1, 11))


def test_cnc_is_the_same_in_all_tables() -> None:
    for ablation, counts, subsets in (
        (LOSSES, KEY_STEP_COUNTS, ("CMU-MMAC", "EGTEA")),
        (LOSSES_MORE, KEY_STEP_COUNTS_MORE, ("MECCANO", "EPIC-Tents", "PC Assembly", "PC Disassembly")),
    ):
        for subset in subsets:
            score = EGOPROCEL.value("CnC", f"{subset} F1")
            assert ablation.value("TC3I + PCM", f"{subset} F1") == score
            assert counts.value("CnC", f"{subset} K = 7") == score


def test_the_egocentric_row_is_cnc_on_cmu() -> None:
    assert VIEWS.value("Egocentric", "F1") == EGOPROCEL.value("CnC", "CMU-MMAC F1")
    assert CLUSTERERS.value("CnC", "CMU-MMAC F1") == pytest.approx(VIEWS.value("Egocentric", "F1"), abs=0.05)


def test_statistics_cover_the_data_set() -> None:
    assert len(STATISTICS.rows) == 16
    mean_steps = sum(float(values[1] or 0) for _, values in STATISTICS.rows) / len(STATISTICS.rows)
    assert mean_steps == pytest.approx(8.7, abs=0.05)


def test_average_of_cnc_is_what_we_compare_with() -> None:
    values = dict(EGOPROCEL.rows)["CnC"]
    assert sum(float(value or 0) for value in values[::2]) / 6 == pytest.approx(22.0, abs=0.05)
    assert SUCCESSORS.value("CnC", "A F1") == 22.0
    assert sum(float(value or 0) for value in values[1::2]) / 6 == pytest.approx(10.7, abs=0.05)
    assert SUCCESSORS.value("CnC", "A IoU") == 10.7


def test_successors_are_given_under_one_protocol_each() -> None:
    for _, values in SUCCESSORS.rows:
        assert sum(value is not None for value in values) == 2

"""Result tables: the floor rows always stand, mean and spread over seeds."""

from __future__ import annotations

import io
import math

import pytest
from rich.console import Console

from offline.metrics import Score
from offline.study.tables import ResultTable, Row, mean_row


def scores(*f1s: float) -> list[Score]:
    return [Score.of(f1, f1, f1 / 2) for f1 in f1s]


RANDOM = Row("random", {"A": scores(0.1), "D": scores(0.098)})
EQUAL = Row("equal", {"A": scores(0.4), "D": scores(0.373)})
OURS = Row("ours", {"A": scores(0.5, 0.6), "D": scores(0.5, 0.54)})


@pytest.mark.parametrize(("rows", "missing"), [((OURS, RANDOM), "equal"), ((OURS, EQUAL), "random")])
def test_a_table_without_its_floors_is_refused(rows: tuple[Row, ...], missing: str) -> None:
    with pytest.raises(ValueError, match=f"missing .*{missing}"):
        ResultTable("recipe 1", rows)


def test_markdown() -> None:
    table = ResultTable("recipe 1", (RANDOM, EQUAL, OURS), figures=("f1",))
    assert table.markdown().splitlines() == [
        "| recipe 1 | A F1 | D F1 |",
        "|---|---:|---:|",
        "| random | 10.0 | 9.8 |",
        "| equal time split | 40.0 | 37.3 |",
        "| ours | 55.0 ± 7.1 | 52.0 ± 2.8 |",
    ]


def test_published_rows_show_dashes_where_nothing_was_printed() -> None:
    published = Row("CnC", {"A": [Score(math.nan, math.nan, 0.22, 0.107)]}, note="paper")
    table = ResultTable("EgoProceL", (RANDOM, EQUAL, published), figures=("precision", "f1"))
    assert table.markdown().splitlines()[-1] == "| CnC (paper) | - | 22.0 | - | - |"


def test_the_width_is_what_the_console_prints() -> None:
    out, table = io.StringIO(), ResultTable("recipe 1", (OURS, RANDOM, EQUAL))
    table.console(Console(file=out, width=20))
    assert {len(line) for line in out.getvalue().splitlines()[1:]} == {table.width}


def test_the_mean_over_tasks_is_taken_seed_by_seed() -> None:
    tasks = [Row("ours", {"D": scores(0.4, 0.5)}), Row("ours", {"D": scores(0.6, 0.9)})]
    assert [score.f1 for score in mean_row("ours", tasks).scores["D"]] == pytest.approx([0.5, 0.7])

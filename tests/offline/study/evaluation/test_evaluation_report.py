"""Tables of results: every row where it belongs, means over tasks and sub-sets, the study of several K."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from guide.domain import Labels
from offline.features import RecordingFeatures
from offline.metrics import same_numbers
from offline.study.evaluation.evaluation_report import (
    EXPECTED,
    LEFT_OUT,
    for_console,
    make_csv,
    make_markdown,
    make_report_tables,
    method_rows,
)
from offline.study.evaluation.methods import Method
from offline.study.evaluation.plan import Count, EvaluateOptions, Plan, make_plan
from offline.study.evaluation.run import MethodOutcome, TaskResult
from offline.study.evaluation.scoring import FewLabels, expectation, score
from offline.study.evaluation.task import LabelledTask

RIGHT = np.array([1, 1, 2, 2])
WRONG = np.array([1, 2, 1, 2])


def plan(k: str = "true", protocols: str = "A,D", labelled: str = "0") -> Plan:
    chosen = EvaluateOptions(features=Path("data"), cluster="hc", seeds=2, k=k, protocols=protocols, labelled=labelled)
    return make_plan(chosen)


def result(word: str, found: Labels, count: Count = "true", subset: str | None = None) -> TaskResult:
    seen = RecordingFeatures("a", 1.0, np.arange(4.0), np.zeros((4, 2), np.float32))
    task = LabelledTask(word, f"<{word}>", {1: "boil", 2: "pour"}, (seen,), (RIGHT,), (f"note on {word}",), subset)
    scores = (score([RIGHT], [found], ("A", "D")),)
    outcomes = tuple(
        MethodOutcome(method, scores if method.clusterer != "hc" else scores * 2, (found,), ("beware",))
        for method in (Method("random"), Method("equal"), Method("hc", "tc3i"))
    )
    return TaskResult(
        task, count, count if isinstance(count, int) else 2, outcomes, expectation([RIGHT], 2, ("A", "D"))
    )


def test_every_method_has_a_row_and_random_its_expectation() -> None:
    assert [row.method for row in method_rows(result("tea", RIGHT))] == [EXPECTED, "random", "equal", "tc3i + hc"]


def test_one_task_has_one_table_two_have_a_mean() -> None:
    one, two = result("tea", RIGHT), result("coffee", WRONG)
    assert [sheet.word for sheet in make_report_tables([one], plan())] == ["tea"]
    sheets = make_report_tables([one, two], plan())
    assert [sheet.word for sheet in sheets] == ["tea", "coffee", "mean"]
    mean = sheets[-1].table.rows[-1].summary("D", "f1")
    assert mean is not None
    assert mean.mean == pytest.approx(0.75)
    assert mean.seeds == 2
    assert sheets[-1].table.title == "mean over 2 tasks, K true"


def test_tasks_of_sub_sets_are_averaged_within_first() -> None:
    results = [
        result("a", RIGHT, subset="CMU-MMAC"),
        result("b", RIGHT, subset="CMU-MMAC"),
        result("c", WRONG, subset="EGTEA"),
    ]
    table = make_report_tables(results, plan())[-1].table
    mean = next(row for row in table.rows if row.method == "tc3i + hc").summary("D", "f1")
    assert mean is not None
    assert mean.mean == pytest.approx(0.75)
    assert {"GPL", "CnC"} <= {row.method for row in table.rows}
    assert "in 2 sub-sets" in table.title


def test_published_rows_stand_beside_a_data_set_of_theirs_only() -> None:
    assert not any(row.note for row in make_report_tables([result("a", RIGHT)], plan())[0].table.rows)
    table = make_report_tables([result("a", RIGHT, subset="MECCANO")], plan())[0].table
    assert "CnC (paper, MECCANO, K = 7)" in [row.title for row in table.ordered]
    pooled = make_report_tables([result("a", RIGHT, subset="MECCANO")], plan())[0]
    assert "CnC" in make_csv([pooled])


def test_several_k_are_studied_in_one_table() -> None:
    results = [result("tea", RIGHT, 2), result("tea", WRONG, 3)]
    study = make_report_tables(results, plan("2,3"))[-1]
    assert study.table.headings() == ["F1 for several K", "K = 2 A F1", "K = 2 D F1", "K = 3 A F1", "K = 3 D F1"]
    cells = study.table.cells(next(row for row in study.table.rows if row.method == "tc3i + hc"))
    assert cells[1:] == ["100.0 ± 0.0", "100.0 ± 0.0", "50.0 ± 0.0", "50.0 ± 0.0"]


def study_cells(counts: tuple[Count, ...], subset: str, k: str) -> dict[str, list[str]]:
    table = make_report_tables([result("tea", RIGHT, count, subset) for count in counts], plan(k))[-1].table
    return {row.title: table.cells(row)[1:] for row in table.rows}


def test_published_figures_stand_in_the_column_of_their_own_k_only() -> None:
    cells = study_cells((7, 10, 9), "CMU-MMAC", "7,10,9")
    assert cells["CnC (paper)"] == ["22.7", "-", "19.1", "-", "-", "-"]
    assert cells["GPL (published)"] == ["25.6", "-", "-", "-", "-", "-"]
    assert "OPEL (published)" not in cells  # it has no A and no D
    assert study_cells((7, 10), "EgoProceL", "7,10")["CnC (paper)"][::2] == ["22.0", "18.4"]


def test_where_k_differs_from_task_to_task_published_figures_say_theirs() -> None:
    cells = study_cells(("true", "auto"), "CMU-MMAC", "true,auto")
    assert cells["CnC (paper, K = 7)"] == ["22.7", "-", "22.7", "-"]


def test_notes_say_what_was_said_of_the_task_and_of_its_labellings() -> None:
    assert make_report_tables([result("tea", RIGHT)], plan())[0].notes == (
        "note on tea", "random: beware", "equal: beware", "tc3i + hc: beware",
    )  # fmt: skip


def test_a_chosen_number_of_key_steps_is_said() -> None:
    chosen = make_report_tables([replace(result("tea", RIGHT, "auto"), notes=("2, since ...",))], plan("auto"))[0]
    assert "K = 2 (chosen)" in chosen.table.title
    assert "2, since ..." in chosen.notes


def with_few(one: TaskResult, labelled: dict[int, tuple[Labels, ...]]) -> TaskResult:
    few = [
        FewLabels(number, tuple(score([RIGHT], [each], ("A", "D"), same_numbers([each])) for each in found), len(found))
        for number, found in labelled.items()
    ]
    return replace(one, few=tuple(few))


def test_labelled_recordings_have_rows_under_ours_with_their_spread_over_choices() -> None:
    one = with_few(result("tea", RIGHT), {1: (RIGHT, 3 - RIGHT), 2: (RIGHT,)})
    (sheet,) = make_report_tables([one], plan(labelled="1,2,4"))
    assert [row.method for row in sheet.table.rows][-3:] == ["tc3i + hc", "1 labelled", "2 labelled"]
    few = sheet.table.rows[-2].summary("D", "f1")
    assert few is not None
    assert (few.mean, few.seeds) == (0.5, 2)
    assert few.spread == pytest.approx(0.5**0.5)
    assert sheet.notes[-4:] == (
        "1 labelled: mean over all 2 choices of the labelled recordings",
        "2 labelled: mean over all 1 choices of the labelled recordings",
        "4 labelled: left out, there are 1 recordings and none would be left to score",
        LEFT_OUT,
    )  # fmt: skip


def test_tasks_with_different_numbers_of_choices_have_a_mean_and_rows_that_not_all_have_are_left_out() -> None:
    one = with_few(result("tea", RIGHT), {1: (RIGHT, 3 - RIGHT), 2: (RIGHT,)})
    two = with_few(result("coffee", WRONG), {1: (RIGHT, RIGHT, RIGHT)})
    mean = make_report_tables([one, two], plan(labelled="1,2"))[-1]
    assert [row.method for row in mean.table.rows][-2:] == ["tc3i + hc", "1 labelled"]
    few = mean.table.rows[-1].summary("D", "f1")
    assert few is not None
    assert (few.mean, few.seeds) == (0.75, 1)
    assert mean.notes[0] == "2 labelled: left out, some tasks have no recordings left to score"


def test_views_are_compared_in_one_table_beside_the_paper_s() -> None:
    results = [result("tea", RIGHT, subset="CMU-MMAC"), result("tea", WRONG, subset="CMU-MMAC")]
    views = ("ego", "top")
    results = [replace(one, task=replace(one.task, view=view)) for one, view in zip(results, views, strict=True)]
    sheets = make_report_tables(results, plan())
    assert [(sheet.word, sheet.view) for sheet in sheets] == [("tea", "ego"), ("tea", "top"), ("mean", "")]
    assert sheets[1].table.title == "tea <tea>, view top, K = 2"
    study = sheets[-1].table
    assert study.headings() == ["F1 for several views", "ego A F1", "ego D F1", "top A F1", "top D F1"]
    cells = {row.title: study.cells(row)[1:] for row in study.rows}
    assert cells["tc3i + hc"] == ["100.0 ± 0.0", "100.0 ± 0.0", "50.0 ± 0.0", "50.0 ± 0.0"]
    assert "CnC, TP (Top) (paper, CMU-MMAC, K = 7)" in [row.title for row in sheets[1].table.rows]
    assert cells["CnC (paper, K = 7)"] == ["22.7", "-", "17.9", "-"]
    assert not any("TP (" in title for title in cells)


def test_the_console_shows_f1_and_iou_the_files_everything() -> None:
    sheet = make_report_tables([result("tea", RIGHT)], plan())[0]
    assert for_console(sheet.table).headings()[1:5] == ["A F1", "A IoU", "D F1", "D IoU"]
    all_of_it = for_console(sheet.table)
    assert for_console(sheet.table, all_of_it.width) == all_of_it
    narrower = for_console(sheet.table, all_of_it.width - 1)
    assert narrower.headings()[1:4] == ["A F1", "D F1", "MoF"]
    assert for_console(sheet.table, 10).headings()[1:] == ["A F1", "D F1"]
    markdown = make_markdown([sheet], "python -m offline.study.evaluate")
    assert "| A P | A R | A F1 | A IoU | D P |" in markdown
    assert "- note on tea\n" in markdown
    lines = make_csv([sheet]).splitlines()
    assert 'tea,,true,"tea <tea>, K = 2",tc3i + hc,ours,D F1,2,1.000000,0.000000' in lines
    assert 'tea,,true,"tea <tea>, K = 2",equal,ours,MoF,1,1.000000,' in lines

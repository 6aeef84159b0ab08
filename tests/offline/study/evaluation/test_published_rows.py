"""Published rows stand under the protocol and the data set they were printed for."""

from __future__ import annotations

import math

import pytest

from offline.study.evaluation.published_rows import DATASETS, SUBSETS, dataset_called, published_rows


def f1(dataset: str, k: int | None, method: str, protocol: str = "A") -> float:
    row = next(row for row in published_rows(dataset, k) if row.method == method)
    return 100 * row.scores[protocol][0].f1


@pytest.mark.parametrize("dataset", DATASETS)
def test_every_row_says_where_it_comes_from(dataset: str) -> None:
    rows = published_rows(dataset, None)
    assert rows
    assert all(row.note.startswith(("paper", "published")) for row in rows)
    assert len({row.method for row in rows}) == len(rows)


@pytest.mark.parametrize("subset", SUBSETS)
def test_cnc_stands_beside_every_sub_set(subset: str) -> None:
    assert f1(subset, None, "CnC") == pytest.approx(f1(subset, 7, "CnC"))
    assert f1(subset, 10, "CnC") < f1(subset, 7, "CnC")


def test_the_fullest_table_is_taken() -> None:
    row = next(row for row in published_rows("CMU-MMAC", 7) if row.method == "CnC")
    assert 100 * row.scores["A"][0].recall == pytest.approx(24.38)
    row = next(row for row in published_rows("MECCANO", 7) if row.method == "CnC")
    assert 100 * row.scores["A"][0].precision == pytest.approx(15.5)
    assert math.isnan(row.scores["A"][0].recall)


def test_the_whole_data_set_has_the_paper_and_its_successors() -> None:
    assert f1("EgoProceL", 7, "CnC") == pytest.approx(22.0, abs=0.05)
    assert f1("EgoProceL", 7, "GPL") == pytest.approx(25.6)
    assert f1("EgoProceL", 7, "OPEL", "B") == pytest.approx(32.0)
    assert f1("EgoProceL", 7, "HiERO, zero-shot", "B") == pytest.approx(44.5)


@pytest.mark.parametrize("subset", SUBSETS)
def test_successors_stand_beside_a_sub_set_as_the_mean_over_all_of_them(subset: str) -> None:
    rows = {row.method: row for row in published_rows(subset, 7)}
    assert {"GPL", "OPEL", "HiERO, zero-shot"} <= set(rows)
    assert rows["OPEL"].note == "published, mean over 6 sub-sets, K = 7"
    assert f1(subset, 7, "OPEL", "B") == pytest.approx(32.0)
    assert "GPL" not in {row.method for row in published_rows(subset, 10)}


@pytest.mark.parametrize("method", ["Alayrac et al.", "Kukleva et al.", "Elhamifar et al.", "Shen et al.", "CnC"])
def test_third_person_rows_are_pooled(method: str) -> None:
    assert 5 < f1("ProceL", None, method, "pooled") < 22
    assert math.isnan(f1("CrossTask", None, "Fried et al.", "pooled"))  # recall alone was printed


def test_a_row_without_a_figure_is_no_row() -> None:
    assert "Fried et al." in {row.method for row in published_rows("CrossTask", None)}
    assert "Fried et al." not in {row.method for row in published_rows("ProceL", None)}


@pytest.mark.parametrize(("name", "dataset"), [("egtea gaze+", "EGTEA"), ("PC_Assembly", "PC Assembly"), ("x", None)])
def test_data_sets_by_other_names(name: str, dataset: str | None) -> None:
    assert dataset_called(name) == dataset

"""Rows become lines, confusions and failures, counted by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest

from offline.study.fault_trial.leaving import read_labels
from offline.study.keep import Plain
from offline.study.real.failures import worst
from offline.study.real.results import result_of
from offline.study.real.sets import RealSet, pictures_at
from tests.faulty_task import USUAL, make_task

CLEAN = {"faults": 0, "found": 0, "flags": 0, "clean": 1, "clean_alarms": 0}


def live(id_: str, labels: list[int]) -> Plain:
    return {"task": "toy", "labelled": "all", "kind": "live", "recording": id_, "labels": " ".join(map(str, labels))}


def made(kind: str, id_: str, wrong: list[dict[str, object]], **more: int | None) -> Plain:
    row: Plain = {"task": "toy", "labelled": "all", "kind": kind, "recording": id_, "wrong": json.dumps(wrong)}
    return {**row, **CLEAN, "step": None, "before": None, "source_s": 4.0, "rule": "silent: in 2 of 6", **more}


@pytest.fixture
def rows() -> list[Plain]:
    """In r0 all is right; in r1 step 3 is taken for step 2 and flagged as missed; a missed step 4 is not told."""
    truth = make_task([USUAL] * 2).truth
    mistaken = np.where(truth[1] == 3, 2, truth[1])
    alert = {"kind": "missed", "step": 3, "before": None, "source_s": 30.0, "evidence": "it always came first"}
    fault = {"faults": 1, "found": 0, "flags": 0, "clean": 0, "step": 4}
    return [
        live("r0", truth[0].tolist()),
        live("r1", mistaken.tolist()),
        made("none", "r0", []),
        made("none", "r1", [alert], flags=1, clean_alarms=1),
        made("missed", "r0", [], **fault),
        {"task": "toy", "kind": "found", "labelled": "0", "d": 0.5},
        {"task": "another", "kind": "found", "labelled": "0", "d": 0.1},
    ]


def test_lines_are_means_and_the_budget_is_judged(rows: list[Plain]) -> None:
    result = result_of(RealSet(make_task([USUAL] * 2)), rows)
    none, every = result.lines
    assert (none.name, none.d, none.flags) == ("no labels", 0.5, None)
    assert every.accuracy == pytest.approx((1.0 + 0.75) / 2)
    assert (every.false_alarms, every.holds_budget) == (0.5, False)
    assert "all labelled 0.50, not held" in result.sentence()


def test_confusion_counts_frames(rows: list[Plain]) -> None:
    counts = result_of(RealSet(make_task([USUAL] * 2)), rows).confusion
    assert counts[3].tolist() == [0, 0, 16, 16, 0]
    assert counts.sum() == 2 * 4 * 20


def test_the_three_worst_are_one_of_each_kind(rows: list[Plain]) -> None:
    flag, silent, confused = worst(result_of(RealSet(make_task([USUAL] * 2)), rows))
    assert flag.title == "wrong flag, missed 3 glue: 1 of 2 clean recordings"
    assert flag.evidence == ("it always came first", "16 frames of the step, labelled live 2 fold 100 %")
    assert silent.title == "no flag, missed 4 press: made 1 times, told 0"
    assert silent.evidence[0] == "the rule that it breaks: silent: in 2 of 6"
    assert confused.title == "3 glue is labelled 2 fold: 16 of 32 frames"
    assert confused.recording == "r1"
    moments = make_task([USUAL] * 2)
    at = confused.shown[0].at
    assert moments.truth[1][round(at * 2)] == 3


def test_really_missed_steps_come_before_made_faults(rows: list[Plain]) -> None:
    more: list[Plain] = [
        {"task": "toy", "kind": "mistaken", "recording": f"m{n}", "step": 2, "is_missed": True, "is_flagged": n == 0,
         "certainty": 0.25}
        for n in range(3)
    ]  # fmt: skip
    _, silent, _ = worst(result_of(RealSet(make_task([USUAL] * 2)), [*rows, *more]))
    assert silent.title == "no flag, missed 2 fold: really missed in 3 recordings, told in 1"
    assert silent.recording == "m1"


def test_where_nothing_is_wrong_there_is_no_failure(rows: list[Plain]) -> None:
    assert worst(result_of(RealSet(make_task([USUAL] * 2)), [rows[0], rows[2]])) == []


def test_labels_travel_as_text() -> None:
    assert read_labels(live("a", [0, 1, 12])).tolist() == [0, 1, 12]


def test_pictures_are_the_nearest_ones() -> None:
    film = [(0.0, np.zeros((8, 8, 3), np.uint8)), (1.0, np.full((8, 8, 3), 255, np.uint8))]
    taken = pictures_at(lambda: iter(film), [0.9, 0.1])
    assert set(taken) == {0.9, 0.1}
    assert taken[0.9] != taken[0.1]

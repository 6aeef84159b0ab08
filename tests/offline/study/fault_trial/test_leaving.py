"""Recordings left out: prototypes that see all find all, and what they are shown decides, not when."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from offline.study.evaluation.teaching import ALL, Way
from offline.study.fault_trial.conditions import Conditions
from offline.study.fault_trial.leaving import LeavingOut, agreement
from offline.study.flags import score_of
from offline.study.keep import Plain
from tests.faulty_task import make_task


@pytest.fixture(scope="module")
def perfect(tmp_path_factory: pytest.TempPathFactory) -> list[Plain]:
    conditions = Conditions(tmp_path_factory.mktemp("cache"), priors=("on",), each=4, shuffles=1)
    return LeavingOut(make_task(), 3, Way(ALL), conditions).run()


def test_perfect_prototypes_find_all_faults_and_nothing_else(perfect: list[Plain]) -> None:
    score = score_of(row for row in perfect if row["kind"] != "shuffled")
    assert (score.faults, score.clean) == (4 + 3 + 4, 1), "only neighbours can be exchanged without breaking more"
    assert score.precision == score.recall == 1.0
    assert score.clean_alarms == 0


def test_the_first_word_on_a_fault_comes_no_later_than_the_flag_that_names_it(perfect: list[Plain]) -> None:
    told = [(row["late_s"], row["word_s"], row["word_steps"]) for row in perfect if row.get("late_s") is not None]
    assert len(told) == 4 + 3 + 4
    assert all(float(word or 0) <= float(late or 0) for late, word, _ in told)
    assert any(word != late for late, word, _ in told), "an exchange is told as a missed step first"
    assert len({round(float(word or 0) / float(steps), 6) for _, word, steps in told if steps}) == 1


def test_their_unaries_do_not_depend_on_the_order(perfect: list[Plain]) -> None:
    shares = [row["agreement"] for row in perfect if row["kind"] == "shuffled"]
    assert len(shares) == 1
    assert min(float(share or 0) for share in shares) > 0.95


def test_frames_near_splices_do_not_count() -> None:
    one, other = 1 - np.eye(4), (1 - np.eye(4))[[0, 1, 3, 3]]
    assert agreement(one, other, np.zeros(4, np.bool_)) == 0.75
    assert agreement(one, other, np.array([False, False, True, False])) == 1.0
    assert agreement(one, other, np.ones(4, np.bool_)) is None


def test_prototypes_that_see_nothing_find_little(tmp_path: Path) -> None:
    task = make_task(noise=200.0)
    rows = LeavingOut(task, 0, Way(ALL), Conditions(tmp_path, priors=("on",), each=1), is_shuffled=False).run()
    assert score_of(rows).found < 3


def test_parts_that_are_not_asked_for_are_left_out(tmp_path: Path) -> None:
    conditions = Conditions(tmp_path, each=1, shuffles=1)
    rows = LeavingOut(make_task(), 0, Way(ALL), conditions, is_followed=False).run()
    assert {row["kind"] for row in rows} == {"shuffled"}


def test_labels_of_others_name_the_result(tmp_path: Path) -> None:
    task, conditions = make_task(), Conditions(tmp_path)
    keys = {
        LeavingOut(task, 0, Way(ALL), conditions).key,
        LeavingOut(task, 1, Way(ALL), conditions).key,
        LeavingOut(task, 0, Way("1", (0,)), conditions).key,
        LeavingOut(task, 0, Way("1", (1,)), conditions).key,
        LeavingOut(task, 0, Way(ALL), Conditions(tmp_path, each=1)).key,
        LeavingOut(make_task(first=50), 0, Way(ALL), conditions).key,
    }
    assert len(keys) == 6
    other = Conditions(tmp_path / "elsewhere")
    assert LeavingOut(task, 0, Way(ALL), conditions).key == LeavingOut(task, 0, Way(ALL), other).key

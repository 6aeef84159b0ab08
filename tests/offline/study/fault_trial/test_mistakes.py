"""Recordings with mistakes: steps that were missed are told from those that were done."""

from __future__ import annotations

from pathlib import Path

from offline.study.fault_trial.conditions import Conditions
from offline.study.fault_trial.mistakes import Mistaken, without_clean
from offline.study.flag_tables import area_under_curve
from tests.faulty_task import USUAL, make_task


def test_missed_steps_are_flagged_and_certain(tmp_path: Path) -> None:
    mistaken = make_task([(1, 2, 4), (1, 2, 3, 4)], first=80)
    rows = Mistaken(make_task(), mistaken, Conditions(tmp_path)).run()
    usual = [row for row in rows if row["priors"] == "on"]
    assert [(row["recording"], row["step"]) for row in usual] == [(id_, s) for id_ in ("r80", "r81") for s in USUAL]
    assert [row["is_missed"] for row in usual] == [row["is_flagged"] for row in usual]
    missed = [row for row in usual if row["is_missed"]]
    assert [(row["recording"], row["step"]) for row in missed] == [("r80", 3)]
    for name in ("certainty", "unseen"):
        scores = [float(row[name] or 0) for row in usual]
        assert area_under_curve(scores, [bool(row["is_missed"]) for row in usual]) == 1.0


def test_those_with_mistakes_are_those_that_are_not_clean() -> None:
    everything, clean = make_task(), make_task([USUAL] * 3, first=2)
    found = without_clean(everything, clean)
    assert [one.id for one in found.recordings] == ["r0", "r1", "r5", "r6"]
    assert len(found.truth) == 4

"""The trial: what is planted is found in plain features, and rows say what was counted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from guide.domain import Alert, Guidance, Question
from guide.errors import InputError
from guide.perceive.appearance import AppearanceSettings
from offline.demo.task import TASK
from offline.features import RecordingFeatures
from offline.flags import Judged, Planted
from offline.trial import Drawn, TrialOptions, _counts, _row, follow, learn

RATE = 5.0
LOOKS = np.random.default_rng(3).normal(size=(10, 24)) * 3
CLEAN = Planted("none", None, None, None)
USUAL = [1, 2, 3, 4, 5, 6, 8]


def made(order: list[int], seed: int, planted: Planted = CLEAN) -> Drawn:
    """A recording in which every step takes 5 s and looks like nothing else, with a second of background between."""
    labels = np.concatenate([np.repeat([step, 0], [25, 5]) for step in order])
    rows = LOOKS[labels] + np.random.default_rng(seed).normal(size=(len(labels), 24))
    return Drawn(
        RecordingFeatures(f"{seed}", RATE, np.arange(len(labels)) / RATE, rows.astype(np.float32)), labels, planted
    )


def test_planted_faults_are_found_and_clean_recordings_left_alone(tmp_path: Path) -> None:
    task = [made(USUAL if seed % 2 else [1, 2, 5, 6, 3, 4, 8], seed) for seed in range(8)]
    learned, names = learn(task, len(task), tmp_path)
    unseen = [
        made(USUAL, 50),
        made([1, 2, 4, 5, 6, 8], 51, Planted("missed", 3, None, 12.0)),
        made([1, 2, 4, 3, 5, 6, 8], 52, Planted("out_of_order", 4, 3, 12.0)),
    ]
    settings = AppearanceSettings.for_step(
        float(np.median([one.features.duration_s for one in task])) / len(TASK.steps)
    )
    judged = list(follow(unseen, learned, settings, names, ("duration", "done", "order")))
    assert [each.is_found for _, each, _ in judged] == [False, True, True]
    assert not any(each.false_alarms for _, each, _ in judged)


@pytest.mark.parametrize(("labelled", "slips"), [(0, "True []"), (1, "True [0]"), (3, "False [0, 1, 2]")])
def test_labels_hold_slips_unless_all_were_given(
    labelled: int, slips: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class ToldError(Exception):
        pass

    def hear(*_: object, hold_slips: bool = False, given: Sequence[int] = ()) -> None:
        raise ToldError(f"{hold_slips} {list(given)}")

    task = [made(USUAL, seed) for seed in range(3)]
    monkeypatch.setattr("offline.trial._embeddings", lambda task, *_: [one.features.pooled for one in task])
    monkeypatch.setattr("offline.trial.describe", hear)
    with pytest.raises(ToldError, match=re.escape(slips)):
        learn(task, labelled, tmp_path)


def test_a_row_counts_what_was_found() -> None:
    soft = Alert(4, 9.5, "missed", 3, None, "warning", "")
    late = Alert(5, 15.0, "out_of_order", 4, 3, "alarm", "")
    hit, wrong = Alert(1, 14.0, "missed", 3, None, "alarm", ""), Alert(2, 3.0, "repeated", 2, None, "warning", "")
    judged: list[tuple[Planted, Judged, list[Guidance]]] = [
        (Planted("missed", 3, None, 12.0), Judged(hit, ()), [hit]),
        (Planted("out_of_order", 4, 3, 8.0), Judged(None, ()), []),
        (Planted("out_of_order", 4, 3, 8.0), Judged(late, ()), [soft, late]),
        (CLEAN, Judged(None, (wrong,)), [wrong, Question(3, 4.0, 2, "?")]),
    ]
    row = ["2", "0.67", "0.67", "1 of 1", "1 of 2", "1.00", "4.5", "1.8", "0.2"]
    same = {step: step for step in range(1, 5)}
    assert _row(2, judged, 12, same) == row
    assert _row(12, judged, 12, same)[0] == "all"


def test_labelled_takes_numbers_and_all() -> None:
    assert _counts(TrialOptions(labelled="0,2,all", recordings=6)) == [0, 2, 6]
    for labelled in ("some", "", "-1", "0,7"):
        with pytest.raises(InputError, match="numbers up to 6 or all"):
            _counts(TrialOptions(labelled=labelled, recordings=6))

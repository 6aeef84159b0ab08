"""A trial of one world: what is planted is found in plain features, and rows say what was told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from guide.domain import Alert, Question
from offline.demo.recording import Recording
from offline.features import RecordingFeatures
from offline.study.evaluation.teaching import ALL, Way
from offline.study.flags import Judged, Planted
from offline.study.trial.trying import Trying, follow, learn, row_of, task_of
from offline.study.trial.worlds import Drawn, Entry, Worlds

RATE = 5.0
LOOKS = np.random.default_rng(3).normal(size=(10, 24)) * 3
CLEAN = Planted("none", None, None, None)
USUAL = [1, 2, 3, 4, 5, 6, 8]
OTHER = [1, 2, 5, 6, 3, 4, 8]
SAME: Final = {step: step for step in range(1, 10)}
UNSEEN: Final = [
    (USUAL, CLEAN),
    ([1, 2, 4, 5, 6, 8], Planted("missed", 3, None, 12.0)),
    ([1, 2, 4, 3, 5, 6, 8], Planted("out_of_order", 4, 3, 12.0)),
]


def made(order: list[int], seed: int, planted: Planted = CLEAN) -> Drawn:
    """A recording in which every step takes 5 s and looks like nothing else, with a second of background between."""
    labels = np.concatenate([np.repeat([step, 0], [25, 5]) for step in order])
    rows = LOOKS[labels] + np.random.default_rng(seed).normal(size=(len(labels), 24))
    return Drawn(
        RecordingFeatures(f"{seed}", RATE, np.arange(len(labels)) / RATE, rows.astype(np.float32)), labels, planted
    )


def test_planted_faults_are_found_and_clean_recordings_left_alone(tmp_path: Path) -> None:
    task = task_of(7, [made(USUAL if seed % 2 else OTHER, seed) for seed in range(8)])
    lesson, names = learn(task, Way(ALL), tmp_path)
    unseen = [made(order, 50 + number, planted) for number, (order, planted) in enumerate(UNSEEN)]
    judged = list(follow(unseen, lesson, names, ("duration", "done", "order")))
    assert [each.hit is not None for _, each, _ in judged] == [False, True, True]
    assert not any(each.false_alarms for _, each, _ in judged)


def test_a_run_gives_a_row_for_each_unseen_recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(self: Worlds, entry: Entry) -> Drawn:
        assert self.kept.folder == tmp_path / "drawn"
        number = entry.recording.number
        if entry.recording.kind == "train":
            return made(USUAL if number % 2 else OTHER, number)
        return made(UNSEEN[number][0], 50 + number, UNSEEN[number][1])

    monkeypatch.setattr(Worlds, "read", read)
    train = tuple(Entry(Recording(7, "train", number), f"t{number}") for number in range(8))
    live = tuple(Entry(Recording(7, "live", number), f"l{number}") for number in range(3))
    trying = Trying(7, train, live, 8, ("duration", "done", "order"), tmp_path)
    rows = trying.run()
    assert [(row["seed"], row["labelled"], row["planted"]) for row in rows] == [
        (7, "all", ""), (7, "all", "missed 3"), (7, "all", "4 before 3"),
    ]  # fmt: skip
    assert [(row["faults"], row["found"], row["flags"], row["clean"]) for row in rows] == [
        (0, 0, 0, 1), (1, 1, 1, 0), (1, 1, 1, 0),
    ]  # fmt: skip
    assert trying.title == "world 7, all labelled"
    others = [
        replace(trying, labelled=2),
        replace(trying, priors=()),
        replace(trying, train=train[:-1]),
        replace(trying, live=live[:-1]),
        replace(trying, train=train[:-1], live=(train[-1], *live)),
    ]
    assert len({one.key for one in (trying, *others)}) == 6, "what decides is in the key"
    assert replace(trying, cache=tmp_path / "elsewhere").key == trying.key


def test_other_code_is_another_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trying = Trying(7, (), (), 2, (), tmp_path)
    before = trying.key
    monkeypatch.setattr("offline.study.trial.trying.source_hash", lambda *names: "other code")
    assert trying.key != before


def test_a_row_tells_when_and_what() -> None:
    soft = Alert(4, 9.5, "missed", 3, None, "warning", "")
    late = Alert(5, 15.0, "out_of_order", 4, 3, "alarm", "")
    row = row_of(
        Planted("out_of_order", 4, 3, 8.0, 13.5), Judged(late, ()), [soft, late, Question(3, 4.0, 2, "?")], SAME
    )
    assert (row["late_s"], row["word_s"], row["name_s"], row["questions"]) == (7.0, 1.5, 1.5, 1)
    assert (row["planted"], row["faults"], row["found"], row["flags"], row["wrong"]) == ("4 before 3", 1, 1, 1, "")
    lost = row_of(Planted("out_of_order", 4, 3, 8.0), Judged(None, (soft,)), [soft], SAME)
    assert (lost["late_s"], lost["word_s"], lost["name_s"], lost["found"], lost["flags"]) == (None, None, None, 0, 1)


def test_wrong_flags_are_told_in_true_steps() -> None:
    alerts = (
        Alert(1, 3.0, "repeated", 2, None, "warning", ""),
        Alert(2, 4.0, "out_of_order", 1, 2, "alarm", ""),
        Alert(3, 5.0, "missed", 3, None, "alarm", ""),
    )
    row = row_of(CLEAN, Judged(None, alerts), alerts, {1: 8, 2: 5})
    assert row["wrong"] == "repeated 5, 8 before 5, missed 0"
    assert (row["clean"], row["clean_alarms"], row["planted"]) == (1, 3, "")

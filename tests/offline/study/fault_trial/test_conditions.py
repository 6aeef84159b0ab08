"""What is kept is kept by all that decides it."""

from __future__ import annotations

from typing import Final

import numpy as np

from guide.task_model import PRIORS
from offline.study.evaluation.teaching import ALL, NONE, Taught, Way
from offline.study.fault_trial.conditions import PRIOR_SETS, SOURCES, learn, unaries_of
from tests.faulty_task import NAMES, USUAL, make_task
from tests.imported import imported_by

DECIDE: Final = (
    "guide.task_model", "guide.fading", "guide.label", "guide.perceive.appearance", "guide.procedure",
    "guide.teach", "offline.batches", "offline.context", "offline.study.counterfactual", "offline.embedding",
    "offline.study.fault_trial",
    "offline.study.flags", "offline.study.following", "offline.keysteps", "offline.loop", "offline.losses",
    "offline.metrics", "offline.model",
)  # fmt: skip
"""Rooms whose modules decide results; the rest are values, messages, files, and rows that go into the key."""


def is_named(module: str, names: tuple[str, ...]) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in names)


def test_a_change_anywhere_in_what_decides_makes_results_anew() -> None:
    used = imported_by("offline.study.fault_trial.leaving") | imported_by("offline.study.fault_trial.mistakes")
    assert {"guide.label.histories", "guide.procedure.tracker", "offline.study.counterfactual.pieces"} <= used
    assert [one for one in sorted(used) if is_named(one, DECIDE) and not is_named(one, SOURCES)] == []


def test_priors_are_all_none_or_one() -> None:
    assert PRIOR_SETS["on"] == PRIORS
    assert PRIOR_SETS["off"] == ()
    assert {PRIOR_SETS[name] for name in PRIORS} == {(name,) for name in PRIORS}


def test_steps_that_were_found_have_no_names() -> None:
    task = make_task([USUAL] * 3)
    given, found = (learn(task, Way(count), Taught(task.truth, {})) for count in (ALL, NONE))
    assert [step.name for step in given.learned.procedure.steps] == list(NAMES.values())
    assert [step.name for step in found.learned.procedure.steps] == [f"step {number}" for number in NAMES]


def test_unaries_are_one_minus_memberships_of_each_frame() -> None:
    task = make_task([USUAL] * 3)
    lesson = learn(task, Way(ALL), Taught(task.truth, {}))
    found = unaries_of(lesson, task.recordings[0])
    assert found.shape == (len(task.recordings[0]), 5)
    np.testing.assert_allclose((1.0 - found).sum(1), 1.0)
    named = lesson.learned.prototypes.numbers[found.argmin(1)]
    assert (named == task.truth[0]).mean() > 0.8

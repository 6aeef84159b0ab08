"""What is kept is kept by all that decides it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pytest

from offline.study.evaluation.teaching import ALL, NONE, Taught, Way
from offline.study.fault_trial.conditions import SOURCES, learn, unaries_of
from offline.study.flag_parts import SOURCES as PARTS_SOURCES
from offline.study.trial.worlds import SOURCES as WORLDS
from tests.faulty_task import NAMES, USUAL, make_task
from tests.imported import imported_by

HARMLESS: Final = (
    "guide.bundle", "guide.domain", "guide.errors", "guide.ingest", "guide.perceive", "guide.record",
    "guide.whole_file", "guide.words", "offline.executor",
    "offline.curves", "offline.npy_file", "offline.progress", "offline.study.keep", "offline.study.tables",
    "offline.videos", "offline.views", "offline.prefetch", "offline.cuda_graph", "offline.sharing",
)  # fmt: skip
"""Values, messages, files, and how training is sped up, to the same weights; what is seen goes into the key itself."""


def is_within(module: str, names: Sequence[str]) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in names)


@pytest.mark.parametrize(
    ("job", "sources"),
    [
        ("fault_trial.leaving", SOURCES),
        ("fault_trial.mistakes", SOURCES),
        ("trial.trying", SOURCES),
        ("flag_parts", PARTS_SOURCES),
    ],
)
def test_a_change_anywhere_in_what_decides_makes_results_anew(job: str, sources: Sequence[str]) -> None:
    used = imported_by(f"offline.study.{job}")
    assert {"guide.label.histories", "guide.procedure.tracker", f"offline.study.{job}"} <= used
    modules = sorted(used - {"guide", "offline", "offline.study"})
    assert [one for one in modules if not is_within(one, (*sources, *HARMLESS, *WORLDS))] == []


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
    named = np.array(lesson.learned.prototypes.steps)[found.argmin(1)]
    assert (named == task.truth[0]).mean() > 0.8

"""What is kept is kept by all that decides it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from guide.task_model import PRIORS
from offline.study.evaluation.teaching import ALL, NONE, Taught, Way
from offline.study.fault_trial.conditions import PRIOR_SETS, SOURCES, Bench, Training, learn
from tests.faulty_task import NAMES, USUAL, make_task
from tests.imported import imported_by

DECIDE: Final = (
    "guide.task_model", "guide.fading", "guide.label", "guide.perceive.appearance", "guide.perceive.context",
    "guide.procedure",
    "guide.teach", "offline.batches", "offline.study.counterfactual", "offline.embedding", "offline.study.fault_trial",
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


@pytest.mark.parametrize(("kinds", "needed"), [(("appearance",), False), (("appearance", "both"), True)])
def test_only_who_embeds_needs_an_embedder(kinds: tuple[str, ...], needed: bool, tmp_path: Path) -> None:
    bench = Bench(tmp_path, kinds)  # type: ignore[arg-type]
    assert bench.needs_head is needed
    if not needed:
        assert bench.head(make_task()) is None
        assert Training(make_task(), bench).run() == []


def test_steps_that_were_found_have_no_names() -> None:
    task = make_task([USUAL] * 3)
    given, found = (learn(task, Way(count), Taught(task.truth, {}), None) for count in (ALL, NONE))
    assert [step.name for step in given.learned.procedure.steps] == list(NAMES.values())
    assert [step.name for step in found.learned.procedure.steps] == [f"step {number}" for number in NAMES]

"""Runs every method on every task at every number of key-steps, and scores what it found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import comb
from typing import Final

from rich.console import Console

from guide.domain import Labels
from guide.teach.collection import Found
from offline.executor import Executor, tracked
from offline.progress import Advance
from offline.study.evaluation.embedders import TrainingProgress
from offline.study.evaluation.finding import Search
from offline.study.evaluation.methods import BLIND, RAW, Method
from offline.study.evaluation.plan import Count, Plan
from offline.study.evaluation.scoring import FewLabels, Scores, choices, expectation, score, score_others
from offline.study.evaluation.task import LabelledTask

TRAINING: Final = 8.0  # labellings that one training takes as long as


@dataclass(frozen=True, slots=True)
class MethodOutcome:
    """What a method scored, seed by seed; what it found with the first seed, and what it said of that."""

    method: Method
    scores: tuple[Scores, ...]
    found: tuple[Labels, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskResult:
    """All outcomes on one task at one number of key-steps, and what random labels should score there."""

    task: LabelledTask
    count: Count
    """As asked for."""
    k: int
    outcomes: tuple[MethodOutcome, ...]
    expected: Scores
    notes: tuple[str, ...] = ()
    few: tuple[FewLabels, ...] = ()
    """What some labelled recordings are worth; the number of key-steps is then theirs."""

    @property
    def title(self) -> str:
        return f"{self.task.title}, K = {self.k}"


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs a plan, saying how much of its effort is done."""

    plan: Plan
    search: Search
    advance: Advance

    def run(self, tasks: Sequence[LabelledTask]) -> list[TaskResult]:
        """One result for each task and number of key-steps, task by task."""
        results: list[TaskResult] = []
        done = 0.0
        for task in tasks:
            few = self._few(task, done)
            for number, count in enumerate(self.plan.counts):
                result = self._score(task, count, done + transfer_count(self.plan, task) + number * effort(self.plan))
                results.append(replace(result, few=few))
            done += transfer_count(self.plan, task) + len(self.plan.counts) * effort(self.plan)
        self.advance(done, "")
        return results

    def find(self, task: LabelledTask, count: Count, seed: int) -> None:
        """Has all methods find with one seed, for whoever asks the search again: it keeps what was found."""
        k, _ = self._count(task, count, 0.0)
        for method in self.plan.methods:
            if method.clusterer not in BLIND and seed in method.seeds(self.plan.seeds):
                self.search.find(task, method, k, seed, _say_nothing, self._trained_for(count))

    def _trained_for(self, count: Count) -> int | None:
        return self.search.recipe.steps if count == "auto" else None  # as training does, before it chooses

    def _few(self, task: LabelledTask, done: float) -> tuple[FewLabels, ...]:
        """One for each number of labelled recordings that leaves some to score."""
        rows = []
        for labelled in self.plan.labelled:
            scores: list[Scores] = []
            for chosen in choices(len(task.recordings), labelled, self.plan.choices):
                self.advance(done, f"{task.title}: {labelled} labelled, choice {len(scores) + 1}")
                found = self.search.carry(task, chosen)
                scores.append(score_others(task, chosen, found, self.plan.protocols))
                done += 1
            if scores:
                rows.append(FewLabels(labelled, tuple(scores), comb(len(task.recordings), labelled)))
        return tuple(rows)

    def _score(self, task: LabelledTask, count: Count, done: float) -> TaskResult:
        k, notes = self._count(task, count, done)
        outcomes = []
        for method in self.plan.methods:
            found = []
            for seed in method.seeds(self.plan.seeds):
                where = f"{task.title}, K = {k}: {method.name}, seed {seed}"
                tell = self._training_progress(where, done)
                found.append(self.search.find(task, method, k, seed, tell, self._trained_for(count)))
                done += _effort(self.plan, method)
            outcomes.append(_outcome(task, method, found, self.plan.protocols))
        return TaskResult(task, count, k, tuple(outcomes), expectation(task.truth, k, self.plan.protocols), notes)

    def _count(self, task: LabelledTask, count: Count, done: float) -> tuple[int, tuple[str, ...]]:
        """The number of key-steps, and how it came about where it was chosen: once a task, for all methods."""
        if count == "true":
            return task.k, ()
        if count != "auto":
            return count, ()
        where = f"{task.title}: choosing the number of key-steps"
        self.advance(done, where)
        k, note = self.search.choose(task, self.plan.loss, lambda words: self.advance(done, f"{where}, {words}"))
        return k, (note,)

    def _training_progress(self, where: str, done: float) -> TrainingProgress:
        self.advance(done, where)
        most = self.plan.recipe.heads * self.plan.recipe.most_iterations

        def tell(iteration: int, words: str) -> None:
            self.advance(done + TRAINING * iteration / most, f"{where}, {words}")

        return tell


def find_elsewhere(
    plan: Plan, search: Search, tasks: Sequence[LabelledTask], executor: Executor, console: Console
) -> None:
    """Has everything found that a plan asks for, side by side: a run of it then only reads and scores.

    The number of key-steps is chosen first, once a task.
    """
    chosen: list[Callable[[], object]] = [
        partial(search.choose, task, plan.loss, _say_nothing) for task in tasks if "auto" in plan.counts
    ]
    found: list[Callable[[], object]] = [
        partial(Runner(plan, search, _say_nothing).find, task, count, seed)
        for task in tasks
        for count in plan.counts
        for seed in range(plan.seeds)
    ]
    found += [
        partial(search.carry, task, ones)
        for task in tasks
        for labelled in plan.labelled
        for ones in choices(len(task.recordings), labelled, plan.choices)
    ]
    for what, wave in (("choosing", chosen), ("finding", found)):
        for _ in tracked(executor.run(wave), [1.0] * len(wave), what, console):
            pass


def _say_nothing(*_: object) -> None:
    """In the place of progress, where nobody hears it."""


def total_effort(plan: Plan, tasks: Sequence[LabelledTask]) -> float:
    """What all of it takes, in labellings."""
    return sum(transfer_count(plan, task) + len(plan.counts) * effort(plan) for task in tasks)


def transfer_count(plan: Plan, task: LabelledTask) -> int:
    """How often labels are carried over in a task."""
    return sum(len(choices(len(task.recordings), labelled, plan.choices)) for labelled in plan.labelled)


def effort(plan: Plan) -> float:
    """What one task at one number of key-steps takes, in labellings."""
    return sum(_effort(plan, method) * len(method.seeds(plan.seeds)) for method in plan.methods)


def _effort(plan: Plan, method: Method) -> float:
    """One labelling, and a training where the method is the first to ask for its embedding."""
    is_first = next(each for each in plan.methods if each.loss == method.loss) == method
    return 1.0 + TRAINING * (is_first and method.loss not in (None, RAW))


def _outcome(task: LabelledTask, method: Method, found: Sequence[Found], protocols: Sequence[str]) -> MethodOutcome:
    scores = tuple(score(task.truth, each.labels, protocols) for each in found)
    return MethodOutcome(
        method, scores, found[0].labels, tuple(dict.fromkeys(note for each in found for note in each.notes))
    )

"""Several sessions beside each other: two compared, many counted."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from guide.procedure.wording import TITLES
from guide.record.session_report import AlertHistory, SessionReport
from guide.ui.state.sessions import NOBODY, SessionRow

DeviationBy = Literal["step", "kind", "person", "version"]
DEVIATION_BY: tuple[DeviationBy, ...] = ("step", "kind", "person", "version")


@dataclass(frozen=True, slots=True)
class StepComparison:
    """How long a step took in two sessions, all its turns together, and usually; none where it was not done."""

    name: str
    first_s: float | None
    second_s: float | None
    usual_s: float | None

    @property
    def difference_s(self) -> float | None:
        """How much longer the second took.

        >>> StepComparison("fold", 4.0, 6.5, 5.0).difference_s
        2.5
        """
        if self.first_s is None or self.second_s is None:
            return None
        return self.second_s - self.first_s


@dataclass(frozen=True, slots=True)
class StepTimes:
    """A step over many sessions: what each turn took, and 10 %, median and 90 % of the demonstrations if known.

    >>> StepTimes(2, "fold", (4.0, 5.0, 9.0), (3.0, 4.0, 5.0)).label
    '2 fold'
    """

    number: int
    name: str
    seconds: tuple[float, ...]
    usual_s: tuple[float, float, float] | None

    @property
    def label(self) -> str:
        return self.name if self.name == f"step {self.number}" else f"{self.number} {self.name}"


@dataclass(frozen=True, slots=True)
class ParetoBar:
    """How many deviations there were of one sort, and which share of all they and the larger ones make up."""

    name: str
    count: int
    cumulative: float


def whole(rows: Iterable[SessionRow]) -> tuple[SessionRow, ...]:
    """The sessions that can be counted: one that was cut off lacks steps that nobody missed."""
    return tuple(row for row in rows if row.state != "interrupted")


def why_not_alike(first: SessionReport, second: SessionReport) -> str:
    """Why steps of one number may be different things in these two; nothing where they followed the same bundle."""
    facts = [report.session.facts for report in (first, second)]
    name, other = (Path(one.bundle).name for one in facts)
    if name != other:
        return f"These follow two procedures, {name} and {other}: the same number may mean different steps."
    if facts[0].bundle_hash == facts[1].bundle_hash:
        return ""
    versions = " and ".join(one.bundle_hash[:8] for one in facts)
    return (
        f"Both follow a procedure called {name}, but in two versions ({versions}), learned or reviewed apart: "
        "the same number may mean different steps."
    )


def compare_steps(first: SessionReport, second: SessionReport) -> tuple[StepComparison, ...]:
    """Every step that either session knows, in the order of its number; unknown activity last."""
    usual = {
        step.number: step.durations_s[2] for report in (first, second) for step in report.steps if step.durations_s
    }
    numbers = {step.number for report in (first, second) for step in report.steps}
    numbers |= {visit.step for report in (first, second) for visit in report.visits}
    ordered = sorted(numbers, key=lambda number: (number <= 0, number))
    return tuple(
        StepComparison(_name(number, first, second), _total(first, number), _total(second, number), usual.get(number))
        for number in ordered
    )


def _name(number: int, *reports: SessionReport) -> str:
    return next(
        (step.name for report in reports for step in report.steps if step.number == number), reports[0].name(number)
    )


def _total(report: SessionReport, step: int) -> float | None:
    turns = [visit.seconds for visit in report.visits if visit.step == step]
    return sum(turns) if turns else None


def order_of(report: SessionReport) -> tuple[str, ...]:
    """The steps in the order in which they were done."""
    return tuple(visit.name for visit in report.visits)


def first_difference(first: Sequence[str], second: Sequence[str]) -> int | None:
    """The place at which two orders part, counted from 1; none where they are the same.

    >>> first_difference(["a", "b", "c"], ["a", "c"]), first_difference(["a"], ["a"])
    (2, None)
    """
    if tuple(first) == tuple(second):
        return None
    pairs = zip(first, second, strict=False)
    return next(
        (place for place, (one, other) in enumerate(pairs, start=1) if one != other), min(len(first), len(second)) + 1
    )


def step_times(reports: Iterable[SessionReport]) -> tuple[StepTimes, ...]:
    """Every step of sessions with one bundle: what its turns took, beside the newest known demonstrations."""
    seconds: dict[int, list[float]] = defaultdict(list)
    names: dict[int, str] = {}
    usual: dict[int, tuple[float, float, float]] = {}
    for report in reports:
        for step in report.steps:
            names[step.number] = step.name
            if len(step.durations_s) == 5:
                usual[step.number] = step.durations_s[1:4]
        for visit in report.visits:
            if visit.step > 0:
                names.setdefault(visit.step, visit.name)
                seconds[visit.step].append(visit.seconds)
    return tuple(
        StepTimes(number, names[number], tuple(seconds[number]), usual.get(number)) for number in sorted(names)
    )


def pareto(reports: Iterable[SessionReport], by: DeviationBy, with_withdrawn: bool = False) -> tuple[ParetoBar, ...]:
    """Deviations by what they have in common, the most frequent first."""
    counts: Counter[str] = Counter()
    for report in reports:
        for story in report.alerts:
            if with_withdrawn or story.outcome != "withdrawn":
                counts[_sort(report, story, by)] += 1
    total, so_far, bars = sum(counts.values()), 0, []
    for name, count in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])):
        so_far += count
        bars.append(ParetoBar(name, count, so_far / total))
    return tuple(bars)


def _sort(report: SessionReport, story: AlertHistory, by: DeviationBy) -> str:
    facts = report.session.facts
    words: Mapping[DeviationBy, str] = {
        "step": story.name,
        "kind": TITLES.get(story.alert.kind, story.alert.kind),
        "person": facts.person or NOBODY,
        "version": f"{Path(facts.bundle).name} {facts.bundle_hash[:8]}",
    }
    return words[by]


def duration_rows(times: Iterable[StepTimes]) -> list[dict[str, Any]]:
    """What the chart of durations draws: a row for every turn, and one a step for the demonstrations."""
    rows: list[dict[str, Any]] = []
    for step in times:
        rows += [{"step": step.label, "seconds": round(one, 2)} for one in step.seconds]
        if step.usual_s is not None:
            low, half, high = step.usual_s
            rows.append({"step": step.label, "low": low, "half": half, "high": high})
    return rows

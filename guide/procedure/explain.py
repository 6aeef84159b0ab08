"""Every rule of a procedure in words: whether it alarms, asks or is silent, and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from guide.procedure.model import Procedure, Rule, StepStatistics, Verdict

_RANK: dict[Verdict, int] = {"alarms": 0, "asks": 1, "silent": 2, "off": 3}


class Explained(NamedTuple):
    """A rule for people.

    >>> Explained("alarms", '"cut" is done', "done in 4 of 4 demonstrations").verdict
    'alarms'
    """

    verdict: Verdict
    rule: str
    reason: str


def explain(procedure: Procedure) -> tuple[Explained, ...]:
    """All rules, those that alarm first; none for a procedure that was learned before decisions were kept."""
    decided = [Explained(one.verdict, _words(procedure, one.rule), one.reason) for one in procedure.rules.decisions]
    if not decided:
        return ()
    return tuple(sorted([*decided, *_limits(procedure), _unknown(procedure)], key=lambda one: _RANK[one.verdict]))


def _words(procedure: Procedure, rule: Rule) -> str:
    step = f'"{procedure.name(rule.step)}"'
    first = "" if rule.before is None else f'"{procedure.name(rule.before)}"'
    usual = procedure.usual_visits(rule.step)
    return {
        "missed": f"{step} is done",
        "repeated": f"{step} is done {f'{usual} times' if usual > 1 else 'once'}",
        "needs": f"{step} needs {first} first",
        "out_of_order": f"{first} comes before {step}",
    }[rule.kind]


def _limits(procedure: Procedure) -> Iterator[Explained]:
    for one in procedure.statistics:
        if one.present:
            yield _limit(procedure, one, dict(procedure.rules.longest_s).get(one.step), "longer")
            yield _limit(procedure, one, dict(procedure.rules.shortest_s).get(one.step), "shorter")


def _limit(procedure: Procedure, seen: StepStatistics, limit_s: float | None, word: str) -> Explained:
    lasted = f"took {seen.shortest_s:.1f} to {seen.longest_s:.1f} s in {seen.present} demonstrations"
    name = f'"{procedure.name(seen.step)}"'
    if limit_s is None:
        return Explained("silent", f"{name} is not {word} than usual", f"{lasted}; right recordings break any limit")
    return Explained("alarms", f"{name} is not {word} than {limit_s:.1f} s", lasted)


def _unknown(procedure: Procedure) -> Explained:
    if procedure.rules.is_unknown_flagged:
        return Explained("alarms", "nothing unknown is done", "right recordings hold hardly anything unknown")
    return Explained("silent", "nothing unknown is done", "right recordings hold unknown activity too often")

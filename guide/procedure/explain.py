"""Every rule of a procedure in words: whether it alarms, asks or is silent, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from guide.procedure.model import Procedure, Rule, StepStatistics, Verdict
from guide.procedure.rule_selection import FEWEST_TO_WARN

DOUBTFUL = (
    "Recognition is much less certain here than in the demonstrations, so the guide asks about steps instead of "
    "raising alerts. Labelling a recording like this one would help."
)
SURER = "Labelling more recordings helps"

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


def watching(procedure: Procedure, is_doubtful: bool = False) -> str:
    """Which steps are warned of when they are left out, which are asked about and which are not watched, and a remedy.

    Nothing where every step that is always done is warned of, or nothing was learned from recordings. `is_doubtful`
    says that a session is asked and not warned.

    >>> from guide.domain import KeyStep
    >>> from guide.procedure.model import Rules
    >>> steps = tuple(KeyStep(number, str(number)) for number in (1, 2, 3, 4))
    >>> watching(Procedure(steps, 8, rules=Rules(required=(1, 3), asked_steps=(4,))))
    'Warns when step 1 or 3 is left out, asks about 4, does not watch 2. Labelling more recordings helps.'
    """
    if is_doubtful:
        return DOUBTFUL
    wanted = [step.number for step in procedure.steps if not step.is_optional]
    warned, asked, rest = (
        [step for step in wanted if procedure.rules.when_left_out(step) == verdict]
        for verdict in ("alarms", "asks", "silent")
    )
    if not procedure.demonstrations or len(warned) == len(wanted):
        return ""
    parts = [f"Warns when step {_listed(warned, 'or')} is left out" if warned else "Never warns of missed steps"]
    parts += [f"asks about {_listed(asked, 'and')}"] if asked else []
    parts += [f"does not watch {_listed(rest, 'and')}"] if rest else []
    if rest == wanted:
        parts = ["Does not notice when a step is left out"]
    more = FEWEST_TO_WARN - procedure.demonstrations
    needed = f"Record {more} more: warnings need {FEWEST_TO_WARN} recordings"
    remedy = needed if more > 0 else SURER
    return f"{', '.join(parts)}. {remedy}."


def _listed(steps: Sequence[int], word: str) -> str:
    """Numbers as they stand in a sentence.

    >>> _listed([1, 4, 6], "or")
    '1, 4 or 6'
    """
    return f" {word} ".join(part for part in (", ".join(map(str, steps[:-1])), str(steps[-1])) if part)


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
        return Explained("silent", f"{name} is not {word} than usual", f"{lasted}; correct recordings break any limit")
    return Explained("alarms", f"{name} is not {word} than {limit_s:.1f} s", lasted)


def _unknown(procedure: Procedure) -> Explained:
    if procedure.rules.is_unknown_flagged:
        return Explained("alarms", "nothing unknown is done", "correct recordings contain hardly any unknown activity")
    why = "correct recordings contain unknown activity too often"
    if procedure.demonstrations < FEWEST_TO_WARN:
        why = f"warnings need {FEWEST_TO_WARN} recordings"
    return Explained("silent", "nothing unknown is done", why)

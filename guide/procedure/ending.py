"""How a session ended, in one verdict: complete, complete with something to look at, not complete, or not judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from guide.domain import Alert
from guide.procedure.attended import AttendedTracker
from guide.words import count_of

EndingKind: TypeAlias = Literal["complete", "look", "not_complete", "not_judged"]
MOST_NAMES = 3


@dataclass(frozen=True, slots=True)
class Ending:
    """The verdict on a session.

    >>> Ending("complete", "Complete").kind
    'complete'
    """

    kind: EndingKind
    words: str


def judge(tracker: AttendedTracker, why_not: str = "") -> Ending:
    """The verdict on all that was done, answers since the end included; `why_not` says why there can be none.

    A step that has to be done and is not leaves it incomplete, whatever was said of the alert about it.
    """
    if why_not:
        return Ending("not_judged", why_not)
    missed = [one.step for one in tracker.standing if isinstance(one, Alert) and one.kind == "missed"]
    lacking = dict.fromkeys([*tracker.progress.lacking, *missed])
    if lacking:
        return Ending("not_complete", f"Not complete: {_listed([*map(tracker.procedure.name, lacking)])} missed")
    count, seen = len(tracker.standing), set(tracker.acknowledged)
    if left := sum(one.id not in seen for one in tracker.standing):
        return Ending("look", f"Complete, {count_of(left, 'thing')} to look at")
    return Ending("complete", f"Complete, {count_of(count, 'alert')} acknowledged" if count else "Complete")


def _listed(names: Sequence[str]) -> str:
    """Names as people list them, many of them cut short.

    >>> _listed(["a"]), _listed(["a", "b", "c"]), _listed(["a", "b", "c", "d", "e"])
    ('a', 'a, b and c', 'a, b, c and 2 more')
    """
    shown = [*names[:MOST_NAMES], *([f"{len(names) - MOST_NAMES} more"] if len(names) > MOST_NAMES else [])]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)

"""Scoring flags: were the planted faults named, and what was flagged besides?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from guide.domain import Alert, AlertKind, Guidance, Question
from guide.procedure.replay import standing_alerts
from offline.study.keep import Plain

EARLY_S = 1.0  # a step begins a moment before its label does
FAULT_KINDS: frozenset[AlertKind] = frozenset({"missed", "out_of_order", "repeated", "unknown"})
"""What the drawn world plants; alerts about durations are neither hits nor false alarms here."""


@dataclass(frozen=True, slots=True)
class Planted:
    """The fault of a recording in true step numbers; kind `none` for a clean one."""

    kind: str
    step: int | None
    before: int | None
    at: float | None
    """From when on it can be known that something is wrong, in seconds."""
    named_at: float | None = None
    """From when on it can be told from every other fault, where that is known."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The alert that named the fault, if any, and the alerts that were wrong."""

    hit: Alert | None
    false_alarms: tuple[Alert, ...]


@dataclass(frozen=True, slots=True)
class FlagScore:
    """Precision and recall of flags over recordings, and false alarms on the clean ones."""

    faults: int
    found: int
    flags: int
    clean: int
    clean_alarms: int

    @property
    def precision(self) -> float:
        return self.found / self.flags if self.flags else float("nan")

    @property
    def recall(self) -> float:
        return self.found / self.faults if self.faults else float("nan")

    def __str__(self) -> str:
        each = self.clean_alarms / self.clean if self.clean else float("nan")
        return (
            f"{self.found} of {self.faults} faults found, {self.found} of {self.flags} flags right, "
            f"{each:.2f} false alarms a clean recording"
        )


def judge(said: Sequence[Guidance], planted: Planted, names: Mapping[int, int]) -> Judged:
    """Whether the fault was named; `names` gives the true step of each found one.

    A step left out counts as found by a `missed` alert on it; an exchange by an `out_of_order` alert that has either
    of its two steps right; a repeat by a `repeated` alert on the step; an unknown activity by an `unknown` alert. An
    alert before the fault could be known is false whatever it names. Every further alert is a flag of its own.
    """
    flags = [alert for alert in standing_alerts(said) if alert.kind in FAULT_KINDS]
    hits = [alert for alert in flags if _names_it(alert, planted, names)]
    hit = hits[0] if hits else None
    return Judged(hit, tuple(alert for alert in flags if alert is not hit))


def first_word(said: Iterable[Guidance], planted: Planted, names: Mapping[int, int]) -> float | None:
    """When the fault was first spoken of by an alert, whether or not that was taken back for a better one.

    Of a step that is done too early, the one it should have waited for is told as missed until it is done after all.
    """
    lacking = Planted("missed", planted.before, None, planted.at)
    about = [planted, lacking] if planted.kind == "out_of_order" and planted.before is not None else [planted]
    alerts = (one for one in said if isinstance(one, Alert))
    return min((one.at for one in alerts if any(_names_it(one, each, names) for each in about)), default=None)


def is_asked_of(said: Iterable[Guidance], planted: Planted, names: Mapping[int, int]) -> bool:
    """Whether a question named a step of the fault when that could be known."""
    wanted = {planted.step, planted.before} - {None}
    since = -math.inf if planted.at is None else planted.at - EARLY_S
    return any(isinstance(one, Question) and one.at >= since and names.get(one.step) in wanted for one in said)


def delay_s(moment: float | None, since: float | None) -> float | None:
    """The seconds from one moment to another, where both are known."""
    return None if moment is None or since is None else moment - since


def total(judged: Sequence[tuple[Planted, Judged]]) -> FlagScore:
    """The figures over all recordings."""
    faulty = [(planted, each) for planted, each in judged if planted.kind != "none"]
    clean = [each for planted, each in judged if planted.kind == "none"]
    found = sum(each.hit is not None for _, each in faulty)
    wrong = sum(len(each.false_alarms) for _, each in judged)
    return FlagScore(len(faulty), found, found + wrong, len(clean), sum(len(each.false_alarms) for each in clean))


def score_of(rows: Iterable[Plain]) -> FlagScore:
    """The figures over rows that each hold those of one recording."""
    some = list(rows)
    return FlagScore(**{field.name: sum(int(row[field.name] or 0) for row in some) for field in fields(FlagScore)})


def _names_it(alert: Alert, planted: Planted, names: Mapping[int, int]) -> bool:
    if alert.kind != planted.kind or (planted.at is not None and alert.at < planted.at - EARLY_S):
        return False
    if alert.kind == "unknown":
        return True
    step = names.get(alert.step)
    if alert.kind == "out_of_order" and alert.before is not None:
        return step == planted.step or names.get(alert.before) == planted.before
    return step is not None and step == planted.step

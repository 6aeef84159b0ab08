"""The mechanisms of the live side and of the rules, each with what stands in its place while it is switched off.

The product has no switches for them. A study puts something else in the place of a constant, a class or a function, and
whatever is learned and followed meanwhile goes without the mechanism, rehearsals too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, Final, TypeAlias

import numpy as np

from guide import task_model
from guide.domain import Guidance
from guide.label import labeller
from guide.label import prototypes as label_prototypes
from guide.label.clock_prior import Clock, ClockPrior
from guide.label.histories import Expectations, Histories
from guide.label.steps import StepSettings
from guide.label.visit_counts import HARDLY, VisitCounts
from guide.label.window import WindowCut
from guide.procedure import evidence, flags, learn, orders, rule_selection, speak, tracker
from guide.procedure.events import Event, Reviewed
from guide.procedure.learn import learn_procedure
from guide.procedure.model import Procedure
from guide.procedure.rule_selection import Cutoffs
from guide.procedure.settings import TrackerSettings
from guide.procedure.speak import settle
from guide.procedure.tracker import Tracker
from guide.task_model import Prior, expectations
from guide.teach import describe, prototypes
from guide.teach.prototypes import learn_prototypes
from offline.study import following

Instead: TypeAlias = Mapping[tuple[Any, str], object]
"""By owner and name, what stands there instead."""

WHOLE: Final = "all parts"
_CHOICE: Final = rule_selection._Choice
_TURN: Final = tracker._Turn


@contextmanager
def switched_off(instead: Instead) -> Iterator[None]:
    """Switches a mechanism off, in this process, for as long as it lasts.

    >>> with switched_off({(rule_selection, "WORTH"): 1.0}):
    ...     rule_selection.WORTH
    1.0
    >>> rule_selection.WORTH
    2.0
    """
    before = {(owner, name): getattr(owner, name) for owner, name in instead}
    try:
        for (owner, name), other in instead.items():
            setattr(owner, name, other)
        yield
    finally:
        for (owner, name), own in before.items():
            setattr(owner, name, own)


def _no_prior(prior: Prior) -> Instead:
    def rest(priors: Collection[Prior]) -> Expectations:
        return expectations(tuple(one for one in priors if one != prior))

    return {(task_model, "expectations"): rest}


def _clock(prior: ClockPrior, steps: tuple[int, ...]) -> Clock:
    return Clock(replace(prior, weights=np.ones_like(prior.weights)), steps)


def _background(prior: ClockPrior, steps: tuple[int, ...]) -> Clock:
    return Clock(replace(prior, background=1.0), steps)


def _unlinked(settings: Any, links: Any, rate: float, steps: tuple[int, ...]) -> WindowCut:
    return WindowCut(settings, replace(links, weight=0.0), rate, steps)


def _visits(procedure: Procedure, place: Mapping[int, int], learned: Any = task_model._visits) -> VisitCounts:
    """What a step that comes several times is counted by, without what coming back costs."""
    found: VisitCounts = learned(procedure, place)
    return replace(found, more=np.full_like(found.more, HARDLY))


class _Unreviewed(Tracker):
    """Nobody tells it what has probably been done; in rehearsals it is told."""

    def apply(self, event: Event) -> tuple[Guidance, ...]:
        return () if isinstance(event, Reviewed) else super().apply(event)


def _silence(cutoffs: Cutoffs, rule: Any, risk: float) -> str:
    return "alarms" if risk <= cutoffs.limit(rule) else "silent"


def _tracked(**settings: float) -> Instead:
    return {(tracker, "TrackerSettings"): partial(TrackerSettings, **settings)}  # type: ignore[arg-type]


LABELS: Final[Mapping[str, Instead]] = {
    "no clock": {(task_model, "Clock"): _clock},
    "background not put back": {(task_model, "Clock"): _background},
    "labels that histories exclude are shown": {(labeller, "IMPOSSIBLE"): 1.0},
    "labels not linked": {(task_model, "WindowCut"): _unlinked},
}
"""Of labels as they are shown; flags come from histories, which know nothing of them."""

RECOGNITION: Final[Mapping[str, Instead]] = {
    "no lead-in": {(describe, "learn_prototypes"): partial(learn_prototypes, has_lead_in=False)},
    "no copies in other orders": {(describe, "learn_prototypes"): partial(learn_prototypes, ways=0)},
    "plain distances": {(prototypes, "SHRINKAGE"): 1.0},
    "one limit for unknown activity": {(label_prototypes, "MOST_UNLIKE"): 1.0},
}
"""Of what is learned of how steps look."""

HISTORIES: Final[Mapping[str, Instead]] = {
    "steps flicker": {(task_model, "StepSettings"): partial(StepSettings, confirm_s=0.0, bridge_s=0.0)},
    "unknown activity at a glance": {(task_model, "StepSettings"): partial(StepSettings, unknown_s=0.0)},
    "the likeliest history alone": {(task_model, "Histories"): partial(Histories, most=1)},
    "no prior on order": _no_prior("order"),
    "no prior on what is done": _no_prior("done"),
    "no prior on durations": _no_prior("duration"),
    "no after-effects": {(task_model, "LOOKED"): 0.0},
    "no visits counted": {(task_model, "_visits"): _visits},
}
"""Of what is heard of a recording: rehearsals are held again without them."""

RULES: Final[Mapping[str, Instead]] = {
    "flags from labels": {(following, "Tracker"): _Unreviewed},
    "rules without rehearsals": {
        (describe, "learn_procedure"): lambda sequences, steps, **_: learn_procedure(sequences, steps)
    },
    "rehearsals add no risk": {(evidence, "seen_broken"): lambda *_: 0.0},
    "each order by its own count": {(orders, "PRIOR_DEMONSTRATIONS"): 0.0},
    "the next recording is no worse": {
        (rule_selection, "expected_live"): lambda alarms, rehearsals: alarms / rehearsals
    },
    "two levels": {(_CHOICE, "_levels"): lambda self: product(self._limits(0), self._limits(1))},
    "weak rules are silent": {(Cutoffs, "verdict"): _silence},
    "no limits on durations": {(rule_selection, "FACTORS"): ()},
    "stalled work is not told": {(rule_selection, "LEAST_PATIENCE_S"): float("inf")},
    "unknown activity is not told": {(flags, "unknown"): lambda: None},
    "limits stay whatever rehearsals say": {(learn, "silence_limits"): lambda procedure, _: procedure},
    "nothing is taken back": {
        (speak, "settle"): lambda voice, causes, at, is_withdrawn: settle(voice, causes, at, is_withdrawn=False)
    },
    "two alerts for one cause": {(_TURN, "_settle_early"): lambda *_: None},
    "nothing asked from .4 up": _tracked(ask_margin=0.0),
    "questions without end": _tracked(most_questions=1000),
}
"""Of rules, and of when the guide speaks: rehearsals are heard as they were."""

"""What a learned procedure leads one to expect of the course of a session, as the labelling stage takes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from guide.domain import BACKGROUND
from guide.label.clock_prior import Clock, ClockPrior
from guide.label.energy import LinkSettings
from guide.label.histories import Expectations, Histories, HistoryModel
from guide.label.labeller import Labeller
from guide.label.steps import StepSettings, StepTrack
from guide.label.visit_counts import VisitCounts
from guide.label.window import WindowCut, WindowSettings
from guide.perceive.appearance import SMOOTHED_STEPS
from guide.procedure.model import Procedure

Prior: TypeAlias = Literal["duration", "done", "order", "after_effects"]
PRIORS: tuple[Prior, ...] = ("duration", "done", "order", "after_effects")

INDEPENDENT = 0.8  # a frame is a witness of its own after about this part of the features' smoothing
LOOKED = 2.0  # independent looks at the workplace in the time of an average step
TICK_SHARE = 0.7  # of the smoothing: histories need not branch more often
PAUSE_SHARE = 0.5  # of an average step that background lasts; it is long or short as it likes
UNUSUAL = 1.2  # strangers' times vary more than those of a few demonstrations
LEAST_SPREAD = 0.3  # of the logarithm of a step's time
TENTHS = 2.563  # standard deviations between the first and the last tenth
DEFAULT_S = 5.0  # where no demonstration shows how long steps take


def histories_of(
    procedure: Procedure,
    steps: tuple[int, ...],
    smoothing_s: float,
    rate: float,
    priors: tuple[Prior, ...] = PRIORS,
) -> Histories:
    """Follows histories of the columns in `steps`; `smoothing_s` is how long features look back for the present.

    What the demonstrations suggest is expected whether it may alarm or not: so a session hears what rehearsals heard.
    """
    known = {one.step: one for one in procedure.statistics if one.durations_s[2] > 0}
    average_s = float(np.mean([one.durations_s[2] for one in known.values()])) if known else DEFAULT_S
    usual = {step: average_s * (1 if step > BACKGROUND else PAUSE_SHARE) for step in steps}
    usual |= {step: one.durations_s[2] for step, one in known.items() if step in usual}
    place = {step: column for column, step in enumerate(steps)}
    before = np.zeros((len(steps), len(steps)), bool)
    for _, then, first in procedure.rules.usual("out_of_order"):
        if first in place and then in place:
            before[place[first], place[then]] = True
    needed = {rule.step for rule in procedure.rules.usual("missed")}
    model = HistoryModel(
        steps,
        np.array([usual[step] for step in steps]),
        _spread(procedure),
        before,
        np.array([step in needed for step in steps]),
        _visits(procedure, place),
        INDEPENDENT / smoothing_s,
        expectations(priors),
        effect_weight=LOOKED * SMOOTHED_STEPS / smoothing_s if "after_effects" in priors else 0.0,
    )
    return Histories(model, max(1.0 / rate, TICK_SHARE * smoothing_s))


def labeller_of(
    histories: Histories,
    links: LinkSettings,
    rate: float,
    prior: ClockPrior | None = None,
    window: WindowSettings | None = None,
    track: StepTrack | None = None,
) -> Labeller:
    """The labelling stage of a session, and of rehearsals, which take the usual settings."""
    steps = histories.model.steps
    cut = WindowCut(window or WindowSettings(), links, rate, steps)
    clock = None if prior is None else Clock(prior, steps)
    return Labeller(histories, cut, track or StepTrack(StepSettings()), clock)


def expectations(priors: tuple[Prior, ...]) -> Expectations:
    """What the usual course counts for, less the kinds that are switched off."""
    full = Expectations()
    if "done" not in priors:
        full = replace(full, repeat=0.0, lacking=0.0)
    if "order" not in priors:
        full = replace(full, order=0.0)
    return replace(full, is_timed="duration" in priors)


def _visits(procedure: Procedure, place: Mapping[int, int]) -> VisitCounts:
    """How often steps come; what no rule says of one, people in general do."""
    counts = np.zeros((procedure.demonstrations, len(place)), np.int64)
    for one in procedure.statistics:
        if one.step in place:
            own = one.counts[: procedure.demonstrations]
            counts[: len(own), place[one.step]] = own
    ruled = {rule.step for rule in procedure.rules.usual("repeated")}
    usual = [procedure.usual_visits(step) for step in place]
    return VisitCounts.learn(counts, usual).freed(np.array([step not in ruled for step in place]))


def _spread(procedure: Procedure) -> float:
    """How much the time of a step varies, as a standard deviation of its logarithm, pooled over the steps."""
    found = [
        np.log(one.durations_s[3] / one.durations_s[1]) / TENTHS
        for one in procedure.statistics
        if one.present > 2 and one.durations_s[1] > 0
    ]
    return max(LEAST_SPREAD, UNUSUAL * float(np.mean(found))) if found else 2 * LEAST_SPREAD

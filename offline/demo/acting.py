"""A script acted out: one moment for every frame, with hands that glide from one activity to the next."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from .gestures import STEPS, ActivityMoment, Gesture, Moment, Pose
from .pastimes import PASTIMES
from .scene import State, Workplace
from .script import RATE_HZ, Event, Script
from .task import BATTERY, BOARD, CABLE, CLOSE, LABEL

GLIDE_S = 0.4  # how long hands take to reach the first place of a new activity
FASTEST_CM = 13.0  # a hand moves at most this far between two frames
_SEATED = {BOARD: "board", BATTERY: "battery", CABLE: "plug", LABEL: "label"}


def act(script: Script, workplace: Workplace) -> Iterator[Moment]:
    """One moment per frame."""
    state, last, shown = workplace.start(), None, None
    for event in script.events:
        gesture = gesture_of(event)
        for number, frame in enumerate(event.frames):
            moment = gesture(_activity_moment(event, frame, workplace, state))
            if last is not None and shown is not None:
                moment = _follow(shown, _glide(last, moment, min((number + 1) / (GLIDE_S * RATE_HZ), 1.0)))
            shown = moment
            yield moment
        last = shown
        state = settle(event, gesture(ActivityMoment(workplace, state, 1.0, 1.0)).state, state, workplace)


def gesture_of(event: Event) -> Gesture:
    return STEPS[event.step] if event.activity == "step" else PASTIMES[event.activity]


def settle(event: Event, after: State, before: State, workplace: Workplace) -> State:
    """The state once the event is over: what was fitted sits, what was only handled is as before."""
    if event.activity != "step":
        return before
    after = replace(after, spin=0.0)
    if event.step in _SEATED:
        name = _SEATED[event.step]
        after = after.put(**{name: workplace.seats[name]})
    return replace(after, lid=0.0) if event.step == CLOSE else after


def _activity_moment(event: Event, frame: int, workplace: Workplace, state: State) -> ActivityMoment:
    frames = event.frames
    elapsed = (frame - frames.start) / RATE_HZ
    return ActivityMoment(
        workplace, state, (frame - frames.start + 1) / len(frames), elapsed * workplace.person.tempo, frames.start
    )


def _glide(last: Moment, now: Moment, share: float) -> Moment:
    smooth = share * share * (3 - 2 * share)
    return replace(now, main=last.main.blend(now.main, smooth), helper=last.helper.blend(now.helper, smooth))


def _follow(shown: Moment, now: Moment) -> Moment:
    """The moment with hands no farther from where they were last seen than hands can move."""
    return replace(now, main=_reach(shown.main, now.main), helper=_reach(shown.helper, now.helper))


def _reach(here: Pose, there: Pose) -> Pose:
    distance = math.dist((here.x, here.y, here.z), (there.x, there.y, there.z))
    return there if distance <= FASTEST_CM else here.blend(there, FASTEST_CM / distance)

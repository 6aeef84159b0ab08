"""Wires the stages together: frames in, updates out. Live and replay run the same; only the source differs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from guide.bundle import Bundle
from guide.domain import BACKGROUND, UNKNOWN, Belief, Frame, Guidance, SettledLabel, StepEvent, Update
from guide.errors import BundleError, InputError
from guide.label.after_effects import AfterEffects, AfterEffectsWatch
from guide.label.labeller import Labelled
from guide.label.prototypes import Prototypes, Unaries
from guide.label.restarts import MOST_RESTARTS, Restarts
from guide.label.steps import StepSettings, StepTrack
from guide.label.window import WindowSettings
from guide.manifest import link_settings, perception_settings
from guide.networks import Networks
from guide.perceive.perceiver import BlindPerceiver, Perceiver, Percept
from guide.procedure.actions import Action, newest_restart
from guide.procedure.attended import AttendedTracker
from guide.procedure.events import news_of
from guide.procedure.model import Procedure
from guide.procedure.reading import from_plain
from guide.procedure.settings import TrackerSettings
from guide.settings import LiveSettings
from guide.task_model import histories_of, labeller_of

MOST_BUSY = 0.8  # of the time between two frames for looking; the rest is for decoding and all that follows
BY_HAND_RATE = 2.0  # times a second that such a session looks at the clock
FARTHEST = 1e18  # no number of an embedding is larger, unless it is on its way to infinity
OLD_RESTART = f"this restart cannot be taken back any more: the last {MOST_RESTARTS} of a session can be."


class Listener(Protocol):
    """What hears all that happens in a session, such as a recording of it; it must not hold up the session."""

    def saw(self, frame: Frame) -> None: ...

    def perceived(self, percept: Percept, updates: tuple[Update, ...]) -> None: ...

    def acted(self, action: Action, said: tuple[Guidance, ...]) -> None: ...

    def finished(self, updates: tuple[Update, ...]) -> None: ...


class _Recogniser:
    """What recognises steps in percepts, and can begin anew."""

    def __init__(self, bundle: Bundle, procedure: Procedure, settings: LiveSettings) -> None:
        arrays, rate = bundle.arrays("prototypes.npz"), float(bundle.facts["rate"])
        prototypes = Prototypes.from_arrays(arrays)
        if strange := set(prototypes.steps) - {*procedure.numbers, BACKGROUND, UNKNOWN}:
            raise BundleError(
                f"{bundle.folder} recognises steps {sorted(strange)} that its procedure lacks: export again."
            )
        self._unaries = Unaries(prototypes)
        smoothing_s = perception_settings(bundle).appearance.smoothing_s
        histories = histories_of(procedure, prototypes.steps, smoothing_s, rate, settings.priors)
        track = StepTrack(StepSettings(confirm_s=settings.confirm_s, bridge_s=settings.bridge_s), prototypes.confidence)
        window = WindowSettings(settings.window_frames, settings.lag_s)
        self._labeller = labeller_of(histories, link_settings(bundle), rate, prototypes.clock, window, track)
        self._restarts = Restarts(self._labeller, _watch_effects(arrays, prototypes, settings))
        self.restart, self.go_on_from, self.knows = (
            self._restarts.restart,
            self._restarts.go_on_from,
            self._restarts.knows,
        )
        self.belief, self.finish, self.endings = self._labeller.belief, self._labeller.finish, self._restarts.endings

    def push(self, percept: Percept) -> Labelled:
        costs = self._unaries.push(percept.embedding, percept.at)
        return self._restarts.push(costs, percept.embedding, percept.at)


class _NoRecogniser:
    """Recognises nothing: each moment is background, until an operator says what was done."""

    def push(self, percept: Percept) -> Labelled:
        return Labelled(None, ((SettledLabel(percept.at, BACKGROUND, 1.0), ()),))

    def finish(self) -> tuple[Labelled, tuple[StepEvent, ...]]:
        return Labelled(), ()

    def restart(self, number: int) -> None:
        """The tracker begins anew by itself."""

    def knows(self, number: int) -> bool:
        return True

    def go_on_from(self, number: int) -> bool:
        return False

    def endings(self) -> dict[int, Belief]:
        return {}

    def belief(self) -> Belief:
        raise AssertionError("nobody looks back where nothing is recognised")


class Session:
    """One person's run through a task: push frames, get updates; `finish` at the end.

    An operator's actions come in by `act`, between two frames and from the same thread. Without networks nothing is
    recognised: steps are done when an operator marks them so.
    """

    def __init__(self, bundle: Bundle, networks: Networks, settings: LiveSettings) -> None:
        self.bundle, self.settings, self.precision = bundle, settings, networks.precision
        self.procedure: Procedure = from_plain(bundle.json("procedure.json"))
        self.tracker = AttendedTracker(self.procedure, TrackerSettings(is_by_hand=networks.head is None))
        self.listener: Listener | None = None
        self.last_label: SettledLabel | None = None
        """The newest released label."""
        self._unsaid: tuple[Guidance, ...] = ()
        self.is_cut_off = False
        """Whether its recording ended before the work did."""
        self.endings: Mapping[int, Belief] = {}
        """Once it is over: what was done in all, by the restart since which that counts."""
        self.perceiver: Perceiver | BlindPerceiver = BlindPerceiver(BY_HAND_RATE)
        self._recogniser: _Recogniser | _NoRecogniser = _NoRecogniser()
        if networks.head is not None:
            self.perceiver = Perceiver(perception_settings(bundle), networks.head, networks.trunk)
            self.perceiver.take_turns = settings.looks == "turns"
            self._recogniser = _Recogniser(bundle, self.procedure, settings)

    @property
    def why_not_judged(self) -> str:
        """Why there can be no verdict on what was done, or nothing."""
        if self.last_label is None:
            return "Nothing was seen: no picture came"
        if self.is_cut_off:
            return "Not judged: the recording ends early"
        return "" if self.tracker.state.is_finished else "Not judged: broken off"

    @property
    def is_by_hand(self) -> bool:
        """Whether nothing is recognised, and steps are done when an operator says so."""
        return isinstance(self._recogniser, _NoRecogniser)

    def keep_up(self) -> str:
        """Has two looks take turns where this machine has no time for both; says so, or nothing. For live sources."""
        if self.settings.looks != "auto" or self.perceiver.time_needed <= MOST_BUSY:
            return ""
        self.perceiver.take_turns = True
        return (
            "this machine has no time for two looks at each frame: they take turns. --looks both would drop frames "
            "instead."
        )

    def rename(self, names: Mapping[int, str]) -> None:
        """Shows steps under other names; what was learned stays."""
        steps = tuple(replace(step, name=names.get(step.number, step.name)) for step in self.procedure.steps)
        self.procedure = replace(self.procedure, steps=steps)
        self.tracker.procedure = self.procedure

    def push(self, frame: Frame) -> tuple[Update, ...]:
        """The updates a frame leads to: none in between the working rate's ticks, and while labels settle."""
        return self.see(frame) if self.perceiver.is_due(frame.at) else ()

    def see(self, frame: Frame) -> tuple[Update, ...]:
        """The updates of a frame that was found to be due."""
        return self.perceived(self.perceive(frame))

    def perceive(self, frame: Frame) -> Percept:
        """What the networks make of a frame that was found to be due; `perceived` takes it further."""
        if self.listener is not None:
            self.listener.saw(frame)
        return self.perceiver.see(frame)

    def perceived(self, percept: Percept) -> tuple[Update, ...]:
        """The updates that follow from what was seen."""
        if not (np.abs(percept.embedding) < FARTHEST).all():
            raise BundleError(
                "the bundle's networks give numbers that are not finite: try --precision float, or train or export it "
                "again."
            )
        updates = self._take(self._recogniser.push(percept))
        if self.listener is not None:
            self.listener.perceived(percept, updates)
        return updates

    def act(self, action: Action) -> tuple[Guidance, ...]:
        """What is said because of an operator's action, which counts at once; InputError where it makes no sense."""
        said = act_after_end(self.tracker, self.endings, action) if self.endings else self._act(action)
        if self.listener is not None:
            self.listener.acted(self.tracker.actions[-1], said)
        return said

    def _act(self, action: Action) -> tuple[Guidance, ...]:
        newest = newest_restart(self.tracker.actions, action)
        if not self._recogniser.knows(newest) and action.kind != "restart":
            raise InputError(OLD_RESTART)
        said = self._unsaid + self.tracker.act(action)  # an action may be about what is still unsaid
        self._unsaid = ()
        if action.kind == "restart":
            self._recogniser.restart(newest)
        elif self._recogniser.go_on_from(newest):
            said += self.tracker.review(self._recogniser.belief())
        return said

    def finish(self, is_cut_off: bool = False) -> tuple[Update, ...]:
        """Releases what was held back, ends the open step and judges the whole, as part of the last update.

        Where nothing was held back (no lag), that update repeats the last label; without any frame there is none.
        What is lacking in a recording that is cut off is asked about: it may have been done since.
        """
        self.is_cut_off = is_cut_off
        updates = self._finish()
        if self.listener is not None:
            self.listener.finished(updates)
        return updates

    def _finish(self) -> tuple[Update, ...]:
        labelled, events = self._recogniser.finish()
        updates = list(self._take(labelled))
        if self.last_label is None:
            return ()
        self.endings = self._recogniser.endings()
        last = updates.pop() if updates else Update(self.last_label)
        said, self._unsaid = self._unsaid, ()  # where no label was held back to bring it along
        said += tuple(word for event in events for word in self._tell(event))
        said += self.tracker.finish(self.last_label.at, self.is_cut_off)
        return (*updates, replace(last, events=last.events + events, guidance=last.guidance + said))

    def _take(self, labelled: Labelled) -> tuple[Update, ...]:
        """The updates of the labels that settled; words that a look back led to come with the next label."""
        if labelled.belief is not None:
            self._unsaid += self.tracker.review(labelled.belief)
        return tuple(self._update(label, events) for label, events in labelled.settled)

    def _update(self, label: SettledLabel, events: tuple[StepEvent, ...]) -> Update:
        self.last_label = label
        guidance, self._unsaid = self._unsaid, ()
        guidance += tuple(said for event in events for said in self._tell(event))
        return Update(label, events, guidance + self.tracker.tick(label.at))

    def _tell(self, event: StepEvent) -> tuple[Guidance, ...]:
        news = news_of(event)
        return () if news is None else self.tracker.apply(news)


def act_after_end(tracker: AttendedTracker, endings: Mapping[int, Belief], action: Action) -> tuple[Guidance, ...]:
    """What is said because of an action when all is over: where it is about a restart, another past counts."""
    before, after = newest_restart(tracker.actions), newest_restart(tracker.actions, action)
    if after == before:
        return tracker.act(action)
    if after not in endings:
        raise InputError(OLD_RESTART)
    return tracker.act(action, endings[after])


def follow(frames: Iterable[Frame], session: Session) -> Iterator[Update]:
    """All updates of a source, in order."""
    return follow_percepts((session.perceive(frame) for frame in frames if session.perceiver.is_due(frame.at)), session)


def follow_features(rows: Iterable[NDArray[np.float32]], rate: float, session: Session) -> Iterator[Update]:
    """The same for rows of precomputed features, each (P,), `rate` a second; more than the working rate are passed."""
    timed = ((row, number / rate) for number, row in enumerate(rows))
    return follow_percepts((session.perceiver.take(*one) for one in timed if session.perceiver.is_due(one[1])), session)


def follow_percepts(percepts: Iterable[Percept], session: Session) -> Iterator[Update]:
    """The same for what was seen at the working rate."""
    for percept in percepts:
        yield from session.perceived(percept)
    yield from session.finish()


def _watch_effects(
    arrays: Mapping[str, NDArray[np.generic]], prototypes: Prototypes, settings: LiveSettings
) -> AfterEffectsWatch | None:
    """Who looks for what the steps leave behind, where that is known and wanted."""
    effects = AfterEffects.from_arrays(arrays, prototypes.centres.shape[1], prototypes.steps)
    wanted = effects is not None and "after_effects" in settings.priors
    return AfterEffectsWatch(effects, prototypes.steps) if effects is not None and wanted else None

"""Follows one session through a procedure: step news in, guidance out."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from guide.domain import BACKGROUND, UNKNOWN, Belief, Guidance
from guide.procedure import flags, speak
from guide.procedure.events import Confirmed, Ended, Event, Finished, Marked, Reviewed, Ticked
from guide.procedure.flags import Finding
from guide.procedure.model import Procedure
from guide.procedure.progress import Progress, progress_of
from guide.procedure.settings import TrackerSettings
from guide.procedure.state import Cause, Fault, Judged, State

RECONSIDERED = ("missed", "out_of_order", "repeated")  # what a look back at the history may put otherwise


class Tracker:
    """Says what is missed, out of order, repeated and so on, as steps are confirmed.

    Only `push` and `finish` are needed to check a sequence of steps; `end` and `tick` add what depends on durations.

    >>> from guide.domain import KeyStep
    >>> from guide.procedure.model import Rules
    >>> steps = (KeyStep(1, "cut"), KeyStep(2, "fold"), KeyStep(3, "glue"))
    >>> task = Procedure(steps, 4, rules=Rules(edges=((1, 2), (2, 3)), required=(1, 2, 3)))
    >>> tracker = Tracker(task)
    >>> [alert.kind for step in (1, 3) for alert in tracker.push(step, at=float(step))]
    ['missed']
    >>> [alert.severity for alert in tracker.finish()]
    ['alarm']
    """

    def __init__(self, procedure: Procedure, settings: TrackerSettings | None = None) -> None:
        self.procedure = procedure
        self.settings = settings or TrackerSettings()
        self.state = State()

    @property
    def progress(self) -> Progress:
        return progress_of(self.procedure, self.state)

    def push(self, step: int, at: float, start: float | None = None) -> tuple[Guidance, ...]:
        """A step (or unknown activity, -1) is confirmed at `at`, being done since `start`."""
        return self.apply(Confirmed(step, at, start=start))

    def end(self, step: int, at: float, end: float | None = None) -> tuple[Guidance, ...]:
        """The step is known at `at` to be over since `end`."""
        return self.apply(Ended(step, at, end))

    def tick(self, at: float) -> tuple[Guidance, ...]:
        """Time passes: a step may take too long, or the work may have stalled."""
        return self.apply(Ticked(at))

    def review(self, belief: Belief) -> tuple[Guidance, ...]:
        """What has probably been done looks so from now on: words on order, absence and repeats follow it."""
        return self.apply(Reviewed(belief.at, belief))

    def mark(self, step: int, at: float, is_done: bool) -> tuple[Guidance, ...]:
        """A person says whether a step is done."""
        return self.apply(Marked(step, at, is_done))

    def finish(self, at: float | None = None, is_cut_off: bool = False) -> tuple[Guidance, ...]:
        """The session is over: what is lacking now was missed. Later calls say nothing.

        Where its recording is cut off, what is lacking is asked about.
        """
        return self.apply(Finished(at, is_cut_off))

    def apply(self, event: Event) -> tuple[Guidance, ...]:
        """Any event; the state before it can be kept, and put back to undo it."""
        self.state, said = advance(self.procedure, self.settings, self.state, event)
        return said


def advance(
    procedure: Procedure, settings: TrackerSettings, state: State, event: Event
) -> tuple[State, tuple[Guidance, ...]]:
    """The state after an event and what is said about it. Time never runs back: earlier news counts as of now."""
    if state.is_finished and not isinstance(event, Marked):  # what was done can still be said
        return state, ()
    if event.at is not None and not isinstance(event, Reviewed):  # a look back runs ahead of the labels' lag
        state = replace(state, at=max(state.at, event.at))
    turn = _Turn(procedure, settings, state)
    match event:
        case Confirmed(step=step) if step > BACKGROUND:
            turn.confirm(event)
        case Confirmed(step=step) if step == UNKNOWN:
            turn.meet_unknown(event)
        case Ended():
            turn.end(event)
        case Ticked():
            turn.tell(flags.too_long(procedure, state, state.at), flags.stalled(procedure, state, state.at))
        case Reviewed():
            turn.review(event)
        case Marked():
            turn.mark(event)
        case Finished():
            turn.finish(event.is_cut_off)
    return turn.state, tuple(turn.said)


def only_asks(procedure: Procedure, state: State) -> bool:
    """Whether a session is recognised so much less surely than the demonstrations that it is asked and not warned."""
    return state.belief is not None and state.belief.certainty < procedure.rules.least_certainty


class _Turn:
    """One event being worked off: the state so far and what was said."""

    def __init__(self, procedure: Procedure, settings: TrackerSettings, state: State) -> None:
        self.procedure = procedure
        self.settings = settings
        self.state = state
        self.at = state.known_at  # when what is said became known
        self.said: list[Guidance] = []

    def tell(self, *findings: Finding | None) -> None:
        for finding in findings:
            if finding is not None:
                voice, said = speak.tell(self.state.voice, finding, self.at, self.procedure, self.settings)
                self._say(replace(self.state, voice=voice), said)

    def settle(self, causes: Iterable[Cause], is_withdrawn: bool) -> None:
        voice, said = speak.settle(self.state.voice, causes, self.at, is_withdrawn)
        self._say(replace(self.state, voice=voice), said)

    def settle_passing(self, but: Cause | None = None) -> None:
        causes = {cause for cause, _ in self.state.voice.standing if cause[0] in flags.PASSING}
        self.settle(causes - {but}, is_withdrawn=False)

    def confirm(self, event: Confirmed) -> None:
        before = self.state
        start = min(before.known_at if event.start is None else event.start, before.known_at)
        if before.last != event.step:
            self.settle_passing()
            if before.belief is None:
                self.tell(flags.too_short(self.procedure, before.last, before.busy_s(start)))
        else:
            self.settle_passing(but=("too_long", event.step))
        if before.belief is None:
            self._judge(before, event)
        if before.belief is not None and before.last != event.step and _is_past(before, start):
            self.state = replace(self.state, doing=event.step)
        else:
            self.state = self.state.begin(event.step, start)

    def _judge(self, before: State, event: Confirmed) -> None:
        """What doing this step now says about the order."""
        if event.step not in before.done:
            self._meet_first(before, event.step)
        elif event.step != before.last:
            self._meet_again(before, event)

    def _meet_first(self, before: State, step: int) -> None:
        self.settle([("missed", one) for one in self.procedure.rules.fulfilled([step])], is_withdrawn=True)
        late = flags.late_after(self.procedure, before, step)
        if late is not None:
            self._note(late)
            self.tell(flags.out_of_order(self.procedure, late))
        lacking = flags.lacking_before(self.procedure, before, step)
        if lacking is not None:
            self._note(lacking)
            self.tell(flags.not_yet(self.procedure, lacking))
        elif late is None:
            self.tell(flags.other_variant(self.procedure, before.done, step))

    def _meet_again(self, before: State, event: Confirmed) -> None:
        """Doing a step once more that was done too early puts it right; a visit that everybody makes does not."""
        is_early = any(fault.early == event.step and fault.lacking in before.done for fault in before.faults)
        if is_early and before.times(event.step) >= self.procedure.fewest_visits(event.step):
            self.settle([("out_of_order", event.step)], is_withdrawn=False)
        else:
            self.tell(flags.repeated(self.procedure, before, event))

    def _note(self, fault: Fault) -> None:
        if fault not in self.state.faults:
            self.state = replace(self.state, faults=(*self.state.faults, fault))

    def meet_unknown(self, event: Confirmed) -> None:
        self.state = self.state.pause(min(self.state.at if event.start is None else event.start, self.state.at))
        if self.procedure.rules.is_unknown_flagged:
            self.tell(flags.unknown())

    def end(self, event: Ended) -> None:
        if event.step == UNKNOWN:
            self.settle([("unknown", UNKNOWN)], is_withdrawn=False)
        elif event.step == self.state.current:
            end = min(self.state.at if event.end is None else event.end, self.state.at)
            self.tell(flags.too_long(self.procedure, self.state, end))
            self.settle([("too_long", event.step)], is_withdrawn=False)
            self.state = self.state.pause(end)
        elif event.step == self.state.doing:  # a look back is at another step already
            self.settle([("too_long", event.step)], is_withdrawn=False)
            self.state = replace(self.state, doing=None)

    def review(self, event: Reviewed) -> None:
        """Says what the history looks like now, and takes back what it no longer looks like."""
        before, self.state = self.state, self.state.review(event.belief)
        self.at = max(self.at, event.at)  # a look back is ahead of the labels, which wait to settle
        if len(self.state.visits) > 1 and self.state.visits[-2].step == before.last != self.state.last:
            closed = self.state.visits[-2]
            self.tell(flags.too_short(self.procedure, closed.step, closed.busy_s))
        replay = _Replay(self.procedure, self.settings, self.state)
        found = [self._weigh(finding) for finding in replay.found()]
        wanted = {finding.cause: finding for finding in found if finding is not None}
        told = [cause for cause, _ in (*self.state.voice.standing, *self.state.voice.open_questions)]
        self.settle([cause for cause in told if cause[0] in RECONSIDERED and cause not in wanted], is_withdrawn=True)
        self.state = replace(self.state, faults=replay.state.faults, judged=replay.judged)
        self.tell(*wanted.values())

    def _weigh(self, finding: Finding) -> Finding | None:
        """The finding as far as it is believed: sure, a question, or nothing."""
        chance, alert_chance = self._chance(finding), self.settings.alert_chance
        if chance >= alert_chance:
            return replace(finding, is_sure=False) if only_asks(self.procedure, self.state) else finding
        return replace(finding, is_sure=False) if chance >= alert_chance - self.settings.ask_margin else None

    def _chance(self, finding: Finding) -> float:
        state = self.state
        if state.belief is None or finding.step in (*state.marked, *state.denied):
            return 1.0
        match finding.kind:
            case "missed" if finding.step in state.done:
                return state.belief.chance_fewer(finding.step)
            case "missed":
                return state.belief.chance_lacking(finding.step)
            case "repeated":
                return state.belief.chance_again(finding.step)
            case "out_of_order" if finding.before is not None and finding.before not in state.done:
                # At least so probably the one was done and the other was not.
                return max(state.belief.chance_lacking(finding.before) - state.belief.chance_lacking(finding.step), 0.0)
            case "out_of_order" if finding.before is not None:
                return state.belief.chance_swapped(finding.before, finding.step)
            case "out_of_order":  # of another variant: it was done, which may be doubtful
                return 1.0 - state.belief.chance_lacking(finding.step)
        return 1.0

    def mark(self, event: Marked) -> None:
        state = self.state
        if event.is_done:
            self.settle([("missed", one) for one in self.procedure.rules.fulfilled([event.step])], is_withdrawn=True)
            marked = tuple(dict.fromkeys((*state.marked, event.step)))
            denied = tuple(step for step in state.denied if step != event.step)
        else:
            marked = tuple(step for step in state.marked if step != event.step)
            denied = tuple(dict.fromkeys((*state.denied, event.step)))
        self.state = replace(self.state, marked=marked, denied=denied)

    def finish(self, is_cut_off: bool) -> None:
        self.tell(flags.too_long(self.procedure, self.state, self.state.at))
        self.settle_passing()
        if (
            self.state.current is None
        ):  # a step still running when the recording stops was not too short, it was cut off
            self.tell(flags.too_short(self.procedure, self.state.last, self.state.busy_s(self.state.at)))
        missed = [self._weigh(finding) for finding in flags.missed_at_end(self.procedure, self.state)]
        if is_cut_off:
            missed = [finding and replace(finding, is_sure=False) for finding in missed]
        else:
            self._settle_early({finding.step for finding in missed if finding is not None})
        self.tell(*missed)
        self.state = replace(self.state.pause(self.state.at), is_finished=True)

    def _settle_early(self, missed: Collection[int]) -> None:
        """What was done too early turns out to have been done without the step that it needs: one cause, one alert."""
        standing = dict(self.state.voice.standing)
        causes = [("out_of_order", fault.early) for fault in self.state.faults if fault.lacking in missed]
        early = [cause for cause in causes if cause in standing and standing[cause].before in missed]
        self.settle(early, is_withdrawn=True)

    def _say(self, state: State, said: tuple[Guidance, ...]) -> None:
        self.state = state
        self.said.extend(said)


def _is_past(state: State, start: float) -> bool:
    """Whether what began at `start` is over by now: a look back has already seen something begin later."""
    return bool(state.visits) and start < state.visits[-1].start


class _Replay(_Turn):
    """The visits so far, judged one after the other as if each had just been confirmed; nothing is said."""

    def __init__(self, procedure: Procedure, settings: TrackerSettings, state: State) -> None:
        count = 0 if state.judged is None else state.judged.common(state, procedure)
        self._after = [] if state.judged is None else list(state.judged.after[:count])
        faults, found = self._after[-1] if self._after else ((), {})
        fresh = State(marked=state.marked, denied=state.denied, faults=faults)
        super().__init__(procedure, settings, fresh)
        self._visits = state.visits
        self._found: dict[Cause, Finding] = dict(found)

    def found(self) -> list[Finding]:
        """What goes against the rules and was not put right since."""
        for count, visit in enumerate(self._visits[len(self._after) :], len(self._after)):
            # Not `begin`: a step that a person called not done stays so, however often it was seen.
            self.state = replace(self.state, visits=self._visits[:count])
            self._judge(self.state, Confirmed(visit.step, visit.start))
            self._after.append((self.state.faults, dict(self._found)))
        return list(self._found.values())

    @property
    def judged(self) -> Judged:
        """What the next look back begins with, as far as it finds the same."""
        steps = tuple(visit.step for visit in self._visits)
        return Judged(self.procedure, self.state.marked, self.state.denied, steps, tuple(self._after))

    def tell(self, *findings: Finding | None) -> None:
        self._found |= {finding.cause: finding for finding in findings if finding is not None}

    def settle(self, causes: Iterable[Cause], is_withdrawn: bool) -> None:
        for cause in causes:
            self._found.pop(cause, None)

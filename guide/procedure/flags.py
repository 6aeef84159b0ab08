"""The rules: what an event says against the demonstrations. No memory of what was said: that is the voice's.

One fault should lead to one flag of the right kind. When b is done and a, which always came first, is lacking, nobody
can know yet whether a was left out or comes later. Where everybody does a, a soft `missed` names it, the earliest of
several; whatever else is lacking at that moment belongs to the same cause and is not named. When a is done after all,
`out_of_order` takes its place; when another step that needs a is done meanwhile, nothing new is said. Where only those
do a that do b, b is `out_of_order`; when a has not come by the end, `missed` takes its place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from guide.domain import UNKNOWN, AlertKind, Severity
from guide.procedure.events import Confirmed
from guide.procedure.given_rules import given_steps
from guide.procedure.model import Procedure
from guide.procedure.orders import Lacking, kin_risk
from guide.procedure.progress import rank_next
from guide.procedure.state import Cause, Fault, State

PASSING: tuple[AlertKind, ...] = ("unknown", "too_long", "stalled")  # these end by themselves
GIVEN = "by a rule that was given"


@dataclass(frozen=True, slots=True)
class Finding:
    """A deviation as the rules see it; an unsure one leads to a question.

    >>> Finding("repeated", 2, "warning", "done twice").cause
    ('repeated', 2)
    """

    kind: AlertKind
    step: int
    severity: Severity
    evidence: str
    before: int | None = None
    is_sure: bool = True

    @property
    def cause(self) -> Cause:
        return (self.kind, self.step)


def lacking_before(procedure: Procedure, state: State, step: int) -> Fault | None:
    """The fault of doing `step` now: a step that had to come first and is not done, if it is news.

    Of several it is the earliest that everybody does, else the nearest.
    """
    rules = procedure.rules
    surely_named = {fault.lacking for fault in state.faults if fault.is_sure}
    done = rules.fulfilled(state.done)
    sure = _open({*done, *surely_named}, rules.needed_by(step))
    named = {fault.lacking for fault in state.faults}
    found = sure or _open({*done, *named}, rules.needed_by(step, is_asked=True))
    if found:
        usual = procedure.usual_rank()
        ranked = sorted(found, key=lambda first: (usual.get(first, 0.0), first))
        lacking = next((first for first in ranked if _is_wanted(procedure, first)), ranked[-1])
        return Fault(step, lacking, bool(sure))
    variants = lacking_in_variant(procedure, state.done, step)
    variant = next((one for one in variants if named.isdisjoint({one.step, one.instead})), None)
    return None if variant is None else Fault(step, variant.step, is_sure=True, because=variant)


def _open(closed: set[int], needed: Iterable[int]) -> list[int]:
    """The needed steps that are not done and not named yet."""
    return [step for step in needed if step not in closed]


def lacking_in_variant(procedure: Procedure, done: Collection[int], step: int) -> list[Lacking]:
    """What came first in variants of the task, the surest first."""
    rules = procedure.rules
    found = [] if rules.variant_risk is None else procedure.orders.lacking(step, done, rules.variant_risk)
    is_free = {first for first, then in rules.relaxed_edges if then == step} | rules.fulfilled(done)
    return [one for one in found if one.step not in is_free]


def other_variant(procedure: Procedure, done: Collection[int], step: int) -> Finding | None:
    """The step is one that nobody did who did all that was done so far, or that a given alternative stands for."""
    rules, risk = procedure.rules, procedure.rules.variant_risk
    for pair in (one for one in rules.alternatives if step in one):
        other = pair[1 - pair.index(step)]
        if other in done:
            evidence = f'either it or "{procedure.name(other)}" must be done, {GIVEN}'
            return Finding("out_of_order", step, "warning", evidence)
    if any(rules.is_relaxed("either", (step, other)) for other in done):
        return None
    if risk is None or not done or step not in procedure.orders.column:
        return None
    total, both = procedure.orders.kin(step, done)
    if kin_risk(total, both) > risk:
        return None
    evidence = f"{both} of {total} demonstrations that did all steps so far did this one: it belongs to another variant"
    return Finding("out_of_order", step, "warning", evidence)


def late_after(procedure: Procedure, state: State, step: int) -> Fault | None:
    """The fault that shows when `step` is done only now: the first step done too early, told of or not."""
    done, now = procedure.rules.fulfilled(state.done), procedure.rules.fulfilled([step])
    told = [fault for fault in state.faults if not fault.is_made_up(done) and fault.is_made_up(now)]
    late = procedure.rules.successors(step)
    if told:
        # What was only asked about, since the step need not be done, is an alarm once it is done too late.
        return next((one for one in told if one.is_sure or one.early in late), None)
    explained = {fault.early for fault in state.faults}
    # What a person marked as done has no moment, so it cannot have been too early.
    begun = [visit.step for visit in state.visits if visit.step not in state.denied]
    early = [other for other in begun if other in late and other not in explained]
    return Fault(early[0], step, True) if early else None


def not_yet(procedure: Procedure, fault: Fault) -> Finding:
    """What is said while nobody can know whether the lacking step comes: of one that everybody does, that it lacks."""
    if not _is_wanted(procedure, fault.lacking):
        evidence = f"{_came_first(procedure, fault)}, and is not done"
        return Finding("out_of_order", fault.early, "warning", evidence, fault.lacking, fault.is_sure)
    evidence = (
        f'"{procedure.name(fault.lacking)}" has not been seen, though "{procedure.name(fault.early)}" is being done: '
        f"it {_first_so(procedure, fault)}"
    )
    return Finding("missed", fault.lacking, "warning", evidence, is_sure=fault.is_sure)


def _first_so(procedure: Procedure, fault: Fault) -> str:
    """Why the lacking step comes first."""
    if (fault.lacking, fault.early) in procedure.rules.given_edges:
        return f"comes first {GIVEN}"
    pair = procedure.precedence(fault.lacking, fault.early)
    return f"came first in {pair.support} of {pair.total} demonstrations"


def _is_wanted(procedure: Procedure, step: int) -> bool:
    """Whether the step is to be done whatever else is."""
    return step in procedure.rules.required or step in procedure.rules.asked_steps


def _came_first(procedure: Procedure, fault: Fault) -> str:
    """In how many of the demonstrations that did the early step the lacking one came first."""
    early, lacking, because = procedure.name(fault.early), procedure.name(fault.lacking), fault.because
    if (fault.lacking, fault.early) in procedure.rules.given_edges:
        return f'"{lacking}" comes before "{early}" {GIVEN}'
    if because is None:
        held = procedure.statistics_of(fault.early)
        support = procedure.precedence(fault.lacking, fault.early).support
        return f'"{lacking}" came first in {support} of {held.present if held else 0} that did "{early}"'
    either = "" if because.instead is None else f' or "{procedure.name(because.instead)}"'
    those = " and all that was done before" if because.is_kin else ""
    return f'"{lacking}"{either} came first in {because.support} of {because.total} that did "{early}"{those}'


def out_of_order(procedure: Procedure, fault: Fault) -> Finding:
    early, lacking = procedure.name(fault.early), procedure.name(fault.lacking)
    evidence = f'"{early}" was done before "{lacking}", which {_first_so(procedure, fault)}'
    return Finding("out_of_order", fault.early, "alarm", evidence, before=fault.lacking)


def missed_at_end(procedure: Procedure, state: State) -> list[Finding]:
    """A finding for each step that was not done and had to be, in the usual order; less certain ones come as unsure.

    That is what everybody does, and what something that was done needs.
    """
    usual = procedure.usual_rank()
    done = procedure.rules.fulfilled(state.done)
    needed = {fault.lacking: fault for fault in state.faults if not fault.is_made_up(done)}
    wanted = {step: fault.is_sure for step, fault in needed.items()}
    wanted |= dict.fromkeys(procedure.rules.asked_steps, False) | dict.fromkeys(procedure.rules.required, True)
    lacking = sorted((step for step in wanted if step not in done), key=lambda step: (usual.get(step, 0.0), step))

    def why(step: int) -> str:
        is_wanted = _is_wanted(procedure, step)
        return _presence(procedure, step) if is_wanted else _came_first(procedure, needed[step])

    found = [
        Finding("missed", step, "alarm", f"not seen by the end: {why(step)}", is_sure=wanted[step]) for step in lacking
    ]
    return [*found, *(_done_too_seldom(procedure, state, step) for step in seldom_done(procedure, state))]


def seldom_done(procedure: Procedure, state: State) -> tuple[int, ...]:
    """The steps that were done, but not as often as in every demonstration."""
    usual = {step: procedure.usual_visits(step) for step in procedure.rules.single if step not in state.marked}
    return tuple(step for step, times in usual.items() if 0 < state.times(step) < times)


def _done_too_seldom(procedure: Procedure, state: State, step: int) -> Finding:
    times = state.times(step)
    evidence = f"seen {'once' if times == 1 else f'{times} times'} by the end: {_how_often(procedure, step)}"
    return Finding("missed", step, "alarm", evidence)


def _how_often(procedure: Procedure, step: int) -> str:
    usual, count, found = procedure.usual_visits(step), procedure.demonstrations, procedure.statistics_of(step)
    times, held = (f"{usual} times", found.present) if found and usual > 1 else ("at most once", count)
    held -= found.repeated if found and usual == 1 else 0
    return f"{times} in {f'each of {count}' if held == count else f'{held} of {count}'} demonstrations"


def repeated(procedure: Procedure, state: State, event: Confirmed) -> Finding | None:
    times = state.times(event.step)
    is_usual = times < procedure.usual_visits(event.step)
    if is_usual or state.last == event.step or event.step not in procedure.rules.single:
        return None
    evidence = f"done {times + 1} times so far; {_how_often(procedure, event.step)}"
    return Finding("repeated", event.step, "warning", evidence)


def unknown() -> Finding:
    return Finding("unknown", UNKNOWN, "warning", "unlike anything in the demonstrations")


def too_long(procedure: Procedure, state: State, at: float) -> Finding | None:
    """The running step takes longer than its limit."""
    limit = dict(procedure.rules.longest_s).get(state.current or 0)
    if limit is None or state.current is None or state.busy_s(at) <= limit:
        return None
    evidence = f"longer than {limit:.0f} s: {_duration(procedure, state.current)}"
    return Finding("too_long", state.current, "warning", evidence)


def too_short(procedure: Procedure, step: int | None, busy_s: float) -> Finding | None:
    """The visit, now closed, was shorter than its limit."""
    limit = dict(procedure.rules.shortest_s).get(step or 0)
    if limit is None or step is None or busy_s >= limit:
        return None
    return Finding("too_short", step, "info", f"ended after {busy_s:.1f} s: {_duration(procedure, step)}")


def stalled(procedure: Procedure, state: State, at: float) -> Finding | None:
    """Nothing is being done for too long while something is left to do."""
    patience_s = procedure.rules.patience_s
    if patience_s is None or state.current is not None or not state.visits or at - state.visits[-1].end <= patience_s:
        return None
    rest = procedure.rules.required_but(state.done)
    if not rest:
        return None
    choices = rank_next(procedure, state)
    evidence = (
        f"no step for {patience_s:.0f} s: the longest pause in the demonstrations was {procedure.longest_pause_s:.0f} s"
    )
    return Finding("stalled", choices[0].step if choices else rest[0], "info", evidence)


def _presence(procedure: Procedure, step: int) -> str:
    others = [procedure.name(other) for first, other in procedure.rules.alternatives if first == step]
    if others:
        return f'it or "{others[0]}" must be done, {GIVEN}'
    if step in given_steps(procedure.rules.given):
        return f"it must be done, {GIVEN}"
    found = procedure.statistics_of(step)
    return f"done in {found.present if found else 0} of {procedure.demonstrations} demonstrations"


def _duration(procedure: Procedure, step: int) -> str:
    found = procedure.statistics_of(step)
    if found is None:
        return "no duration is known from the demonstrations"
    return f"{found.shortest_s:.1f} to {found.longest_s:.1f} s in the demonstrations"

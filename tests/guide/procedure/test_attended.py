"""Undo: an action that was taken back never happened, whatever was seen meanwhile."""

from collections.abc import Sequence
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.domain import Alert, Belief, Guidance, Resolution, Segment
from guide.errors import InputError
from guide.procedure import attended
from guide.procedure.actions import ABOUT_STEPS, ABOUT_WORDS, KINDS, Action, ActionKind, in_force
from guide.procedure.attend import Attended, Deed, Entry, attend, pass_time
from guide.procedure.attended import AttendedTracker
from guide.procedure.events import Confirmed, Ended, Event, Finished, Reviewed, Ticked
from guide.procedure.learn import learn_procedure
from guide.procedure.model import Procedure
from guide.procedure.settings import TrackerSettings
from guide.procedure.tracker import Tracker

Step = tuple[Attended, tuple[Guidance, ...]]

TASK = learn_procedure(
    [[Segment(step, 10.0 * place, 10.0 * place + 8) for place, step in enumerate((1, 2, 3, 4, 5))] for _ in range(6)]
)
times = st.floats(0, 300, allow_nan=False)
chances = st.sampled_from([0.0, 0.5, 0.9])


@st.composite
def looks_back(draw: st.DrawFn) -> Reviewed:
    """Any histories until any time, with chances that need not fit it."""
    at, steps = draw(times), draw(st.lists(st.integers(1, 5), max_size=6))
    visits = [Segment(step, at * n / len(steps), at * (n + 1) / len(steps)) for n, step in enumerate(steps)]
    lacking, again = ([(step, draw(chances)) for step in range(1, 6)] for _ in range(2))
    swapped = [((first, then), draw(chances)) for first, then in ((1, 2), (1, 3), (2, 5))]
    since = draw(st.sampled_from([-1.0, at / 2, at]))
    return Reviewed(at, Belief(at, tuple(visits), tuple(lacking), tuple(again), tuple(swapped), since))


events = st.one_of(
    st.builds(Confirmed, st.integers(-1, 5), times, st.sampled_from([0.2, 0.9])),
    st.builds(Ended, st.integers(-1, 5), times),
    st.builds(Ticked, times),
    looks_back(),
)


@st.composite
def actions(draw: st.DrawFn) -> Action:
    kind: ActionKind = draw(st.sampled_from([one for one in KINDS if one != "undo"]))
    return Action(
        kind,
        target=draw(st.integers(1, 4)) if kind in ABOUT_WORDS else None,
        step=draw(st.integers(1, 5)) if kind in ABOUT_STEPS else None,
        answer=draw(st.booleans()) if kind == "answer" else None,
        snooze_s=draw(st.sampled_from([5.0, 1000.0])),
    )


def play(tracker: AttendedTracker, entries: Sequence[Event | Action]) -> list[Guidance]:
    """Feeds all that can be taken; actions on alerts that were never raised are refused and leave no trace."""
    said: list[Guidance] = []
    for entry in entries:
        try:
            said += tracker.act(entry) if isinstance(entry, Action) else tracker.apply(entry)
        except InputError:
            continue
    return said


def view(tracker: AttendedTracker) -> list[tuple[object, ...]]:
    """What stands in the eyes of people, numbers left out."""
    return sorted(
        (type(one).__name__, one.step, one.at, str(getattr(one, "kind", "")), str(getattr(one, "severity", "")))
        for one in tracker.standing
    )


entries = st.lists(st.one_of(events, events, events, actions()), max_size=15)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(entries, actions(), entries, st.booleans())
def test_an_action_taken_back_never_happened(
    before: list[Event | Action], action: Action, after: list[Event | Action], is_over: bool
) -> None:
    since: list[Event | Action] = [one for one in after if not isinstance(one, Action)]
    since += [Finished()] if is_over else []
    done, never = AttendedTracker(TASK), AttendedTracker(TASK)
    play(done, before)
    taken = len(done.actions)
    play(done, [action, *since])
    if len(done.actions) == taken:
        return  # it was refused
    done.act(Action("undo", target=done.actions[-1].number))
    # What was seen behind a restart that is taken back was of another past; its own is told of anew.
    play(never, [*before, *(one for one in since if action.kind != "restart" or not isinstance(one, Reviewed))])
    assert done.attended == never.attended
    assert view(done) == view(never)


def test_an_undo_works_off_few_of_the_ticks_since(monkeypatch: pytest.MonkeyPatch) -> None:
    tracker = AttendedTracker(TASK)
    tracker.act(Action("pause"))
    tracker.act(Action("resume"))
    for second in range(500):
        tracker.tick(float(second))
    tracker.act(Action("mark_done", step=2))
    for second in range(500, 9000):
        tracker.tick(float(second))
    looked: list[Entry] = []

    def count(task: Procedure, chosen: TrackerSettings, now: Attended, entry: Entry) -> Step:
        looked.append(entry)
        return attend(task, chosen, now, entry)

    monkeypatch.setattr("guide.procedure.attend.attend", count)
    tracker.act(Action("undo", target=3))
    assert (len(looked), tracker.progress.done, tracker.state.at) == (1, (), 8999.0)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(entries, st.lists(times, min_size=1, max_size=30))
def test_time_passes_at_once_as_it_does_tick_by_tick(before: list[Event | Action], later: list[float]) -> None:
    tracker = AttendedTracker(TASK)
    play(tracker, before)
    now, said = tracker.attended, list[Guidance]()
    for at in later:
        now, words = attend(TASK, tracker.settings, now, Ticked(at))
        said += words
    assert pass_time(TASK, tracker.settings, tracker.attended, later) == (now, tuple(said))


@pytest.mark.parametrize("most", [3, attended.MOST_ENTRIES])
@settings(derandomize=True, deadline=None, max_examples=100)
@given(entries, st.lists(st.tuples(st.integers(1, 8), entries), max_size=4))
def test_any_undos_leave_the_course_without_the_undone(
    most: int, first: list[Event | Action], rounds: list[tuple[int, list[Event | Action]]]
) -> None:
    """Undos, of undos too, at any time: the state is that of the log without what is taken back."""
    tracker = AttendedTracker(TASK)
    with patch.object(attended, "MOST_ENTRIES", most):
        check_undos(tracker, first, rounds)


def check_undos(
    tracker: AttendedTracker, first: list[Event | Action], rounds: list[tuple[int, list[Event | Action]]]
) -> None:
    play(tracker, first)
    for target, more in rounds:
        play(tracker, [Action("undo", target=target), *more])
    log, base = list(tracker._log), tracker._base
    valid = {action.number for action in in_force(tracker.actions)}
    for entry in log:
        if not isinstance(entry, Deed) or entry.action.number in valid:
            base, _ = attend(tracker.procedure, tracker.settings, base, entry)
    assert base == tracker.attended


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.lists(st.one_of(events, events, actions(), st.integers(1, 5)), max_size=25))
def test_people_can_follow_the_numbers(histories: list[Event | Action | int]) -> None:
    """New things get new numbers; only what stands is resolved; what stands is just what was said and not resolved."""
    tracker = AttendedTracker(TASK)
    standing: dict[int, Guidance] = {}
    seen: set[int] = set()
    for one in histories:
        entry = Action("undo", target=one) if isinstance(one, int) else one
        for said in play(tracker, [entry]):
            if isinstance(said, Resolution):
                del standing[said.id]
            else:
                if said.id not in seen:
                    assert said.id == len(seen) + 1
                seen.add(said.id)
                standing[said.id] = said
        assert standing == {one.id: one for one in tracker.standing}
        causes = [(one.kind, one.step) for one in tracker.standing if isinstance(one, Alert)]
        assert len(set(causes)) == len(causes)


@settings(derandomize=True, deadline=None, max_examples=50)
@given(entries)
def test_the_same_course_gives_the_same_words(histories: list[Event | Action]) -> None:
    assert play(AttendedTracker(TASK), histories) == play(AttendedTracker(TASK), histories)


@settings(derandomize=True, deadline=None, max_examples=50)
@given(st.lists(events, max_size=20))
def test_without_actions_it_is_the_plain_tracker(news: list[Event]) -> None:
    looked_after, plain = AttendedTracker(TASK), Tracker(TASK)
    for event in [*news, Finished()]:
        assert looked_after.apply(event) == plain.apply(event)
    assert looked_after.state == plain.state

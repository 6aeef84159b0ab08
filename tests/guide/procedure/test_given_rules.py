"""Rules that a trainer gives: how they read, what they make of learnt ones, what is said on their account."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guide.domain import Alert, Belief, Guidance, KeyStep, Question, Resolution, Segment
from guide.errors import InputError
from guide.procedure.actions import Action
from guide.procedure.attended import AttendedTracker
from guide.procedure.export import to_plain
from guide.procedure.given_rules import Stance, merged, read_rule, with_given
from guide.procedure.learn import learn_procedure
from guide.procedure.model import GivenRule, Procedure
from guide.procedure.precedence import find_cycle
from guide.procedure.progress import progress_of
from guide.procedure.reading import from_plain
from guide.procedure.replay import standing_alerts
from guide.procedure.tracker import Tracker

NAMES = ("cut", "fold", "glue or paste", "dry")
STEPS = tuple(KeyStep(number, name) for number, name in enumerate(NAMES, 1))
LEARNT = learn_procedure([[Segment(step, 10.0 * step, 10.0 * step + 5) for step in (1, 2, 3, 4)]] * 6, STEPS)


def told(task: Procedure, *steps: int) -> list[tuple[str, int, int | None, str]]:
    tracker = Tracker(task)
    said = [one for at, step in enumerate(steps, 1) for one in tracker.push(step, 5.0 * at)]
    said += tracker.finish(5.0 * len(steps) + 5)
    return [(one.kind, one.step, one.before, one.evidence) for one in standing_alerts(said)]


def rules(*words: str, stance: Stance = "add") -> tuple[GivenRule, ...]:
    return merged((), [one for text in words for one in read_rule(text, stance, STEPS)])


@pytest.mark.parametrize(
    ("text", "stance", "rule"),
    [
        ("cut before dry", "add", GivenRule("before", (1, 4))),
        ("dry needs cut", "add", GivenRule("needs", (1, 4))),
        ("Cut  BEFORE 4", "relax", GivenRule("before", (1, 4), holds=False)),
        ("cut or dry", "add", GivenRule("either", (1, 4))),
        ("cut before dry", "forbid", GivenRule("before", (4, 1))),
        ("dry needs cut", "forbid", GivenRule("before", (4, 1))),
        ("optional fold", "forbid", GivenRule("required", (2,))),
        ("optional fold", "add", GivenRule("required", (2,), holds=False)),
        ("glue or paste or dry", "add", GivenRule("either", (3, 4))),
    ],
)
def test_words_of_a_trainer(text: str, stance: Stance, rule: GivenRule) -> None:
    assert read_rule(text, stance, STEPS) == (rule,)


def test_to_forbid_an_alternative_asks_for_both() -> None:
    assert read_rule("cut or dry", "forbid", STEPS) == (GivenRule("required", (1,)), GivenRule("required", (4,)))


@pytest.mark.parametrize(
    ("text", "stance", "words"),
    [
        ("", "add", "a rule reads"),
        ("cut after dry", "add", "a rule reads"),
        ("cut before lunch", "add", "no step is called 'lunch', the steps are 1 cut, 2 fold"),
        ("cut before 9", "add", "no step is called '9'"),
        ("cut before cut", "add", "two different steps"),
        ("optional fold", "relax", "nothing to relax"),
    ],
)
def test_what_cannot_be_understood_is_one_sentence(text: str, stance: Stance, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_rule(text, stance, STEPS)


def test_circles_are_refused_however_long() -> None:
    with pytest.raises(InputError, match="would have to come before itself"):
        rules("cut before fold", "dry needs fold", "dry before cut")
    again = merged(rules("cut before fold"), [GivenRule("before", (1, 2), holds=False)])
    assert merged(again, rules("fold before cut")), "what is relaxed is no part of a circle"


def test_a_relaxed_rule_falls_silent_and_comes_back() -> None:
    assert told(LEARNT, 1, 3, 2, 4) == [
        ("out_of_order", 3, 2, '"glue or paste" was done before "fold", which came first in 6 of 6 demonstrations')
    ]
    relaxed = with_given(LEARNT, rules("fold before 3", stance="relax"))
    assert told(relaxed, 1, 3, 2, 4) == []
    assert [kind for kind, *_ in told(relaxed, 1, 3, 4)] == ["missed"], "fold must still be done"
    assert with_given(relaxed, ()) == LEARNT


def test_a_relaxed_precondition_may_come_later_but_not_too_late() -> None:
    relaxed = with_given(LEARNT, rules("3 needs fold", stance="relax"))
    tracker = Tracker(relaxed)
    assert [one for step in (1, 3) for one in tracker.push(step, float(step))] == []
    assert [kind for kind, *_ in told(relaxed, 1, 3, 2, 4)] == ["out_of_order"], "its order is another rule"


def test_a_given_order_outranks_what_everybody_did_and_says_so() -> None:
    turned = with_given(LEARNT, rules("fold before 3", stance="forbid"))
    assert told(turned, 1, 3, 2, 4) == []
    assert told(turned, 1, 2, 3, 4) == [
        ("out_of_order", 2, 3, '"fold" was done before "glue or paste", which comes first by a rule that was given')
    ]


def test_a_given_precondition_is_told_at_once_and_once() -> None:
    loose = Procedure(STEPS, 0)
    task = with_given(loose, rules("dry needs fold"))
    assert told(task, 4) == [
        ("missed", 2, None, 'not seen by the end: "fold" comes before "dry" by a rule that was given')
    ]
    (alert,) = Tracker(task).push(4, 1.0)
    assert isinstance(alert, Alert)
    assert (alert.kind, alert.step, alert.before) == ("out_of_order", 4, 2)
    assert alert.evidence == '"fold" comes before "dry" by a rule that was given, and is not done'
    assert told(task, 2, 4) == []


def test_either_of_two_steps_is_enough_and_both_are_too_many() -> None:
    task = with_given(LEARNT, rules("cut or fold"))
    assert told(task, 1, 3, 4) == []
    assert told(task, 2, 3, 4) == []
    assert told(task, 1, 2, 3, 4) == [
        ("out_of_order", 2, None, 'either it or "cut" must be done, by a rule that was given')
    ]
    assert told(task, 3, 4) == [
        ("missed", 1, None, 'not seen by the end: it or "fold" must be done, by a rule that was given')
    ]
    assert task.rules.required_but([2, 3, 4]) == ()
    tracker = Tracker(task)
    tracker.push(2, 1.0)
    assert tracker.progress.lacking == (3, 4)
    assert [one.step for one in tracker.progress.next_steps] == [3]


def hardly_seen(lacking: float) -> tuple[AttendedTracker, tuple[Guidance, ...]]:
    """What is said of the second of two alternatives that is done, and probably lacks."""
    tracker = AttendedTracker(with_given(LEARNT, rules("cut or fold")))
    visits = (Segment(1, 0.0, 5.0), Segment(2, 5.0, 9.0))
    return tracker, tracker.review(Belief(9.0, visits, lacking=((1, 0.0), (2, lacking), (3, 1.0), (4, 1.0))))


@pytest.mark.parametrize(("lacking", "kinds"), [(0.05, [Alert]), (0.5, [Question]), (0.9, [])])
def test_a_second_alternative_that_was_hardly_seen_is_asked_about(lacking: float, kinds: list[type]) -> None:
    assert [type(one) for one in hardly_seen(lacking)[1]] == kinds


@pytest.mark.parametrize(("answer", "kinds"), [(True, [Resolution, Alert]), (False, [Resolution])])
def test_whoever_says_that_both_alternatives_were_done_is_told(answer: bool, kinds: list[type]) -> None:
    tracker, (question,) = hardly_seen(0.5)
    assert isinstance(question, Question)
    assert question.text == 'Did you do "fold"?'
    said = tracker.act(Action("answer", 9.0, target=question.id, answer=answer))
    assert [type(one) for one in said] == kinds


def test_what_must_be_done_is_no_longer_optional_until_it_is_taken_back() -> None:
    seen = [[Segment(step, 10.0 * step, 10.0 * step + 5) for step in order] for order in ((1, 2), (1,), (1, 2), (1,))]
    some = learn_procedure(seen, STEPS[:2])
    assert some.steps[1].is_optional
    assert told(some, 1) == []
    must = with_given(some, [GivenRule("required", (2,))])
    assert not must.steps[1].is_optional
    assert told(must, 1) == [("missed", 2, None, "not seen by the end: it must be done, by a rule that was given")]
    assert with_given(must, ()) == some


def test_given_rules_are_written_and_read_back() -> None:
    task = with_given(LEARNT, rules("dry needs fold", "cut or fold", "fold before 3"))
    assert from_plain(to_plain(task)) == task


pairs = st.tuples(st.sampled_from((1, 2, 3, 4)), st.sampled_from((1, 2, 3, 4))).filter(lambda one: one[0] != one[1])
some = st.lists(st.builds(GivenRule, st.sampled_from(("before", "needs", "either")), pairs, st.booleans()), max_size=6)


@given(some)
def test_given_orders_hold_relaxed_ones_do_not_and_nothing_is_lost(given_rules: list[GivenRule]) -> None:
    try:
        kept = merged((), given_rules)
    except InputError:
        return
    task = with_given(LEARNT, kept)
    found = task.rules
    assert find_cycle([*found.edges, *found.asked_edges, *found.needs, *found.asked_needs]) is None
    asked = {one.steps for one in kept if one.kind in ("before", "needs") and one.holds}
    assert asked <= {*found.edges}
    relaxed = {one.steps for one in kept if one.kind == "before" and not one.holds} - {*found.given_edges}
    assert relaxed.isdisjoint({*found.edges, *found.asked_edges, *found.needs, *found.asked_needs})
    assert with_given(with_given(task, ()), kept) == task
    assert progress_of(task, Tracker(task).state).next_steps

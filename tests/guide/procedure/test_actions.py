"""Actions as values: what makes sense, what a client may send, what an undo leaves in force."""

import contextlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.errors import InputError
from guide.procedure.actions import KINDS, Action, in_force, read_action


@pytest.mark.parametrize(
    "facts",
    [
        {"kind": "dance"},
        {"kind": "undo"},
        {"kind": "undo", "target": 1, "step": 2},
        {"kind": "next", "target": 1},
        {"kind": "mark_done"},
        {"kind": "mark_done", "step": 1, "answer": True},
        {"kind": "answer", "target": 1},
        {"kind": "pause", "answer": False},
        {"kind": "snooze", "target": 1, "snooze_s": -1},
        {"kind": "snooze", "target": 1, "snooze_s": float("nan")},
        {"kind": "next", "at": float("inf")},
    ],
    ids=str,
)
def test_an_action_that_makes_no_sense_is_refused(facts: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"\.$"):
        Action(**facts)


@pytest.mark.parametrize(
    "plain",
    [
        {},
        {"kind": None},
        {"kind": ["next"]},
        {"kind": "next", "colour": "red"},
        {"kind": "undo", "target": True},
        {"kind": "undo", "target": 1.0},
        {"kind": "undo", "target": 0},
        {"kind": "undo", "target": 2**60},
        {"kind": "answer", "target": 1, "answer": "yes"},
        {"kind": "snooze", "target": 1, "snooze_s": "60"},
        {"kind": "snooze", "target": 1, "snooze_s": True},
        {"kind": "snooze", "target": 1, "snooze_s": 10**400},
        {"kind": "next", "person": 7},
        {"kind": "next", "comment": "x" * 1001},
    ],
    ids=str,
)
def test_a_client_that_sends_nonsense_gets_a_sentence(plain: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"\.$"):
        read_action(plain, at=1.0)


def test_what_a_client_sends_is_read_and_made_fit_to_show() -> None:
    plain = {"kind": "false_alarm", "target": 3, "person": "Night\x1b[2J shift", "comment": "glove\nin view\u2028"}
    action = read_action(plain, at=2.5)
    assert (action.kind, action.at, action.target) == ("false_alarm", 2.5, 3)
    assert action.person == "Night[2J shift"
    assert action.comment == "glove in view"
    assert read_action({"kind": "next"}, at=0.0, person="desk 4").person == "desk 4"


def test_an_undo_of_an_undo_brings_the_action_back() -> None:
    pause, undo, again = (
        Action("pause", number=1),
        Action("undo", target=1, number=2),
        Action("undo", target=2, number=3),
    )
    assert in_force([pause, undo]) == ()
    assert in_force([pause, undo, again]) == (pause,)


fields = st.sampled_from(["kind", "target", "step", "answer", "snooze_s", "comment"])
values = st.one_of(
    st.sampled_from(KINDS), st.integers(), st.floats(), st.booleans(), st.none(), st.text(max_size=9), st.just([1])
)


@settings(derandomize=True, deadline=None, max_examples=50)
@given(st.dictionaries(fields, values))
def test_whatever_comes_is_an_action_or_a_sentence(plain: dict[str, Any]) -> None:
    with contextlib.suppress(InputError):  # anything else is our own fault
        assert read_action(plain, at=0.0).kind in KINDS

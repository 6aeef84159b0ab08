"""Updates on the wire: exactly the keys that were agreed, in their order."""

from __future__ import annotations

import json

import pytest

from guide import wire
from guide.domain import Alert, KeyStep, Question, Resolution, SettledLabel, StepEvent, Update
from guide.procedure.actions import Action
from guide.procedure.model import Procedure

PROCEDURE = Procedure((KeyStep(1, "open box"), KeyStep(2, "fit bøard [a]")), demonstrations=3)
LABEL = SettledLabel(1.23456, 2, 0.98765)


def told(update: Update, with_labels: bool = False) -> list[dict[str, object]]:
    return [json.loads(line) for line in wire.lines(update, PROCEDURE, with_labels)]


def test_a_label_is_told_only_where_wanted() -> None:
    assert told(Update(LABEL)) == []
    assert told(Update(LABEL), with_labels=True) == [{"type": "label", "at": 1.235, "step": 2, "confidence": 0.988}]


@pytest.mark.parametrize(("step", "expected"), [(-1, None), (0, 0), (2, 2)])
def test_unknown_activity_is_no_step(step: int, expected: int | None) -> None:
    assert wire.label_object(SettledLabel(0.0, step, 1.0))["step"] == expected


def test_a_step_has_its_name_and_times() -> None:
    event = StepEvent(3.00049, 2, "confirmed", 1.5, None, 0.5)
    line = next(wire.lines(Update(LABEL, (event,)), PROCEDURE))
    assert line == (
        '{"type": "step", "at": 3.0, "step": 2, "name": "fit bøard [a]", "state": "confirmed", "start": 1.5, '
        '"end": null, "confidence": 0.5}'
    )
    ended = StepEvent(4.0, 2, "ended", 1.5, 3.99951, 0.5)
    assert told(Update(LABEL, (ended,)))[0]["end"] == 4.0


def test_guidance_has_the_agreed_keys_in_order() -> None:
    guidance = (
        Alert(7, 2.0, "out_of_order", 2, 1, "alarm", "came first in 3 of 3 demonstrations"),
        Resolution(7, 2.5, True),
        Question(8, 3.0, 1, 'Did you do "open box"?'),
    )
    alert, resolve, question = told(Update(LABEL, guidance=guidance))
    assert list(alert) == ["type", "id", "at", "kind", "step", "name", "before", "severity", "evidence"]
    assert (alert["before"], alert["name"]) == (1, "fit bøard [a]")
    assert resolve == {"type": "resolve", "id": 7, "at": 2.5, "withdrawn": True}
    assert list(question) == ["type", "id", "at", "step", "text"]


def test_the_label_comes_first_then_steps_then_guidance() -> None:
    update = Update(LABEL, (StepEvent(1.0, 1, "started", 1.0, None, 1.0),), (Resolution(1, 1.0, False),))
    assert [line["type"] for line in told(update, with_labels=True)] == ["label", "step", "resolve"]


def test_an_action_has_its_agreed_keys() -> None:
    plain = wire.action_object(Action("answer", 2.0004, target=8, answer=False, person="shift 2", number=3))
    assert list(plain) == ["type", "number", "at", "kind", "target", "step", "answer", "person", "comment"]
    assert (plain["at"], plain["number"], plain["answer"]) == (2.0, 3, False)


def test_numbers_that_are_none_never_reach_the_wire() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        wire.dump(wire.label_object(SettledLabel(float("nan"), 1, 1.0)))

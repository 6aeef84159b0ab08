import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.domain import KeyStep, Segment
from guide.errors import BundleError
from guide.procedure.export import to_dot, to_plain
from guide.procedure.learn import learn_procedure
from guide.procedure.model import Procedure
from guide.procedure.reading import from_plain

STEPS = [KeyStep(1, "cut"), KeyStep(2, 'the "big" fold'), KeyStep(3, "glue")]


def recording(*steps: int) -> list[Segment]:
    return [Segment(step, 10.0 * place, 10.0 * place + 8) for place, step in enumerate(steps)]


def learnt() -> Procedure:
    return learn_procedure([recording(1, 2, 3), recording(1, 3), recording(1, 3, 2, 3), recording(1, 2, 3)], STEPS)


@settings(derandomize=True, deadline=None, max_examples=20)
@given(st.lists(st.lists(st.integers(1, 4), max_size=6), max_size=4))
def test_a_procedure_survives_json(found: list[list[int]]) -> None:
    procedure = learn_procedure([recording(*steps) for steps in found])
    assert from_plain(json.loads(json.dumps(to_plain(procedure), allow_nan=False))) == procedure


def paths(value: Any, prefix: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [prefix, *(path for key, item in inner for path in paths(item, (*prefix, key)))]


def damage(plain: Any, path: tuple[Any, ...], value: Any) -> Any:
    """The plain values with the one at the path replaced."""
    if not path:
        return value
    damaged = copy.copy(plain)
    damaged[path[0]] = damage(plain[path[0]], path[1:], value)
    return damaged


def refusal(plain: Any) -> str:
    """The sentence with which the values are refused, empty where they pass."""
    try:
        from_plain(plain)
    except BundleError as error:
        return str(error)
    return ""


PLAIN = to_plain(learnt())
WRONG: list[Any] = [None, True, -1, 0, 2.5, 1e400, float("nan"), 10**400, "x", "y" * 2000, [], [[]], {}, {"a": 1}]


@settings(derandomize=True, deadline=None, max_examples=300)
@given(st.sampled_from(paths(PLAIN)), st.sampled_from(WRONG))
def test_hostile_values_give_a_procedure_or_one_sentence(path: tuple[Any, ...], value: Any) -> None:
    sentence = refusal(damage(PLAIN, path, value))
    assert "\n" not in sentence
    assert len(sentence) < 400


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schema": 1}, "schema"),
        ({"extra": 1}, "unknown field extra"),
        ({"demonstrations": True}, "demonstrations"),
        ({"orderings": [{"steps": [1, 9], "count": 1}]}, "a listed step"),
        ({"precedence": [[1, 2, 5, 4]]}, "support"),
        ({"longest_pause_s": float("inf")}, "longest_pause_s, got inf"),
        ({"rules": {**PLAIN["rules"], "edges": [[1, 2], [2, 3], [3, 1]], "asked_edges": []}}, "circle"),
        ({"rules": {**PLAIN["rules"], "longest_s": [[1, -3.0]]}}, "longest_s"),
    ],
)
def test_each_damage_is_named(change: dict[str, Any], words: str) -> None:
    with pytest.raises(BundleError, match=words):
        from_plain({**PLAIN, **change})


def test_a_file_that_says_when_rules_alarm_is_read_like_one_that_does_not() -> None:
    assert "alert_chance" not in PLAIN["rules"]
    assert from_plain(damage(PLAIN, ("rules",), {**PLAIN["rules"], "alert_chance": 0.6})) == from_plain(PLAIN)


@pytest.mark.parametrize("character", ["\x1b", "\x00", "\n", "\t", "\x7f", "\x9b", "\u2028", "\ud800"], ids=repr)
@pytest.mark.parametrize("field", ["name", "reason"])
def test_characters_that_steer_a_terminal_are_refused(field: str, character: str) -> None:
    sentence = refusal(damage(PLAIN, ("steps", 0, field), f"cut{character}[2J"))
    assert "control characters" in sentence
    assert sentence.isprintable()


@pytest.mark.parametrize("name", ["schließen", "螺丝", "fit\u00a0board", "می\u200cروم", "👩\u200d🔧 mend"])
def test_names_of_any_language_are_read(name: str) -> None:
    assert from_plain(damage(PLAIN, ("steps", 0, "name"), name)).name(1) == name


def test_dot_draws_steps_edges_and_escapes_names() -> None:
    text = to_dot(learnt())
    assert text.startswith("digraph procedure {")
    assert '2 [label="2 the \\"big\\" fold", style=dashed]' in text
    assert '1 -> 2 [label="3 of 3"];' in text

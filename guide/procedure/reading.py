"""Reads a procedure back from plain values and believes nothing: a bundle may be damaged or hostile."""

from __future__ import annotations

import unicodedata
from typing import Any

from guide.domain import KeyStep, Ordering, Precedence
from guide.errors import BundleError
from guide.procedure.export import SCHEMA
from guide.procedure.model import Procedure, Rules, StepStatistics, Transition
from guide.procedure.precedence import Edge, find_cycle

MOST = 1_000_000  # no count and no list in a procedure is longer; a larger one is damage or an attack
LONGEST_NAME = 1_000
LONGEST_S = 1e12
# Control characters, line ends and halves of characters: names are shown in terminals, which obey or choke on them.
_UNSHOWN = frozenset({"Cc", "Cs", "Zl", "Zp"})


def from_plain(plain: Any) -> Procedure:
    """The procedure that `to_plain` wrote; BundleError with one sentence where something else was found."""
    top = _fields(plain, "the procedure", _TOP)
    if top["schema"] != SCHEMA:
        raise _wrong("schema", str(SCHEMA), top["schema"])
    steps = [_fields(item, "a step", _STEP) for item in _list(top["steps"], "steps")]
    numbers = {_count(item["number"], "a step's number", least=1) for item in steps}
    if len(numbers) != len(steps):
        raise _wrong("steps", "distinct numbers", [item["number"] for item in steps])
    known = _Known(numbers)
    return Procedure(
        steps=tuple(_key_step(item) for item in steps),
        demonstrations=_count(top["demonstrations"], "demonstrations"),
        orderings=tuple(_ordering(item, known) for item in _list(top["orderings"], "orderings")),
        precedences=tuple(_precedence(item, known) for item in _list(top["precedence"], "precedence")),
        statistics=tuple(_seen(item) for item in steps if item["seen"] is not None),
        transitions=tuple(_transition(item, known) for item in _list(top["transitions"], "transitions")),
        longest_pause_s=_seconds(top["longest_pause_s"], "longest_pause_s"),
        reasons=tuple((item["number"], reason) for item in steps if (reason := _text(item["reason"], "a reason"))),
        rules=_rules(top["rules"], known),
    )


_TOP = (
    "schema", "demonstrations", "steps", "orderings", "precedence", "transitions", "longest_pause_s", "rules",
)  # fmt: skip
_STEP = ("number", "name", "optional", "repeatable", "reason", "seen")
_SEEN = ("present", "repeated", "most_visits", "durations_s")
_RULES = (
    "edges", "asked_edges", "required", "asked_steps", "single", "shortest_s", "longest_s", "patience_s", "unknown",
    "false_alarms", "questions",
)  # fmt: skip


class _Known:
    """The step numbers that the rest of the file may name."""

    def __init__(self, numbers: set[int]) -> None:
        self.numbers = numbers

    def step(self, value: Any, what: str, or_zero: bool = False) -> int:
        number = _count(value, what)
        if number not in self.numbers and not (or_zero and number == 0):
            raise _wrong(what, "the number of a listed step", value)
        return number

    def steps(self, value: Any, what: str) -> tuple[int, ...]:
        found = tuple(self.step(item, what) for item in _list(value, what))
        if len(set(found)) != len(found):
            raise _wrong(what, "each step once", value)
        return found

    def edges(self, value: Any, what: str) -> tuple[Edge, ...]:
        pairs = [_list(item, what, length=2) for item in _list(value, what)]
        found = tuple((self.step(first, what), self.step(then, what)) for first, then in pairs)
        if len(set(found)) != len(found):
            raise _wrong(what, "each edge once", value)
        return found

    def limits(self, value: Any, what: str) -> tuple[tuple[int, float], ...]:
        pairs = [_list(item, what, length=2) for item in _list(value, what)]
        return tuple((self.step(step, what), _seconds(limit, what)) for step, limit in pairs)


def _key_step(item: dict[str, Any]) -> KeyStep:
    name = _text(item["name"], "a step's name")
    return KeyStep(item["number"], name, _flag(item["optional"], "optional"), _flag(item["repeatable"], "repeatable"))


def _seen(item: dict[str, Any]) -> StepStatistics:
    seen = _fields(item["seen"], "a step's counts", _SEEN)
    low, tenth, half, ninetieth, high = (
        _seconds(value, "durations_s") for value in _list(seen["durations_s"], "durations_s", length=5)
    )
    if not low <= tenth <= half <= ninetieth <= high:
        raise _wrong("durations_s", "rising quantiles", seen["durations_s"])
    present, repeated, most = (_count(seen[name], name) for name in _SEEN[:3])
    return StepStatistics(item["number"], present, repeated, most, (low, tenth, half, ninetieth, high))


def _ordering(item: Any, known: _Known) -> Ordering:
    fields = _fields(item, "an ordering", ("steps", "count"))
    return Ordering(
        known.steps(fields["steps"], "an ordering"), _count(fields["count"], "an ordering's count", least=1)
    )


def _precedence(item: Any, known: _Known) -> Precedence:
    first, then, support, total = _list(item, "precedence", length=4)
    pair = Precedence(
        known.step(first, "precedence"),
        known.step(then, "precedence"),
        _count(support, "support"),
        _count(total, "total"),
    )
    if pair.support > pair.total or pair.first == pair.then:
        raise _wrong("precedence", "two steps and a support up to the total", item)
    return pair


def _transition(item: Any, known: _Known) -> Transition:
    first, then, count = _list(item, "transitions", length=3)
    what = "a transition"
    return Transition(known.step(first, what, or_zero=True), known.step(then, what, or_zero=True), _count(count, what))


def _rules(value: Any, known: _Known) -> Rules:
    fields = _fields(value, "the rules", _RULES)
    patience = fields["patience_s"]
    rules = Rules(
        edges=known.edges(fields["edges"], "edges"),
        asked_edges=known.edges(fields["asked_edges"], "asked_edges"),
        required=known.steps(fields["required"], "required"),
        asked_steps=known.steps(fields["asked_steps"], "asked_steps"),
        single=known.steps(fields["single"], "single"),
        shortest_s=known.limits(fields["shortest_s"], "shortest_s"),
        longest_s=known.limits(fields["longest_s"], "longest_s"),
        patience_s=None if patience is None else _seconds(patience, "patience_s"),
        is_unknown_flagged=_flag(fields["unknown"], "unknown"),
        false_alarms=_seconds(fields["false_alarms"], "false_alarms"),
        questions=_seconds(fields["questions"], "questions"),
    )
    circle = find_cycle([*rules.edges, *rules.asked_edges])
    if circle is not None:
        raise _wrong("edges", "a partial order", f"a circle through step {circle}")
    return rules


def _fields(value: Any, what: str, names: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, dict) or set(value) != set(names):
        raise _wrong(
            what, f"the fields {', '.join(names)}", sorted(map(str, value)) if isinstance(value, dict) else value
        )
    return value


def _list(value: Any, what: str, length: int | None = None) -> list[Any]:
    if not isinstance(value, list) or len(value) > MOST or (length is not None and len(value) != length):
        raise _wrong(what, "a list" if length is None else f"a list of {length}", value)
    return value


def _count(value: Any, what: str, least: int = 0) -> int:
    if type(value) is not int or not least <= value <= MOST:
        raise _wrong(what, f"a whole number from {least} to {MOST}", value)
    return value


def _seconds(value: Any, what: str) -> float:
    if type(value) not in (int, float) or not 0 <= value < LONGEST_S:  # NaN fails every comparison
        raise _wrong(what, "a finite number, 0 or more", value)
    return float(value)


def _flag(value: Any, what: str) -> bool:
    if not isinstance(value, bool):
        raise _wrong(what, "true or false", value)
    return value


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_NAME:
        raise _wrong(what, f"text of up to {LONGEST_NAME} characters", value)
    if any(unicodedata.category(character) in _UNSHOWN for character in value):
        raise _wrong(what, "text without control characters", value)
    return value


def _wrong(what: str, wanted: str, got: object) -> BundleError:
    shown = repr(got)
    shown = shown if len(shown) <= 80 else shown[:77] + "..."
    owner = "" if what == "the procedure" else "the procedure's "
    return BundleError(f"{owner}{what} should be {wanted}, got {shown}: export the bundle again.")

"""Reads a procedure back from plain values and believes nothing: a bundle may be damaged or hostile."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, TypeAlias

from msgspec import Meta, Struct, ValidationError, convert, field
from msgspec.structs import asdict

from guide.domain import KeyStep, Ordering, Precedence
from guide.errors import BundleError
from guide.procedure.export import SCHEMA
from guide.procedure.model import (
    LANGUAGE_TAG,
    Decision,
    GivenKind,
    GivenRule,
    Procedure,
    Rule,
    RuleKind,
    Rules,
    StepStatistics,
    Transition,
    Verdict,
)
from guide.procedure.orders import Orders
from guide.procedure.precedence import find_cycle
from guide.validation import misfit

MOST = 1_000_000  # no count and no list in a procedure is longer; a larger one is damage or an attack
# Control characters, line ends and halves of characters: names are shown in terminals, which obey or choke on them.
_UNSHOWN = frozenset({"Cc", "Cs", "Zl", "Zp"})

Count: TypeAlias = Annotated[int, Meta(ge=0, le=MOST)]
Positive: TypeAlias = Annotated[int, Meta(ge=1, le=MOST)]
Seconds: TypeAlias = Annotated[float, Meta(ge=0, lt=1e12)]
Text: TypeAlias = Annotated[str, Meta(max_length=1_000)]
Steps: TypeAlias = Annotated[tuple[Count, ...], Meta(max_length=MOST)]
Edges: TypeAlias = Annotated[tuple[tuple[Count, Count], ...], Meta(max_length=MOST)]
_Decision: TypeAlias = tuple[RuleKind, Positive, Positive | None, Verdict, Text]
Limits: TypeAlias = Annotated[tuple[tuple[Count, Seconds], ...], Meta(max_length=MOST)]


class _Seen(Struct, forbid_unknown_fields=True):
    present: Count
    repeated: Count
    most_visits: Count
    durations_s: tuple[Seconds, Seconds, Seconds, Seconds, Seconds]
    visits: Steps = ()


class _Step(Struct, forbid_unknown_fields=True):
    number: Positive
    name: Text
    optional: bool
    repeatable: bool
    reason: Text
    seen: _Seen | None
    say: Text = ""


class _Ordering(Struct, forbid_unknown_fields=True):
    steps: Steps
    count: Positive


class _Given(Struct, forbid_unknown_fields=True):
    kind: GivenKind
    steps: Annotated[tuple[Count, ...], Meta(min_length=1, max_length=2)]
    holds: bool


class _Rules(Struct, forbid_unknown_fields=True):
    edges: Edges
    asked_edges: Edges
    needs: Edges
    asked_needs: Edges
    required: Steps
    asked_steps: Steps
    single: Steps
    variant_risk: Annotated[float, Meta(ge=0, le=1)] | None
    shortest_s: Limits
    longest_s: Limits
    patience_s: Seconds | None
    is_unknown_flagged: bool = field(name="unknown")
    false_alarms: Seconds
    questions: Seconds
    alert_chance: Annotated[float, Meta(ge=0.5, le=1)] = 0.6  # of older files; nothing goes by it
    decisions: Annotated[tuple[_Decision, ...], Meta(max_length=MOST)] = ()
    given: Annotated[tuple[_Given, ...], Meta(max_length=MOST)] = ()


class _Procedure(Struct, forbid_unknown_fields=True):
    schema: Annotated[int, Meta(ge=SCHEMA, le=SCHEMA)]
    demonstrations: Count
    steps: Annotated[tuple[_Step, ...], Meta(max_length=MOST)]
    orderings: Annotated[tuple[_Ordering, ...], Meta(max_length=MOST)]
    orders: Annotated[tuple[Steps, ...], Meta(max_length=MOST)]
    precedence: Annotated[tuple[tuple[Count, Count, Count, Count], ...], Meta(max_length=MOST)]
    transitions: Annotated[tuple[tuple[Count, Count, Count], ...], Meta(max_length=MOST)]
    longest_pause_s: Seconds
    rules: _Rules
    learned: _Rules | None = None
    language: Annotated[str, Meta(pattern=LANGUAGE_TAG)] = ""


def from_plain(plain: Any) -> Procedure:
    """The procedure that `to_plain` wrote; BundleError with one sentence where something else was found."""
    try:
        read = convert(plain, _Procedure)
    except ValidationError as error:
        raise BundleError(f"the procedure cannot be read: {misfit(error, plain)}: export the bundle again.") from error
    numbers = [step.number for step in read.steps]
    _require(len(set(numbers)) == len(numbers), "steps", "distinct numbers", numbers)
    known = frozenset(numbers)
    for ordering in read.orderings:
        _require_known(ordering.steps, known, "an ordering")
        _require_once(ordering.steps, "an ordering")
    for order in read.orders:
        _require_known(order, known, "an order")
        _require_once(order, "an order")
    for one in read.precedence:
        _require_known(one[:2], known, "precedence")
        is_sound = one[2] <= one[3] and one[0] != one[1]
        _require(is_sound, "precedence", "two steps and a support up to the total", one)
    _require_known((step for one in read.transitions for step in one[:2]), known | {0}, "a transition")
    return Procedure(
        steps=tuple(_key_step(step) for step in read.steps),
        demonstrations=read.demonstrations,
        orderings=tuple(Ordering(one.steps, one.count) for one in read.orderings),
        orders=Orders(read.orders),
        precedences=tuple(Precedence(*one) for one in read.precedence),
        statistics=tuple(_statistics(step.number, step.seen) for step in read.steps if step.seen is not None),
        transitions=tuple(Transition(*one) for one in read.transitions),
        longest_pause_s=read.longest_pause_s,
        reasons=tuple((step.number, step.reason) for step in read.steps if step.reason),
        rules=_checked_rules(read.rules, known),
        learned=None if read.learned is None else _checked_rules(read.learned, known),
        language=read.language,
    )


def _key_step(step: _Step) -> KeyStep:
    _require_shown(step.name, "a step's name")
    _require_shown(step.reason, "a reason")
    _require_shown(step.say, "a step's words")
    return KeyStep(step.number, step.name, step.optional, step.repeatable, step.say)


def _statistics(number: int, seen: _Seen) -> StepStatistics:
    is_rising = list(seen.durations_s) == sorted(seen.durations_s)
    _require(is_rising, "durations_s", "rising quantiles", seen.durations_s)
    is_counted = not seen.visits or (sum(seen.visits), len(seen.visits)) == (seen.present, seen.most_visits)
    _require(is_counted, "visits", "demonstrations by their number of visits", seen.visits)
    return StepStatistics(number, seen.present, seen.repeated, seen.most_visits, seen.durations_s, seen.visits)


def _checked_rules(rules: _Rules, known: frozenset[int]) -> Rules:
    for name in ("edges", "asked_edges", "needs", "asked_needs"):
        edges = getattr(rules, name)
        _require_known((step for edge in edges for step in edge), known, name)
        _require_once(edges, name)
    for name in ("required", "asked_steps", "single"):
        _require_known(getattr(rules, name), known, name)
        _require_once(getattr(rules, name), name)
    for name in ("shortest_s", "longest_s"):
        _require_known((step for step, _ in getattr(rules, name)), known, name)
    circle = find_cycle([*rules.edges, *rules.asked_edges, *rules.needs, *rules.asked_needs])
    _require(circle is None, "edges", "a partial order", f"a circle through step {circle}")
    decisions = tuple(_decision(one, known) for one in rules.decisions)
    given = tuple(GivenRule(one.kind, one.steps, one.holds) for one in rules.given)
    for one in given:
        _require_known(one.steps, known, "a given rule")
        _require(len(set(one.steps)) == (1 if one.kind == "required" else 2), "given", "rules of two steps", one.steps)
    facts = asdict(rules) | {"decisions": decisions, "given": given}
    del facts["alert_chance"]
    return Rules(**facts)


def _decision(read: _Decision, known: frozenset[int]) -> Decision:
    kind, step, before, verdict, reason = read
    is_pair = kind in ("needs", "out_of_order")
    _require(
        is_pair == (before is not None) and before != step, "decisions", "about one step, or two of an order", read
    )
    _require_known((step,) if before is None else (step, before), known, "decisions")
    _require_shown(reason, "a reason")
    return Decision(Rule(kind, step, before), verdict, reason)


def _require_shown(text: str, what: str) -> None:
    is_shown = not any(unicodedata.category(character) in _UNSHOWN for character in text)
    _require(is_shown, what, "text without control characters", text)


def _require_known(steps: Iterable[int], known: frozenset[int], what: str) -> None:
    strange = next((step for step in steps if step not in known), None)
    _require(strange is None, what, "the number of a listed step", strange)


def _require_once(items: Sequence[object], what: str) -> None:
    _require(len(set(items)) == len(items), what, "without repetition", items)


def _require(is_right: bool, what: str, wanted: str, got: object) -> None:
    if not is_right:
        raise BundleError(f"the procedure's {what} should be {wanted}, got {got!r:.80}: export the bundle again.")

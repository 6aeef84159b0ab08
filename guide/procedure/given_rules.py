"""Rules that a trainer gives: how they read, and what they make of those that were learnt, which they outrank."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from guide.domain import KeyStep
from guide.errors import InputError
from guide.procedure.model import Decision, GivenKind, GivenRule, Procedure, Rule, Rules
from guide.procedure.precedence import Edge, find_cycle, without_circles

Stance: TypeAlias = Literal["add", "forbid", "relax"]
FORMS = 'a rule reads "A before B", "B needs A", "A or B" or "optional A", with names or numbers of steps'
_WORDS: Mapping[str, GivenKind] = {"before": "before", "needs": "needs", "or": "either"}
_OPTIONAL = re.compile(r"optional\s+(.+)", re.IGNORECASE)


def read_rule(text: str, stance: Stance, steps: Sequence[KeyStep]) -> tuple[GivenRule, ...]:
    """What a trainer's words come to: what is added holds, what is forbidden holds the other way, what is relaxed not.

    To forbid an order is to ask for the other one, to forbid an alternative is to ask for both steps, and to forbid
    that a step is optional is to require it; one that may be left out is not required. InputError says what cannot be
    understood.

    >>> read_rule("fold needs cut", "add", [KeyStep(1, "cut"), KeyStep(2, "fold")])
    (GivenRule(kind='needs', steps=(1, 2), holds=True),)
    """
    if found := _OPTIONAL.fullmatch(text.strip()):
        step = _step(found[1], steps)
        if stance == "relax":
            raise InputError("a step that may be left out has nothing to relax: forbid that it is optional, or add it.")
        return (GivenRule("required", (step,), stance == "forbid"),)
    kind, first, then = _pair(text, steps)
    if first == then:
        raise InputError(f"a rule is about two different steps, got {text!r:.80}: name another.")
    pair = (then, first) if kind == "needs" else (first, then)
    if stance == "forbid":
        both = (GivenRule("required", (first,)), GivenRule("required", (then,)))
        return both if kind == "either" else (GivenRule("before", pair[::-1]),)
    return (GivenRule(kind, pair, stance == "add"),)


def _pair(text: str, steps: Sequence[KeyStep]) -> tuple[GivenKind, int, int]:
    """Kind and steps in the order in which they are named; a name may hold the words itself."""
    problem: InputError | None = None
    for word, kind in _WORDS.items():
        for match in re.finditer(rf"\s{word}\s", text, re.IGNORECASE):
            try:
                return kind, _step(text[: match.start()], steps), _step(text[match.end() :], steps)
            except InputError as error:
                problem = problem or error
    raise problem or InputError(f"{FORMS}, got {text!r:.80}: correct it.")


def _step(text: str, steps: Sequence[KeyStep]) -> int:
    """The step that is meant by a name or number."""
    wanted = " ".join(text.split()).casefold()
    found = [step.number for step in steps if wanted in (str(step.number), step.name.casefold(), step.label.casefold())]
    if len(found) != 1:
        known = ", ".join(step.label for step in steps)
        many = f"{len(found)} steps are" if found else "no step is"
        raise InputError(f"{many} called {text.strip()!r:.80}, the steps are {known:.400}: choose one of them.")
    return found[0]


def merged(rules: Iterable[GivenRule], new: Iterable[GivenRule]) -> tuple[GivenRule, ...]:
    """The rules with new ones, which take the place of those about the same; InputError where they go in a circle."""
    found = {one.about: one for one in (*rules, *new)}
    kept = tuple(found.values())
    circle = find_cycle(_edges(kept))
    if circle is not None:
        raise InputError(f"by these rules step {circle} would have to come before itself: take one of them back.")
    return kept


def with_given(procedure: Procedure, given: Sequence[GivenRule]) -> Procedure:
    """The procedure under given rules, which outrank the learnt ones; those are kept beside, to go back to.

    >>> from guide.procedure.model import Rules
    >>> task = Procedure((KeyStep(1, "cut"), KeyStep(2, "fold")), 3, rules=Rules(edges=((1, 2),)))
    >>> with_given(task, [GivenRule("before", (2, 1))]).rules.edges
    ((2, 1),)
    """
    learned = procedure.learned or procedure.rules
    steps = _required_steps(procedure, learned, given)
    if not given:
        return replace(procedure, steps=steps, rules=learned, learned=None)
    optional = {step.number for step in steps if step.is_optional}
    rules = _required_rules(_ordered_rules(replace(learned, given=tuple(given))), optional)
    return replace(procedure, steps=steps, rules=replace(rules, decisions=_decisions(rules)), learned=learned)


def _decisions(rules: Rules) -> tuple[Decision, ...]:
    """The decisions with the given rules among them; what no longer alarms or asks was switched off."""
    given = {rule: None for one in rules.given if one.holds for rule in _as_rules(one)}
    kept = [one for one in rules.decisions if one.rule not in given]
    turned = {(rule.step, rule.before) for rule in given if rule.before is not None}
    watched = rules.watched
    return (
        *(
            replace(one, verdict="off", reason="switched off by hand")
            if (one.rule.before, one.rule.step) in turned
            or (one.verdict in ("alarms", "asks") and one.rule not in watched)
            else one
            for one in kept
        ),
        *(Decision(rule, "alarms", "given, whatever the demonstrations say") for rule in given),
    )


def _as_rules(given: GivenRule) -> tuple[Rule, ...]:
    match given.kind, given.steps:
        case "before", (first, then):
            return (Rule("out_of_order", then, first),)
        case "needs", (first, then):
            return (Rule("needs", then, first),)
        case "required", (step,):
            return (Rule("missed", step),)
    return ()


def _edges(rules: Iterable[GivenRule]) -> list[Edge]:
    pairs = (one.steps for one in rules if one.kind in ("before", "needs") and one.holds)
    return [(first, then) for first, then in pairs]


def _ordered_rules(rules: Rules) -> Rules:
    """Given orders first; of the learnt ones those that were not relaxed and go in no circle with them."""
    needs = _edges(one for one in rules.given if one.kind == "needs")
    relaxed = {one.steps for one in rules.given if one.kind == "before" and not one.holds}
    relaxed |= {edge for pair in rules.alternatives for edge in (pair, pair[::-1])}  # of two ways one is gone
    parts = (rules.edges, rules.needs, rules.asked_edges, rules.asked_needs)
    kept = {*without_circles([*sorted(rules.given_edges), *(edge for part in parts for edge in part)])} - relaxed
    edges = tuple(sorted({*rules.given_edges, *(one for one in rules.edges if one in kept)}))
    wanted = tuple(sorted({*needs, *(one for one in rules.needs if one in kept - rules.relaxed_edges)}))
    return replace(
        rules,
        edges=edges,
        needs=wanted,
        asked_edges=tuple(edge for edge in rules.asked_edges if edge in kept - {*edges}),
        asked_needs=tuple(edge for edge in rules.asked_needs if edge in kept - rules.relaxed_edges - {*wanted}),
    )


def _required_rules(rules: Rules, optional: set[int]) -> Rules:
    """One of two alternatives must be done unless both may be left out; the first speaks for both."""
    second = {other for _, other in rules.alternatives}
    firsts = {first for first, other in rules.alternatives if not {first, other} <= optional} - second
    required = {*(step for step in rules.required if step not in second), *given_steps(rules.given), *firsts}
    asked = tuple(step for step in rules.asked_steps if step not in required | second)
    return replace(rules, required=tuple(sorted(required)), asked_steps=asked)


def given_steps(rules: Iterable[GivenRule]) -> set[int]:
    """The steps that must be done because somebody said so."""
    return {one.steps[0] for one in rules if one.kind == "required" and one.holds}


def _required_steps(procedure: Procedure, learned: Rules, given: Sequence[GivenRule]) -> tuple[KeyStep, ...]:
    """What must be done is not optional; what no longer must be is what the demonstrations make of it."""
    now, before = given_steps(given), given_steps(procedure.rules.given)
    seen = {one.step: one.present for one in procedure.statistics}
    changed = dict.fromkeys(now, False) | {
        step: seen.get(step, 0) < procedure.demonstrations and step not in learned.required for step in before - now
    }
    return tuple(replace(step, is_optional=changed.get(step.number, step.is_optional)) for step in procedure.steps)

"""A review: a list of edits over what a bundle taught, and what they make of its labels and steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from guide.domain import BACKGROUND, KeyStep, Labels, Segment
from guide.errors import InputError
from guide.procedure.given_rules import merged
from guide.procedure.model import GivenRule
from guide.teach.annotations import segments_to_labels
from guide.teach.carrying import Carrying
from guide.teach.demonstrations import Demonstrations
from guide.teach.edits import Drop, Edit, Give, Label, Language, Mark, Merge, Name, Say, Split
from guide.teach.split import split_at_share, split_by_look


@dataclass(frozen=True, slots=True)
class Reviewed:
    """Labels and steps as a person wants them. A step's optional and repeatable are those set by hand alone.

    >>> Reviewed((np.array([1, 1]),), (KeyStep(1, "fold"),)).names
    {1: 'fold'}
    """

    labels: tuple[Labels, ...]
    steps: tuple[KeyStep, ...]
    given: tuple[GivenRule, ...] = ()
    """Rules that a person gave."""
    labelled: frozenset[int] = frozenset()
    """Places of the recordings that a person labelled."""
    is_carried: bool = True
    """Whether the labels of the others already follow from those a person gave."""
    highest: int = 0
    """The highest step number that was ever used: numbers of steps that went away are not given out again."""
    language: str = ""
    """The language of the voice."""

    @property
    def names(self) -> dict[int, str]:
        return {step.number: step.name for step in self.steps}

    def step(self, number: int) -> KeyStep:
        """The step of that number; raises InputError where there is none."""
        found = next((step for step in self.steps if step.number == number), None)
        if found is None:
            known = ", ".join(str(step.number) for step in self.steps)
            raise InputError(f"there is no step {number}, the steps are {known}: choose one of them.")
        return found


@dataclass(frozen=True)
class Review:
    """A list of edits over a start; the last can be taken back.

    >>> from guide.teach.demonstrations import demonstrate
    >>> from guide.perceive.appearance import AppearanceSettings
    >>> one = demonstrate(["a"], [np.arange(2.0)], [np.ones((2, 3))], 1.0, AppearanceSettings())
    >>> start = Reviewed((np.array([1, 2]),), (KeyStep(1, "fold"), KeyStep(2, "cut")))
    >>> review = Review(one, start).edited(Merge((1, 2)))
    >>> review.result.labels[0].tolist(), review.undone().result.labels[0].tolist()
    ([1, 1], [1, 2])
    """

    demonstrations: Demonstrations
    start: Reviewed
    edits: tuple[Edit, ...] = ()
    results: tuple[Reviewed, ...] = ()
    """What each edit led to."""

    @property
    def result(self) -> Reviewed:
        return self.results[-1] if self.results else self.start

    def edited(self, *edits: Edit) -> Review:
        """The review with more edits; raises InputError where one makes no sense."""
        review = self
        for edit in edits:
            result = apply(review.result, edit, self.demonstrations)
            review = replace(review, edits=(*review.edits, edit), results=(*review.results, result))
        return review

    def undone(self) -> Review:
        """The review without its last edit; the same where there is none."""
        return replace(self, edits=self.edits[:-1], results=self.results[:-1])

    def names_before(self, place: int) -> Mapping[int, str]:
        """The steps' names before the edit at `place`."""
        return (self.results[place - 1] if place else self.start).names


def apply(reviewed: Reviewed, edit: Edit, demonstrations: Demonstrations) -> Reviewed:
    """What an edit makes of labels and steps; raises InputError where it makes no sense."""
    match edit:
        case Name(number, name):
            return _with_step(reviewed, replace(reviewed.step(number), name=name))
        case Say(number, words):
            return _with_step(reviewed, replace(reviewed.step(number), say=words))
        case Language(tag):
            return replace(reviewed, language=tag)
        case Mark(number, "optional", is_on):
            kept = tuple(one for one in reviewed.given if one.about != ("required", (number,)) or not is_on)
            return _with_step(replace(reviewed, given=kept), replace(reviewed.step(number), is_optional=is_on))
        case Mark(number, "repeatable", is_on):
            return _with_step(reviewed, replace(reviewed.step(number), is_repeatable=is_on))
        case Give(rule, is_on):
            return _give(reviewed, rule, is_on)
        case Merge(numbers):
            return _merge(reviewed, numbers)
        case Drop(number):
            return _drop(reviewed, number)
        case Split():
            return _split(reviewed, edit, demonstrations)
        case Label():
            return _label(reviewed, edit, demonstrations)
    raise AssertionError(f"{edit} is no edit")  # every kind stands above


def carry(reviewed: Reviewed, demonstrations: Demonstrations) -> Reviewed:
    """The labels that a person gave, carried to the other recordings; the same where that was done already.

    Steps that no labelled recording holds go away: nobody could say how they look.
    """
    if reviewed.is_carried or not reviewed.labelled:
        return reviewed
    given = [labels if place in reviewed.labelled else None for place, labels in enumerate(reviewed.labels)]
    labels = Carrying().carry(demonstrations.collection(), given).labels
    gone = vanishing(reviewed)
    kept = tuple(step for step in reviewed.steps if step.number not in gone)
    given_rules = tuple(one for one in reviewed.given if not gone & set(one.steps))
    return replace(reviewed, labels=labels, steps=kept, given=given_rules, is_carried=True)


def vanishing(reviewed: Reviewed) -> set[int]:
    """The steps that no labelled recording holds, where labels are yet to be carried."""
    if reviewed.is_carried or not reviewed.labelled:
        return set()
    seen = {int(number) for place in reviewed.labelled for number in np.unique(reviewed.labels[place])}
    return {step.number for step in reviewed.steps} - seen


def segments_of(reviewed: Reviewed, demonstrations: Demonstrations) -> tuple[tuple[Segment, ...], ...]:
    """The steps of each recording, in order of time."""
    return demonstrations.segments(reviewed.labels)


def _with_step(reviewed: Reviewed, changed: KeyStep) -> Reviewed:
    steps = tuple(changed if step.number == changed.number else step for step in reviewed.steps)
    return replace(reviewed, steps=steps)


def _merge(reviewed: Reviewed, numbers: Sequence[int]) -> Reviewed:
    together = [reviewed.step(number) for number in numbers]
    kept = replace(
        together[0],
        is_optional=all(step.is_optional for step in together),
        is_repeatable=any(step.is_repeatable for step in together),
    )
    gone = set(numbers[1:])
    labels = tuple(np.where(np.isin(each, numbers), kept.number, each) for each in reviewed.labels)
    moved = (replace(one, steps=tuple(kept.number if n in gone else n for n in one.steps)) for one in reviewed.given)
    given = merged((), (one for one in moved if len(set(one.steps)) == len(one.steps)))
    steps = tuple(step for step in reviewed.steps if step.number not in gone)
    return _with_step(replace(reviewed, labels=labels, steps=steps, given=given), kept)


def _give(reviewed: Reviewed, rule: GivenRule, is_on: bool) -> Reviewed:
    for number in rule.steps:
        reviewed.step(number)
    others = tuple(one for one in reviewed.given if one.about != rule.about)
    if not is_on:
        return replace(reviewed, given=others)
    given = replace(reviewed, given=merged(others, [rule]))
    if rule.kind != "required":
        return given
    return _with_step(given, replace(given.step(rule.steps[0]), is_optional=False))


def _drop(reviewed: Reviewed, number: int) -> Reviewed:
    dropped = reviewed.step(number).number
    if len(reviewed.steps) == 1:
        raise InputError(f"step {number} is the only one, and a procedure needs a step: keep it.")
    return replace(
        reviewed,
        labels=tuple(np.where(each == dropped, BACKGROUND, each) for each in reviewed.labels),
        steps=tuple(step for step in reviewed.steps if step.number != dropped),
        given=tuple(one for one in reviewed.given if dropped not in one.steps),
    )


def _split(reviewed: Reviewed, edit: Split, demonstrations: Demonstrations) -> Reviewed:
    step = reviewed.step(edit.step)
    new = max(reviewed.highest, *(known.number for known in reviewed.steps), 0) + 1
    if edit.share is None:
        labels = split_by_look(demonstrations, reviewed.labels, step.number, new)
    else:
        labels = split_at_share(reviewed.labels, step.number, new, edit.share)
    seen = np.unique(np.concatenate(labels))
    if step.number not in seen or new not in seen:
        raise InputError(f"{step.label} cannot be split so, all its frames fall on one side: split it another way.")
    copies = [
        replace(one, steps=tuple(new if number == step.number else number for number in one.steps))
        for one in reviewed.given
        if step.number in one.steps
    ]
    steps = (*reviewed.steps, replace(step, number=new, name=f"step {new}", say=""))
    return replace(reviewed, labels=tuple(labels), steps=steps, given=(*reviewed.given, *copies), highest=new)


def _label(reviewed: Reviewed, edit: Label, demonstrations: Demonstrations) -> Reviewed:
    place = next((n for n, one in enumerate(demonstrations.items) if one.id == edit.recording), None)
    if place is None:
        known = ", ".join(one.id for one in demonstrations.items)
        raise InputError(f"there is no recording {edit.recording}, the recordings are {known}: choose one of them.")
    one = demonstrations.items[place]
    labels = segments_to_labels(edit.segments, one.times)
    wanted = {segment.step for segment in edit.segments}
    if lost := sorted(wanted - {int(number) for number in np.unique(labels)}):
        raise InputError(f"no frame of {edit.recording} falls into step {lost[0]}: label it longer.")
    names = {**dict(edit.names), **reviewed.names}
    new = sorted(wanted - set(reviewed.names))
    steps = (*reviewed.steps, *(KeyStep(number, names.get(number, f"step {number}")) for number in new))
    return replace(
        reviewed,
        labels=tuple(labels if at == place else each for at, each in enumerate(reviewed.labels)),
        steps=tuple(sorted(steps, key=lambda step: step.number)),
        labelled=reviewed.labelled | {place},
        is_carried=False,
        highest=max(reviewed.highest, *wanted),
    )

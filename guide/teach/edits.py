"""What a person changes in a learned procedure: small values that can be listed, stored and taken back.

Step numbers are kept: a merged step keeps the number named first, a step split off takes the next free one, the numbers
of steps that went away stay empty. So names, colours, label files and stored sessions go on meaning the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from guide.domain import BACKGROUND, Segment
from guide.errors import InputError
from guide.procedure.model import LANGUAGE_TAG, GivenKind, GivenRule
from guide.teach.label_rows import clean_name

MarkKind = Literal["optional", "repeatable"]
LONGEST_NAME = 80
LONGEST_WORDS = 200


@dataclass(frozen=True, slots=True)
class Name:
    """Another name for a step.

    >>> Name(3, "fit  board").name
    'fit board'
    """

    step: int
    name: str

    def __post_init__(self) -> None:
        cleaned = clean_name(self.name)
        if not cleaned or len(cleaned) > LONGEST_NAME:
            raise InputError(f"a step's name has 1 to {LONGEST_NAME} letters, got {len(cleaned)}: choose another.")
        object.__setattr__(self, "name", cleaned)


@dataclass(frozen=True, slots=True)
class Say:
    """What a voice says of a step in the place of its name; nothing takes that back.

    >>> Say(3, "fit the  board, chip up").words
    'fit the board, chip up'
    """

    step: int
    words: str

    def __post_init__(self) -> None:
        cleaned = clean_name(self.words)
        if len(cleaned) > LONGEST_WORDS:
            raise InputError(f"a voice says up to {LONGEST_WORDS} letters of a step, got {len(cleaned)}: say less.")
        object.__setattr__(self, "words", cleaned)


@dataclass(frozen=True, slots=True)
class Language:
    """The language of the voice, as browsers write it; nothing is the browser's own.

    >>> Language("pt-BR").tag
    'pt-BR'
    """

    tag: str

    def __post_init__(self) -> None:
        if not re.fullmatch(LANGUAGE_TAG, self.tag):
            raise InputError(f"a language is written as de or pt-BR, got {self.tag!r:.40}: correct it.")


@dataclass(frozen=True, slots=True)
class Merge:
    """Several steps are one, under the number and name of the first.

    >>> Merge((4, 5)).steps
    (4, 5)
    """

    steps: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(set(self.steps)) != len(self.steps) or len(self.steps) < 2:
            raise InputError(f"a merge needs two or more different steps, got {list(self.steps)}: name others.")


@dataclass(frozen=True, slots=True)
class Split:
    """A step is two: by how its frames look, or at a share of each time it is done. The later part is the new step.

    >>> Split(3, share=0.5).share
    0.5
    """

    step: int
    share: float | None = None

    def __post_init__(self) -> None:
        if self.share is not None and not 0 < self.share < 1:
            raise InputError(f"a step is split at a share of its time between 0 and 1, got {self.share}: choose one.")


@dataclass(frozen=True, slots=True)
class Drop:
    """A step is none: its frames are background.

    >>> Drop(7).step
    7
    """

    step: int


@dataclass(frozen=True, slots=True)
class Mark:
    """A step may be left out, or done again, whatever the demonstrations say; or no longer by hand.

    >>> Mark(2, "optional").is_on
    True
    """

    step: int
    kind: MarkKind
    is_on: bool = True


@dataclass(frozen=True, slots=True)
class Give:
    """A rule that a trainer gives; or takes back, so that what was learned holds again.

    >>> Give(GivenRule("before", (1, 2), holds=False)).is_on
    True
    """

    rule: GivenRule
    is_on: bool = True

    def __post_init__(self) -> None:
        if len(set(self.rule.steps)) != (1 if self.rule.kind == "required" else 2):
            raise InputError(f"a rule {self.rule.kind} is about other steps than {list(self.rule.steps)}: name others.")


@dataclass(frozen=True, slots=True)
class Label:
    """What a person saw in a whole recording; gaps are background. `names` are of steps that are new.

    >>> Label("01", (Segment(1, 0.0, 2.0),), ((1, "open box"),)).recording
    '01'
    """

    recording: str
    segments: tuple[Segment, ...]
    names: tuple[tuple[int, str], ...] = ()

    def __post_init__(self) -> None:
        if not self.segments:
            raise InputError(f"labels of {self.recording} were expected, none came: label at least one step.")
        for before, after in zip(self.segments, self.segments[1:], strict=False):
            if after.start < before.end:
                raise InputError(
                    f"steps of {self.recording} follow one another, but one begins at {after.start:g} s before the "
                    f"last ends at {before.end:g} s: move one of them."
                )
        if bad := [one for one in self.segments if one.step <= BACKGROUND or one.duration <= 0 or one.start < 0]:
            raise InputError(
                f"a label of {self.recording} has a step from 1 on and lasts a while, got step {bad[0].step} from "
                f"{bad[0].start:g} to {bad[0].end:g} s: correct it."
            )


Edit: TypeAlias = Name | Say | Language | Merge | Split | Drop | Mark | Give | Label
KINDS: Mapping[str, type[Edit]] = {
    "name": Name, "say": Say, "language": Language, "merge": Merge, "split": Split, "drop": Drop, "mark": Mark,
    "give": Give, "label": Label,
}  # fmt: skip


def edit_of(rule: GivenRule) -> Edit:
    """The edit that a trainer's rule is: that a step is not required is its mark as optional."""
    return Give(rule) if rule.kind != "required" or rule.holds else Mark(rule.steps[0], "optional")


def to_plain(edit: Edit) -> dict[str, Any]:
    """An edit ready for JSON.

    >>> to_plain(Merge((4, 5)))
    {'kind': 'merge', 'steps': [4, 5]}
    """
    kind = next(word for word, known in KINDS.items() if type(edit) is known)
    match edit:
        case Name(step, name):
            facts: dict[str, Any] = {"step": step, "name": name}
        case Say(step, words):
            facts = {"step": step, "words": words}
        case Language(tag):
            facts = {"tag": tag}
        case Merge(steps):
            facts = {"steps": list(steps)}
        case Split(step, share):
            facts = {"step": step, "share": share}
        case Drop(step):
            facts = {"step": step}
        case Mark(step, mark, is_on):
            facts = {"step": step, "mark": mark, "on": is_on}
        case Give(rule, is_on):
            facts = {"rule": rule_to_plain(rule), "on": is_on}
        case Label(recording, segments, names):
            facts = {"recording": recording, "segments": [[one.step, one.start, one.end] for one in segments]}
            facts["names"] = [list(pair) for pair in names]
    return {"kind": kind, **facts}


def from_plain(plain: Any) -> Edit:
    """The edit that `to_plain` wrote; raises InputError for anything else."""
    try:
        return _read(plain)
    except (KeyError, TypeError, ValueError) as cause:
        raise InputError(f"an edit was expected, {plain!r:.80} came ({cause}): undo it.") from cause


def _read(plain: Mapping[str, Any]) -> Edit:
    match plain["kind"]:
        case "name":
            return Name(_step(plain["step"]), str(plain["name"]))
        case "say":
            return Say(_step(plain["step"]), str(plain["words"]))
        case "language":
            return Language(str(plain["tag"]))
        case "merge":
            return Merge(tuple(_step(step) for step in plain["steps"]))
        case "split":
            return Split(_step(plain["step"]), None if plain["share"] is None else float(plain["share"]))
        case "drop":
            return Drop(_step(plain["step"]))
        case "mark" if plain["mark"] in ("optional", "repeatable"):
            return Mark(_step(plain["step"]), plain["mark"], plain["on"] is True)
        case "give":
            return Give(rule_from_plain(plain["rule"]), plain["on"] is True)
        case "label":
            segments = tuple(Segment(_step(step), float(start), float(end)) for step, start, end in plain["segments"])
            names = tuple((_step(step), str(name)) for step, name in plain["names"])
            return Label(str(plain["recording"]), segments, names)
        case kind:
            raise ValueError(f"{kind!r:.40} is unknown")


def rule_to_plain(rule: GivenRule) -> list[Any]:
    return [rule.kind, list(rule.steps), rule.holds]


def rule_from_plain(plain: Any) -> GivenRule:
    """The rule that `rule_to_plain` wrote; raises TypeError or ValueError for anything else."""
    kind, steps, holds = plain
    if kind not in get_args(GivenKind):
        raise ValueError(f"{kind!r:.40} is no kind of rule")
    return GivenRule(kind, tuple(_step(step) for step in steps), holds is True)


def _step(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 10**6:
        raise ValueError(f"{value!r:.40} is no step number")
    return value


def tell(edit: Edit, names: Mapping[int, str]) -> str:
    """The edit in words.

    >>> tell(Merge((4, 5)), {4: "step 4", 5: "turn screw"})
    'merged step 4 and 5 turn screw'
    """
    match edit:
        case Name(step, name):
            return f"named step {step} “{name}”"
        case Say(step, words):
            return f"the voice says {f'“{words}”' if words else 'the name'} of {_label(step, names)}"
        case Language(tag):
            return f"the voice speaks {tag or 'the language of the browser'}"
        case Merge(steps):
            return f"merged {' and '.join(_label(step, names) for step in steps)}"
        case Split(step, share):
            return f"split {_label(step, names)} " + ("by its look" if share is None else f"at {100 * share:.0f} %")
        case Drop(step):
            return f"made {_label(step, names)} background"
        case Mark(step, mark, is_on):
            return f"{_label(step, names)} {'is' if is_on else 'is no longer by hand'} {mark}"
        case Give(rule, is_on):
            stance = ("given" if rule.holds else "not watched") if is_on else "as learned again"
            return f"“{rule_words(rule, names)}” is {stance}"
        case Label(recording, segments):
            return f"labelled recording {recording} with {len(segments)} steps"


def rule_words(rule: GivenRule, names: Mapping[int, str]) -> str:
    """The rule as a trainer would write it.

    >>> rule_words(GivenRule("needs", (1, 2)), {1: "cut", 2: "fold"})
    '2 fold needs 1 cut'
    """
    steps = [_label(step, names) for step in rule.steps]
    match rule.kind:
        case "before":
            return f"{steps[0]} before {steps[1]}"
        case "needs":
            return f"{steps[1]} needs {steps[0]}"
        case "either":
            return f"{steps[0]} or {steps[1]}"
        case "required":
            return f"{steps[0]} must be done"


def _label(step: int, names: Mapping[int, str]) -> str:
    name = names.get(step, f"step {step}")
    return name if name == f"step {step}" else f"{step} {name}"

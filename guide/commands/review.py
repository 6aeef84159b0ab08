"""`python -m guide review`: names, merges, splits and labels for a learned procedure, taught at once without torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from guide.bundle import read_bundle, require_place
from guide.commands.steps import read_list_file
from guide.domain import KeyStep
from guide.errors import InputError
from guide.procedure.given_rules import Stance, read_rule
from guide.teach.edited import Review
from guide.teach.edits import Drop, Edit, Give, Label, Language, Mark, Merge, Name, Say, Split, edit_of
from guide.teach.given import Given, read_given
from guide.teach.relearn import begin_review, relearn, version_of, write_version
from guide.teach.review_store import ReviewStore, teach_in_place
from guide.teach.videos import find_videos


@dataclass(frozen=True)
class ReviewOptions:
    """Correct a learned procedure: name, merge, split and label steps, set rules. No network is trained again."""

    bundle: Annotated[Path, tyro.conf.Positional]
    """The folder of the bundle."""
    labels: Annotated[Path | None, tyro.conf.arg(metavar="DIR")] = None
    """A folder of label files (CSV or ELAN) named like the recordings; they are carried to the others."""
    merge: tyro.conf.UseAppendAction[Annotated[tuple[str, ...], tyro.conf.arg(metavar="N,N")]] = ()
    """Steps that are the same one, such as 4,5; the first keeps its number and name."""
    split: tyro.conf.UseAppendAction[Annotated[tuple[str, ...], tyro.conf.arg(metavar="N[@SHARE]")]] = ()
    """A step that is really two: 3 where its look changes, 3@0.5 half way. The later part gets the next free number."""
    background: tyro.conf.UseAppendAction[Annotated[tuple[int, ...], tyro.conf.arg(metavar="N")]] = ()
    """What was found as this step is not a step but background."""
    name: tyro.conf.UseAppendAction[Annotated[tuple[str, ...], tyro.conf.arg(metavar="N=NAME")]] = ()
    """A step's name, such as 3="fit board"."""
    say: tyro.conf.UseAppendAction[Annotated[tuple[str, ...], tyro.conf.arg(metavar="N=WORDS")]] = ()
    """What the voice says instead of the step's name; 3= restores the name."""
    language: Annotated[str | None, tyro.conf.arg(metavar="TAG")] = None
    """The language of the voice, such as de or pt-BR; empty means each browser's own."""
    optional: tyro.conf.UseAppendAction[Annotated[tuple[int, ...], tyro.conf.arg(metavar="N")]] = ()
    """A step that may be left out."""
    repeatable: tyro.conf.UseAppendAction[Annotated[tuple[int, ...], tyro.conf.arg(metavar="N")]] = ()
    """A step that may be done again."""
    add: tyro.conf.UseAppendAction[Annotated[tuple[str, ...], tyro.conf.arg(metavar="RULE")]] = ()
    """A rule that holds, whatever was learned, with names or numbers of steps: "A before B" (where both are done),
    "B needs A" (B is not begun before A is done), "A or B" (one of them, not both), "optional A"."""
    forbid: tyro.conf.UseAppendAction[Annotated[tuple[str, ...], tyro.conf.arg(metavar="RULE")]] = ()
    """A rule whose opposite holds: B before A, both A and B, or A must be done."""
    relax: tyro.conf.UseAppendAction[Annotated[tuple[str, ...], tyro.conf.arg(metavar="RULE")]] = ()
    """A rule of which no breach is reported any more, such as "1 before 2"."""
    list: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """A written list of steps, as `guide steps` takes it, whose order then holds; steps are matched by name."""
    learned: tyro.conf.UseAppendAction[Annotated[tuple[str, ...], tyro.conf.arg(metavar="RULE")]] = ()
    """Take back what was added, forbidden or relaxed: the rule is as it was learned."""
    videos: Annotated[Path | None, tyro.conf.arg(metavar="DIR")] = None
    """The folder of the demonstrations' videos, for pictures of new steps."""
    out: Annotated[Path | None, tyro.conf.arg(metavar="DIR")] = None
    """Where the new bundle goes; without it the new one replaces the old one, which is kept as a version."""
    undo: bool = False
    """Change nothing else and go back to the version before."""


def main(options: ReviewOptions) -> None:
    """Runs the command."""
    console = Console(highlight=False, markup=False)
    bundle = read_bundle(options.bundle)
    if options.undo:
        _undo(options, console)
        return
    if options.out is not None:
        require_place(options.out)
    review = begin_review(bundle)
    review = review.edited(*_edits(options, review))
    if not review.edits:
        raise InputError('something to change was expected, nothing was given: add for example --name 3="fit board".')
    taught = relearn(bundle, review)
    videos = (
        {} if options.videos is None else find_videos([o.id for o in review.demonstrations.items], [options.videos])
    )
    if options.out is None:
        new = teach_in_place(ReviewStore(options.bundle), bundle, review, taught, videos)
    else:
        new = write_version(bundle, review, taught, options.out, videos)
    for line in taught.told:
        console.print(line, soft_wrap=True)
    count = len(taught.procedure.steps)
    console.print(f"wrote {new.folder}, version {version_of(new)}: {count} key-steps", soft_wrap=True)
    console.print(f"next: python -m guide watch SOURCE --bundle {new.folder}", soft_wrap=True)


def _undo(options: ReviewOptions, console: Console) -> None:
    store = ReviewStore(options.bundle)
    live = store.number_of(read_bundle(options.bundle))
    before = next((version for version in store.versions() if version.number < live), None)
    if before is None:
        raise InputError(f"{options.bundle} has no version before this one: there is nothing to undo.")
    store.restore(before.number)
    console.print(f"{options.bundle} is version {before.number} again; version {live} is kept", soft_wrap=True)


def _edits(options: ReviewOptions, review: Review) -> list[Edit]:
    """Labels first, then what changes steps, then names and marks, which are of the steps that are left."""
    edits: list[Edit] = []
    if options.labels is not None:
        edits += label_edits(read_given(options.labels, review.demonstrations.ends))
    edits += [Merge(_numbers(text, "--merge")) for text in options.merge]
    edits += [_split(text) for text in options.split]
    edits += [Drop(number) for number in options.background]
    edits += [Name(*_called(text, "--name")) for text in options.name]
    edits += [Say(*_called(text, "--say")) for text in options.say]
    edits += [] if options.language is None else [Language(options.language)]
    edits += [Mark(number, "optional") for number in options.optional]
    edits += [Mark(number, "repeatable") for number in options.repeatable]
    steps = review.edited(*edits).result.steps
    if options.list is not None:
        edits += list_edits(options.list, steps)
    rules: list[tuple[Stance, tuple[str, ...]]] = [
        ("add", options.add), ("forbid", options.forbid), ("relax", options.relax),
    ]  # fmt: skip
    edits += [edit_of(rule) for stance, texts in rules for text in texts for rule in read_rule(text, stance, steps)]
    return edits + [Give(rule, is_on=False) for text in options.learned for rule in read_rule(text, "add", steps)]


def list_edits(path: Path, steps: Sequence[KeyStep]) -> list[Edit]:
    """What a written list says of the steps of the same names, as rules and marks."""
    listed, numbers = read_list_file(path), {step.name.casefold(): step.number for step in steps}
    if strange := next((step.name for step in listed.steps if step.name.casefold() not in numbers), None):
        known = ", ".join(step.label for step in steps)
        raise InputError(
            f"{path} lists {strange!r}, which no step is called; there are {known:.400}: use --name first."
        )
    place = {step.number: numbers[step.name.casefold()] for step in listed.steps}
    rules = [replace(one, steps=tuple(place[number] for number in one.steps)) for one in listed.rules.given]
    return [*(Mark(place[one.number], "optional") for one in listed.steps if one.is_optional), *map(Give, rules)]


def label_edits(given: Given) -> list[Edit]:
    """Label files as edits; their names are the steps' names from now on."""
    labels: list[Edit] = [
        Label(id_, file.segments, tuple(file.names.items())) for id_, file in given.files.items() if file.segments
    ]
    return labels + [Name(step.number, step.name) for step in given.steps]


def _numbers(text: str, option: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and len(part) < 7 for part in parts):
        raise InputError(f"{option} takes step numbers with commas between, such as 4,5, got {text!r:.60}: correct it.")
    return tuple(int(part) for part in parts)


def _split(text: str) -> Split:
    step, mark, share = text.partition("@")
    try:
        return Split(_numbers(step, "--split")[0], float(share) if mark else None)
    except ValueError as cause:
        raise InputError(f"--split takes a step, such as 3 or 3@0.5, got {text!r:.60}: correct it.") from cause


def _called(text: str, option: str) -> tuple[int, str]:
    step, mark, words = text.partition("=")
    if not mark or not step.strip().isdecimal():
        raise InputError(f'{option} takes a step and its words, such as 3="fit board", got {text!r:.60}: correct it.')
    return _numbers(step, option)[0], words

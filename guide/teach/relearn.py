"""A new version of a bundle after a review: what follows from labels taught anew, the networks as they are."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from guide import __version__
from guide.bundle import MANIFEST, Bundle, new_bundle, read_bundle, write_manifest
from guide.domain import KeyStep
from guide.errors import BundleError
from guide.manifest import is_list
from guide.procedure.given_rules import merged, with_given
from guide.procedure.model import GivenRule, Procedure, Rule
from guide.procedure.reading import from_plain
from guide.teach.demonstrations import Demonstrations
from guide.teach.describe import Learned, describe
from guide.teach.edited import Review, Reviewed, carry, segments_of, vanishing
from guide.teach.edits import Edit, Give, Language, Mark, Name, Say, tell
from guide.teach.progress import Tell, part_of, say_nothing
from guide.teach.reading import read_demonstrations
from guide.teach.stills import FOLDER, Still, completed, named_stills, read_stills, relabelled
from guide.teach.writing import ARRAYS, PROCEDURE, SEGMENTS, write_procedure, write_taught

NO_VIDEOS: Mapping[str, Path] = {}


@dataclass(frozen=True, slots=True)
class Relearned:
    """What a review led to, and what was said of its edits."""

    procedure: Procedure
    reviewed: Reviewed
    told: tuple[str, ...]
    learned: Learned | None = None
    """What was taught anew; nothing where what the bundle holds still stands."""


def begin_review(bundle: Bundle) -> Review:
    """A review of what a bundle holds, without edits."""
    if is_list(bundle):
        raise BundleError(f"{bundle.folder} was written down, not learned: change the list and run guide steps.")
    demonstrations, labels = read_demonstrations(bundle)
    procedure, facts = from_plain(bundle.json("procedure.json")), _review_facts(bundle)
    optional, repeatable = set(_numbers(facts.get("optional"))), set(_numbers(facts.get("repeatable")))
    steps = [KeyStep(s.number, s.name, s.number in optional, s.number in repeatable, s.say) for s in procedure.steps]
    known = set(procedure.numbers)
    if strange := {int(number) for each in labels for number in np.unique(each)} - known - {0}:
        raise BundleError(f"{bundle.folder} labels steps {sorted(strange)} that it does not know: export it again.")
    ids = [one.id for one in demonstrations.items]
    off = (tuple(_numbers(edge)) for edge in _list(facts.get("off")))  # as they were written before rules were given
    relaxed = [GivenRule("before", edge, False) for edge in off if len(edge) == 2 == len(known & {*edge})]
    start = Reviewed(
        labels,
        tuple(steps),
        merged(relaxed, procedure.rules.given),
        frozenset(ids.index(one) for one in _list(facts.get("labelled")) if one in ids),
        highest=max([*known, *_numbers([facts.get("highest")])]),
        language=procedure.language,
    )
    return Review(demonstrations, start)


def is_quick(edits: Sequence[Edit]) -> bool:
    """Whether edits change no label, so that nothing need be taught anew.

    >>> is_quick([Name(1, "fold"), Mark(1, "optional")]), is_quick([Mark(1, "optional", is_on=False)])
    (True, False)
    """
    return all(
        isinstance(edit, Name | Say | Language | Give) or (isinstance(edit, Mark) and edit.is_on) for edit in edits
    )


def relearn(bundle: Bundle, review: Review, say: Tell = say_nothing) -> Relearned:
    """Everything that follows from the reviewed labels; where they did not change, what was taught stays.

    `say` hears how much of the work is done.
    """
    told = [tell(edit, review.names_before(place)) for place, edit in enumerate(review.edits)]
    gone = vanishing(review.result)
    told += [f"step {number} is in no labelled recording and went away" for number in sorted(gone)]
    reviewed = carry(review.result, review.demonstrations)
    if is_quick(review.edits):
        procedure = _marked(from_plain(bundle.json("procedure.json")), reviewed.steps)
        return Relearned(_given(procedure, reviewed), reviewed, tuple(told))
    # To carry labels over takes about half as long as all the rest.
    say(begun := 0.0 if reviewed is review.result else 0.35)
    rest = part_of(say, begun, 1.0)
    learned = describe(review.demonstrations, reviewed.labels, reviewed.steps, tell=rest)
    procedure = _given(learned.procedure, reviewed)
    return Relearned(procedure, reviewed, tuple(told), replace(learned, procedure=procedure))


def write_version(
    bundle: Bundle,
    review: Review,
    relearned: Relearned,
    place: Path,
    videos: Mapping[str, Path] = NO_VIDEOS,
    number: int | None = None,
) -> Bundle:
    """Writes the reviewed bundle to `place`, whole or not at all; files that did not change are shared with the old.

    `number` is the version's, one above the bundle's where it is not given.
    """
    demonstrations, labels = review.demonstrations, relearned.reviewed.labels
    stills = relabelled(read_stills(bundle, demonstrations, review.start.labels), demonstrations, labels)
    named = named_stills(completed(stills, demonstrations, labels, videos))
    replaced = PROCEDURE if relearned.learned is None else (*PROCEDURE, *ARRAYS)
    with new_bundle(place) as folder:
        for name in bundle.facts["files"]:
            if name not in replaced and name.split("/")[0] not in (SEGMENTS, FOLDER):
                _share(bundle.path(name), folder / name)
        if relearned.learned is None:
            write_procedure(
                folder, demonstrations, relearned.procedure, segments_of(relearned.reviewed, demonstrations)
            )
        else:
            write_taught(folder, demonstrations, relearned.learned)
        (folder / FOLDER).mkdir()
        for name, still in named.items():
            (folder / FOLDER / name).write_bytes(still.picture)
        facts = _facts(bundle, demonstrations, relearned, named)
        facts["review"]["version"] = number or version_of(bundle) + 1
        write_manifest(folder, facts)
    return read_bundle(place)


def copy_bundle(bundle: Bundle, place: Path) -> None:
    """The same bundle at another place, written whole or not at all; its files are shared, for they never change."""
    with new_bundle(place) as folder:
        for name in (*bundle.facts["files"], MANIFEST):
            _share(bundle.folder / name, folder / name)


def version_of(bundle: Bundle) -> int:
    """Which version of its procedure a bundle is; 1 is what was learned first."""
    return max([1, *_numbers([_review_facts(bundle).get("version")])])


def told_of(bundle: Bundle) -> tuple[str, ...]:
    """What the review that led to this bundle changed, in words."""
    return tuple(str(line) for line in _list(_review_facts(bundle).get("changes")))


def _given(procedure: Procedure, reviewed: Reviewed) -> Procedure:
    return replace(with_given(procedure, reviewed.given), language=reviewed.language)


def _marked(procedure: Procedure, steps: Sequence[KeyStep]) -> Procedure:
    """What was learned with names and marks given by hand: optional is not missed, repeatable not single."""
    given = {step.number: step for step in steps}
    optional = {step.number for step in steps if step.is_optional}
    repeatable = {step.number for step in steps if step.is_repeatable}
    rules = (
        (procedure.learned or procedure.rules)
        .without(lambda rule: rule.cause in {Rule("missed", step) for step in optional}, "optional: so given")
        .without(lambda rule: rule in {Rule("repeated", step) for step in repeatable}, "repeatable: so given")
    )
    known = tuple(
        replace(
            step,
            name=given[step.number].name,
            say=given[step.number].say,
            is_optional=step.is_optional or step.number in optional,
            is_repeatable=step.is_repeatable or step.number in repeatable,
        )
        for step in procedure.steps
    )
    return replace(procedure, steps=known, learned=rules, reasons=_reasons(procedure, optional, repeatable))


def _reasons(procedure: Procedure, optional: set[int], repeatable: set[int]) -> tuple[tuple[int, str], ...]:
    found = dict(procedure.reasons)
    for word, numbers in (("optional", optional), ("repeatable", repeatable)):
        for number in {*found, *numbers}:
            said = f"{word}: so given"
            gone = word if number in numbers else said  # what a person no longer says, or says in the place of counts
            others = [part for part in found.get(number, "").split("; ") if part and not part.startswith(gone)]
            found[number] = "; ".join([*others, said] if number in numbers else others)
    return tuple(sorted((number, words) for number, words in found.items() if words))


def _share(source: Path, target: Path) -> None:
    """The file at another place without a second copy where the file system can do that."""
    target.parent.mkdir(exist_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _facts(
    bundle: Bundle, demonstrations: Demonstrations, relearned: Relearned, named: Mapping[str, Still]
) -> dict[str, Any]:
    facts = {key: value for key, value in bundle.facts.items() if key not in ("files", "schema")}
    reviewed = relearned.reviewed
    moments = {name: still.moment for name, still in named.items()}
    facts["program"] = f"cnc-guide {__version__}"
    if relearned.learned is not None:
        facts["links"] = asdict(relearned.learned.links)
        facts["notes"] = list(relearned.learned.notes)
    facts["review"] = {
        "changes": list(relearned.told),
        "optional": [step.number for step in reviewed.steps if step.is_optional],
        "repeatable": [step.number for step in reviewed.steps if step.is_repeatable],
        "labelled": [demonstrations.items[place].id for place in sorted(reviewed.labelled)],
        "highest": reviewed.highest,
        "stills": {name: [one.step, one.recording, one.at] for name, one in moments.items()},
    }
    return facts


def _review_facts(bundle: Bundle) -> Mapping[str, Any]:
    facts = bundle.facts.get("review")
    return facts if isinstance(facts, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _numbers(value: object) -> list[int]:
    return [one for one in _list(value) if isinstance(one, int) and not isinstance(one, bool) and 0 < one < 10**6]

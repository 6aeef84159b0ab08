"""Labels from ELAN files: which tier holds the steps, and which number each step has.

A value may carry its number ("3 fit board", as in the paper's CSV files, which were made with ELAN), or only a name;
names alone are numbered in the order in which they first come, over all files read together.
Written from the published format and tested on made files, read and written by another program for comparison.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from guide.errors import InputError
from guide.record.elan import ElanFile, Tier, read_elan
from guide.teach.label_rows import LABEL, Cells, clean_name

SUFFIX: Final = ".eaf"
STEP_TIERS: Final = ("steps", "step", "key-steps", "key-step", "keysteps", "keystep")
"""Names by which a tier is taken for the steps where several hold annotations."""


def choose_tier(file: ElanFile, place: str | Path, tier: str | None = None) -> Tier:
    """The tier called `tier`, else the only one with annotations, else the one named after steps.

    Raises InputError naming the tiers where there is no telling.

    >>> choose_tier(ElanFile((Tier("notes", ()), Tier("work", ()))), "a.eaf", "work").name
    'work'
    """
    if tier is not None:
        fitting = [one for one in file.tiers if one.name == tier]
    else:
        filled = [one for one in file.tiers if one.annotations]
        named = [one for one in filled if one.name.strip().lower().replace("_", "-").replace(" ", "-") in STEP_TIERS]
        fitting = filled if len(filled) < 2 else named
    if len(fitting) == 1:
        return fitting[0]
    if tier is None and not any(one.annotations for one in file.tiers):
        return Tier("", ())
    wanted = f"a tier {tier!r}" if tier is not None else "one tier of steps"
    there = ", ".join(repr(one.name) for one in file.tiers) or "none"
    raise InputError(f"{place} should hold {wanted}, it has the tiers {there}: choose one with --tier.")


def label_cells(file: ElanFile, place: Path, tier: str | None, numbers: Mapping[str, int]) -> list[Cells]:
    """The rows of a label file from an ELAN file: start, end and "number name" with the line of each annotation.

    A value without a number takes the one that `numbers` has for its name, and stays as it is where there is none.
    """
    rows: list[Cells] = []
    for one in choose_tier(file, place, tier).annotations:
        number = numbers.get(key(one.value))
        label = one.value if number is None else f"{number} {one.value}"
        rows.append((one.line, [f"{one.start:.3f}", f"{one.end:.3f}", label]))
    return rows


def number_names(values: Sequence[str], known: Mapping[str, int] | None = None) -> dict[str, int]:
    """Numbers for the names in `values` by `key`; none are given out where a value carries a number itself.

    `known` holds numbers that are taken already, by name.

    >>> number_names(["fit board", "close lid", "Fit  board"], {"close lid": 4})
    {'close lid': 4, 'fit board': 5}
    >>> number_names(["1 fit board", "close lid"])
    {}
    """
    names = [value for value in values if clean_name(value)]
    if any(_has_number(value) for value in names):
        return {}
    numbers = {key(name): number for name, number in (known or {}).items()}
    for value in names:
        numbers.setdefault(key(value), max(numbers.values(), default=0) + 1)
    return numbers


def key(value: str) -> str:
    """What makes two names the same: their words, whatever the case and the spaces.

    >>> key(" Fit  board")
    'fit board'
    """
    return clean_name(value).casefold()


def read_values(paths: Sequence[Path], tier: str | None = None) -> list[str]:
    """All values of the step tiers of several files, file by file, in order of time."""
    values: list[str] = []
    for path in paths:
        annotations = choose_tier(read_elan(path), path, tier).annotations
        values += [one.value for one in sorted(annotations, key=lambda one: (one.start, one.end))]
    return values


def _has_number(value: str) -> bool:
    label = LABEL.fullmatch(value)
    return label is not None and label[2] is not None

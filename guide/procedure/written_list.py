"""A procedure from a written list of steps alone: a work instruction as plain text or CSV, before any recording.

Plain text has a step a line, numbered or not. Lines under "any order:" or "one of:", indented or with dashes, are a
group; a step that ends with "(optional)" may be left out. CSV has a line of column names: `step`, and if wanted
`group` (neighbours with the same word may be done in any order), `instead` (neighbours with the same word are
alternatives) and `optional`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, groupby, pairwise, product

from guide.domain import KeyStep
from guide.errors import InputError
from guide.procedure.given_rules import merged, with_given
from guide.procedure.model import GivenRule, Procedure, Rules

MOST_STEPS = 200  # more are several procedures
LONGEST_NAME = 80
_BULLET = re.compile(r"(?:[-*\u2022]|\d{1,3}[.)])\s+")
_DASH = re.compile(r"[-*\u2022]\s")
_OPTIONAL = re.compile(r"\s*\(optional\)\s*$", re.IGNORECASE)
_HEADS: Mapping[str, str] = {"any order": "any", "in any order": "any", "one of": "one", "either": "one"}
_YES = ("yes", "y", "true", "1", "x", "optional")
_NO = ("", "no", "n", "false", "0")
COLUMNS = ("step", "group", "instead", "optional")


@dataclass(frozen=True, slots=True)
class _Line:
    """A step as it is written: in a group of its own, of any order, or of which one is done."""

    place: str
    name: str
    is_optional: bool = False
    group: tuple[str, str] = ("", "")
    """`any` or `one`, and what tells it from other groups."""


def read_list(text: str, source: str, is_csv: bool = False) -> Procedure:
    """The procedure that a list of steps asks for; InputError says in one sentence what cannot be understood.

    >>> task = read_list("Fit gasket\\nany order:\\n  hose\\n  cable\\nClose", "a file")
    >>> [step.name for step in task.steps], (1, 4) in task.rules.edges, (2, 3) in task.rules.edges
    (['Fit gasket', 'hose', 'cable', 'Close'], True, False)
    """
    try:
        lines = list(_table(text, source) if is_csv else _text(text, source))
    except csv.Error as cause:
        raise InputError(f"{source} should be CSV, but cannot be read ({cause}): write it anew.") from cause
    _check(lines, source)
    steps = tuple(KeyStep(number, line.name, line.is_optional) for number, line in enumerate(lines, 1))
    groups = [list(numbers) for _, numbers in groupby(range(1, len(lines) + 1), lambda number: _key(number, lines))]
    given = [GivenRule("before", pair) for one, other in pairwise(groups) for pair in product(one, other)]
    for numbers in groups:
        if lines[numbers[0] - 1].group[0] == "one":
            given += [GivenRule("either", pair) for pair in combinations(numbers, 2)]
        else:
            given += [GivenRule("required", (n,)) for n in numbers if not lines[n - 1].is_optional]
    return with_given(Procedure(steps, 0, rules=Rules(is_unknown_flagged=False)), merged((), given))


def _key(number: int, lines: list[_Line]) -> tuple[object, ...]:
    group = lines[number - 1].group
    return group if group[0] else (number,)


def _text(text: str, source: str) -> Iterator[_Line]:
    head, depth, is_empty = ("", ""), 0, False
    lines = text.splitlines()
    for number, line in enumerate([*lines, ""], 1):
        words, indent = line.strip(), len(line.expandtabs()) - len(line.expandtabs().lstrip())
        if words.startswith("#") or (not words and number <= len(lines)):
            continue
        if head[0] and indent <= depth and not _DASH.match(words):
            if is_empty:
                raise InputError(f"{source}, line {head[1]}: steps of this group should follow, indented: add them.")
            head = ("", "")
        plain = _BULLET.sub("", words, count=1) if _BULLET.match(words) else words
        if plain.endswith(":"):
            kind = _HEADS.get(plain[:-1].strip().casefold())
            if kind is None or head[0]:
                raise InputError(f'{source}, line {number}: "any order:" or "one of:" was expected, got {words!r:.80}.')
            head, depth, is_empty = (kind, str(number)), indent, True
        elif plain:
            is_empty = False
            yield _Line(f"line {number}", _OPTIONAL.sub("", plain), bool(_OPTIONAL.search(plain)), head)


def _table(text: str, source: str) -> Iterator[_Line]:
    first = text.lstrip().splitlines()[:1]
    mark = max(",;\t", key=(first or [""])[0].count)
    rows = csv.DictReader(text.lstrip().splitlines(), delimiter=mark)
    names = {name: (name or "").strip().casefold() for name in rows.fieldnames or ()}
    if first and ("step" not in names.values() or not {*names.values()} <= {*COLUMNS}):
        raise InputError(
            f"{source}: the columns should be step and some of {', '.join(COLUMNS[1:])}, got {first[0]!r:.80}."
        )
    for row in rows:
        number = rows.line_num
        cells = {names[name]: (cell or "").strip() for name, cell in row.items() if name in names}
        optional = cells.get("optional", "").casefold()
        if optional not in (*_YES, *_NO):
            raise InputError(f"{source}, line {number}: optional should be yes or no, got {optional!r:.40}.")
        if any(cells.values()):
            one, other = cells.get("instead", ""), cells.get("group", "")
            group = ("one", one) if one else ("any", other) if other else ("", "")
            yield _Line(f"line {number}", cells.get("step", ""), optional in _YES, group)


def _check(lines: list[_Line], source: str) -> None:
    if not lines:
        raise InputError(f"{source} should hold a list of steps, one a line, got none: write them down.")
    if len(lines) > MOST_STEPS:
        raise InputError(f"{source} should hold up to {MOST_STEPS} steps, got {len(lines)}: make several lists of it.")
    seen: dict[str, str] = {}
    for line in lines:
        name = line.name
        if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
            raise InputError(
                f"{source}, {line.place}: a step has a name of 1 to {LONGEST_NAME} letters, got {name!r:.90}."
            )
        if earlier := seen.get(name.casefold()):
            raise InputError(
                f"{source}, {line.place}: {name!r} stands in {earlier} already: give each step a name of its own."
            )
        seen[name.casefold()] = line.place
    kept = [group for group, _ in groupby(line.group for line in lines) if group[0]]
    if torn := next((group for group in kept if kept.count(group) > 1), None):
        raise InputError(f"{source}: the steps of group {torn[1]!r:.40} should stand together, they do not: move them.")

"""The rows of label files one by one: read, checked, repaired, each problem with its file and line."""

from __future__ import annotations

import csv
import math
import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from guide.domain import Segment
from guide.errors import InputError

END_SLACK_S: Final = 0.5  # people round the end of the last step up
TOUCH_S: Final = 0.0015  # ends and starts rounded apart by a millisecond still touch
LATEST_S: Final = 1e6  # eleven days: a later time is a typing error or another unit
LABEL: Final = re.compile(r"\s*([0-9]{1,6})\.?(?:\s+(.*\S))?\s*", re.DOTALL)  # EGTEA's files write "3." for 3
NUMBER: Final = re.compile(r" *[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)? *")
SEPARATORS: Final = {";": "semicolons", "\t": "tabs", "|": "bars"}
HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})  # control, format, half a character, line and paragraph ends
JOINERS: Final = "\u200c\u200d"  # Persian, Hindi and other scripts cannot be spelt without them
SHOWN: Final = 60

Cells = tuple[int, list[str]]
"""A line number and the values of the row that ends there."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row that could be understood: its line, when which step was done, and the step's name there.

    >>> Row(3, Segment(1, 0.0, 2.0), "open box").name
    'open box'
    """

    line: int
    segment: Segment
    name: str


class Problems:
    """Collects what is wrong, each with its place, and in lenient reading what was done about it.

    >>> problems = Problems("a.csv")
    >>> problems.add(3, "step 2 has no name", "called step 2")
    >>> problems.sentences, problems.changes
    (['a.csv line 3: step 2 has no name'], ['a.csv line 3: step 2 has no name: called step 2'])
    """

    def __init__(self, place: str | Path, unit: str = "line") -> None:
        self.place = place
        self.unit = unit
        self.sentences: list[str] = []
        self.changes: list[str] = []

    def add(self, line: int, what: str, repair: str) -> None:
        self.sentences.append(f"{self.place} {self.unit} {line}: {what}")
        self.changes.append(f"{self.sentences[-1]}: {repair}")


def read_cells(path: Path) -> list[Cells]:
    """The rows of a CSV file, without blank lines; a byte order mark and Windows line ends are no matter."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, skipinitialspace=True)
            return [(reader.line_num, cells) for cells in reader if any(cell.strip() for cell in cells)]
    except FileNotFoundError as error:
        raise InputError(f"a label file was expected, but {path} does not exist: check the path.") from error
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(
            f"a label file was expected, but {path} cannot be read as UTF-8 text with commas ({error}): save it as CSV."
        ) from error


def is_label_row(cells: Sequence[str]) -> bool:
    """Whether a row has the form start,end,"number name", however wrong its values may be.

    >>> is_label_row(["0.5", "2", "1 open box"]), is_label_row(["name", "age", "city"])
    (True, False)
    """
    return (
        len(cells) == 3 and all(NUMBER.fullmatch(cell) for cell in cells[:2]) and LABEL.fullmatch(cells[2]) is not None
    )


def check_rows(
    rows: Sequence[Cells], duration_s: float | None, steps: Collection[int] | None, problems: Problems
) -> list[Row]:
    """The rows in order of time without overlaps, as repaired; everything that was wrong goes into `problems`."""
    if not rows:
        problems.add(1, "the file is empty, but a label file has a row for each step done", "no steps")
    kept: list[Row] = []
    for number, (line, cells) in enumerate(rows):
        row = _parse(line, cells, problems, is_first=number == 0)
        row = row and _check_step(row, steps, problems)
        row = row and _check_end(row, duration_s, problems)
        if row:
            kept.append(row)
    return _without_overlaps(sorted(kept, key=lambda row: (row.segment.start, row.line)), problems)


def parse_seconds(text: str) -> float | None:
    """A time in seconds rounded to the millisecond, as files hold it; None where it is none.

    >>> parse_seconds("2.5"), parse_seconds("1e309"), parse_seconds("nan"), parse_seconds("1_0")
    (2.5, None, None, None)
    """
    if not NUMBER.fullmatch(text):
        return None
    seconds = float(text)
    return round(seconds, 3) + 0.0 if math.isfinite(seconds) and 0 <= seconds <= LATEST_S else None


def clean_name(text: str) -> str:
    """A name on one line without characters that cannot be seen.

    >>> clean_name("fit\\tthe\\u200b board ")
    'fit the board'
    """
    return " ".join("".join(" " if _is_hidden(one) else one for one in text).split())


def shown(text: str) -> str:
    """A value as a message shows it: quoted, cut where it is long."""
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + "...")


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in HIDDEN and character not in JOINERS


def _parse(line: int, cells: list[str], problems: Problems, is_first: bool) -> Row | None:
    separator = next((word for mark, word in SEPARATORS.items() if mark in ",".join(cells[:2])), None)
    if separator is not None:
        problems.add(line, f"values are separated by commas, here by {separator}", "row left out")
        return None
    if len(cells) != 3:
        what = f'expected start,end,"number name", got {len(cells)} values'
        problems.add(line, what + (": put a name with commas in quotes" if len(cells) > 3 else ""), "row left out")
        return None
    start, end = parse_seconds(cells[0]), parse_seconds(cells[1])
    if start is None or end is None:
        header = "a label file has no header: " if is_first and not any(map(NUMBER.fullmatch, cells[:2])) else ""
        what = f"start and end must be seconds from 0 on, got {shown(cells[0])} and {shown(cells[1])}"
        problems.add(line, header + what, "row left out")
        return None
    label = _label(line, cells[2], problems)
    return label and _in_time(
        Row(line, Segment(label[0], min(start, end), max(start, end)), label[1]), end < start, problems
    )


def _label(line: int, text: str, problems: Problems) -> tuple[int, str] | None:
    """The step's number and its name."""
    label = LABEL.fullmatch(text)
    if label is None or int(label[1]) < 1:
        what = f'a step is a number from 1 on and a name, such as "3 fit board", got {shown(text)}'
        problems.add(line, what, "row left out")
        return None
    number, given = int(label[1]), label[2] or ""
    name = clean_name(given)
    if not name:
        name = f"step {number}"
        problems.add(line, f"step {number} has no name", f"called {name}")
    elif any(map(_is_hidden, given)):
        problems.add(line, f"the name {shown(given)} holds characters that cannot be seen", f"called {name}")
    return number, name


def _in_time(row: Row, was_turned: bool, problems: Problems) -> Row | None:
    low, high = row.segment.start, row.segment.end
    if low == high:
        problems.add(row.line, f"the step starts and ends at {low:g} s", "row left out")
        return None
    if was_turned:
        problems.add(row.line, f"the step ends at {low:g} s, before it starts at {high:g} s", "start and end exchanged")
    return row


def _check_step(row: Row, steps: Collection[int] | None, problems: Problems) -> Row | None:
    if steps is None or row.segment.step in steps:
        return row
    known = ", ".join(str(step) for step in sorted(steps))
    problems.add(row.line, f"step {row.segment.step} is unknown, the steps are {known}", "row left out")
    return None


def _check_end(row: Row, duration_s: float | None, problems: Problems) -> Row | None:
    segment = row.segment
    if duration_s is None or segment.end <= duration_s:
        return row
    last = math.floor(duration_s * 1000) / 1000
    if segment.end > duration_s + END_SLACK_S or segment.start >= last:
        what = f"the step ends at {segment.end:g} s, past the recording's end at {duration_s:.1f} s"
        problems.add(row.line, what, "row left out" if segment.start >= last else "cut at the end")
    return _ending(row, last) if segment.start < last else None


def _without_overlaps(rows: list[Row], problems: Problems) -> list[Row]:
    """Rows in order of time, each ending before the next starts."""
    kept: list[Row] = []
    for row in rows:
        if kept and row.segment.start < kept[-1].segment.end:
            last = kept.pop()
            is_hidden = row.segment.start <= last.segment.start
            if is_hidden or last.segment.end - row.segment.start > TOUCH_S:
                what = f"the step starts at {row.segment.start:g} s, before the one in line {last.line} ends"
                problems.add(row.line, what, f"line {last.line} " + ("left out" if is_hidden else "cut short"))
            if not is_hidden:
                kept.append(_ending(last, row.segment.start))
        kept.append(row)
    return kept


def _ending(row: Row, end: float) -> Row:
    return replace(row, segment=Segment(row.segment.step, row.segment.start, end))

"""Tables of the trials: what was flagged rightly and wrongly, what was lost, how far unaries depend on the order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np
from rich.table import Table
from scipy.stats import mannwhitneyu

from offline.demo.task import TaskName
from offline.study.counterfactual.faults import Kind
from offline.study.evaluation.teaching import ALL
from offline.study.fault_trial.made import FAULTS
from offline.study.flags import score_of
from offline.study.keep import Plain
from offline.study.tables import grid

PLANTED: Final[Mapping[TaskName, tuple[Kind, ...]]] = {"box": FAULTS[:2], "rounds": FAULTS}
"""What each drawn task is tried with."""
FLAGS: Final = "false alarms a clean one", "delay s"
POOLED: Final = "all tasks"
TOGETHER: Final = "together"


def world_table(rows: Sequence[Plain], title: str) -> Table:
    """Flags on drawn worlds: a row for each number of labelled demonstrations and world, one for all together."""
    planted = [kind for kind in FAULTS if any(row["kind"] == kind for row in rows)]
    columns = ("labelled", "world", *_headings(planted), *FLAGS, "first word s", "named s", "questions")
    times = ("late_s", "word_s", "name_s")
    return grid(title, columns, [(*names, *flag_cells(some, planted, times)) for *names, some in worlds_of(rows)], ())


def told_table(rows: Sequence[Plain]) -> Table:
    """Faults that were not found and flags that were wrong, in true steps."""
    lines = []
    for labelled, world, some in worlds_of(rows):
        if world != TOGETHER:
            lost = (str(row["planted"]) for row in some if int(row["faults"] or 0) > int(row["found"] or 0))
            wrong = (word for row in some for word in str(row["wrong"]).split(", ") if word)
            lines.append((labelled, world, _counted(lost), _counted(wrong)))
    title = "not found, and flagged wrongly (steps by their true numbers, 0 where none corresponds)"
    return grid(title, ("labelled", "world", "not found", "wrong"), lines, ("not found", "wrong"))


def fault_table(rows: Sequence[Plain], title: str, names: Sequence[str]) -> Table:
    """Flags on recordings left out, one row for each task and each value of the fields `names`."""
    flags = [row for row in rows if row["kind"] not in ("shuffled", "mistaken")]
    columns = ("task", *names, *_headings(FAULTS), *FLAGS, "first word s", "in steps", "questions")
    times = ("late_s", "word_s", "word_steps")
    return grid(title, columns, [(*values, *flag_cells(some, FAULTS, times)) for values, some in _by(flags, names)])


def agreement_table(rows: Sequence[Plain], title: str, names: Sequence[str]) -> Table:
    """Share of frames with the same cheapest label in order and shuffled: mean and least over recordings."""
    lines = []
    for values, some in _by([row for row in rows if row["kind"] == "shuffled"], names):
        shares = [float(row["agreement"]) for row in some if row["agreement"] is not None]
        cells = [f"{np.mean(shares):.3f}", f"{min(shares):.3f}"] if shares else ["-", "-"]
        lines.append((*values, str(len(shares)), *cells))
    return grid(title, ("task", *names, "recordings", "mean", "least"), lines)


def missed_table(rows: Sequence[Plain], title: str, names: Sequence[str]) -> Table:
    """Steps of recordings with mistakes: were those that were missed flagged?"""
    figures = "steps", "missed", "flagged", "precision", "recall", "F1", "AUC, certainty", "AUC, evidence"
    steps = [row for row in rows if row["kind"] == "mistaken"]
    return grid(title, ("task", *names, *figures), [(*v, *_missed_cells(some)) for v, some in _by(steps, names)])


def worlds_of(rows: Sequence[Plain]) -> list[tuple[str, str, list[Plain]]]:
    """Rows by number of labelled demonstrations and world, in the order in which they come; all worlds last."""
    found: list[tuple[str, str, list[Plain]]] = []
    for labelled in dict.fromkeys(str(row["labelled"]) for row in rows):
        own = [row for row in rows if row["labelled"] == labelled]
        worlds = list(dict.fromkeys(str(row["seed"]) for row in own))
        found += [(labelled, world, [row for row in own if str(row["seed"]) == world]) for world in worlds]
        found += [(labelled, TOGETHER, own)] if len(worlds) > 1 else []
    return found


def flag_cells(rows: Sequence[Plain], kinds: Sequence[str], times: Sequence[str]) -> list[str]:
    """Precision, recall, each kind, false alarms, medians of the `times`, and questions of some recordings."""
    score = score_of(rows)
    each = [score_of(row for row in rows if row["kind"] == kind) for kind in kinds]
    medians = [[float(row[name] or 0) for row in rows if row[name] is not None] for name in times]
    return [
        _share(score.found, score.flags),
        _share(score.found, score.faults),
        *(f"{kind.found} of {kind.faults}" for kind in each),
        _share(score.clean_alarms, score.clean),
        *(f"{np.median(told):.2f}" if told else "-" for told in medians),
        f"{np.mean([float(row['questions'] or 0) for row in rows]):.1f}",
    ]


def area_under_curve(scores: Sequence[float], is_positive: Sequence[bool]) -> float:
    """How probably a positive scores above a negative, equal scores counting half; NaN where one kind is lacking.

    >>> area_under_curve([0.9, 0.5, 0.5, 0.1], [True, True, False, False])
    0.875
    """
    sides = [[one for one, is_so in zip(scores, is_positive, strict=True) if is_so == side] for side in (True, False)]
    count = len(sides[0]) * len(sides[1])
    return float(mannwhitneyu(*sides).statistic) / count if count else float("nan")


def _missed_cells(rows: Sequence[Plain]) -> list[str]:
    missed, flagged = ([bool(row[name]) for row in rows] for name in ("is_missed", "is_flagged"))
    hits = sum(one and other for one, other in zip(missed, flagged, strict=True))
    areas = [area_under_curve([float(row[name] or 0) for row in rows], missed) for name in ("certainty", "unseen")]
    shares = [(hits, sum(flagged)), (hits, sum(missed)), (2 * hits, sum(flagged) + sum(missed))]
    return [
        *map(str, (len(rows), sum(missed), sum(flagged))),
        *(_share(*pair) for pair in shares),
        *("-" if np.isnan(area) else f"{area:.2f}" for area in areas),
    ]


def _by(rows: Sequence[Plain], names: Sequence[str]) -> list[tuple[tuple[str, ...], list[Plain]]]:
    """Task by task, and all tasks together at the end, the rows by the values of some fields."""
    tasks = list(dict.fromkeys(str(row["task"]) for row in rows))
    found: list[tuple[tuple[str, ...], list[Plain]]] = []
    for task in [*tasks, POOLED] if len(tasks) > 1 else tasks:
        groups: dict[tuple[str, ...], list[Plain]] = {}
        for row in rows:
            if task in (row["task"], POOLED):
                groups.setdefault(tuple(str(row[name]) for name in names), []).append(row)
        found += [((task, *values), groups[values]) for values in sorted(groups, key=lambda one: [*map(_place, one)])]
    return found


def _place(value: str) -> tuple[bool, int, str]:
    """Numbers in their order, then words, all of them last."""
    return value == ALL, int(value) if value.isdecimal() else 0, "" if value == "on" else value


def _headings(kinds: Sequence[str]) -> list[str]:
    return ["precision", "recall", *(kind.replace("_", " ") for kind in kinds)]


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2f}" if whole else "-"


def _counted(words: Iterable[str]) -> str:
    """What came, with how often where it was more than once.

    >>> _counted(["missed 1", "9 before 1", "missed 1"])
    'missed 1 (2), 9 before 1'
    """
    return ", ".join(word if count == 1 else f"{word} ({count})" for word, count in Counter(words).items())

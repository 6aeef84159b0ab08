"""`python -m offline.study.order DIR`: the order checker on every recipe of CaptainCook4D, true steps given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console
from rich.table import Table

from guide.commands.entry import entry
from guide.errors import InputError
from guide.procedure.model import Procedure
from guide.procedure.precedence import Edge, reduce_edges
from guide.procedure.rule_selection import FALSE_ALARM_RATE
from guide.procedure.scores import check, learn_names, never_flag, score, score_missed
from guide.procedure.sequences import NamedSequence, parse_sequences
from offline.study.datasets.captaincook import list_recipes, read_sequences
from offline.study.datasets.sequence import TaskSequences, read_json
from offline.study.plain_rule import PlainRule
from offline.study.sequences import to_line

GRAPHS = "task_graphs"
ENDS = ("START", "END")
WIDTH = 160  # columns that the table needs


@dataclass(frozen=True, slots=True)
class Config:
    """Learn each recipe from its clean recordings, check the others, compare the recovered graph with the true one.

    A mistake is a step tagged as an order error. All rows are in percent, false alarms in alerts a recording.
    """

    folder: Annotated[Path, tyro.conf.Positional]
    """The folder of CaptainCook4D, with `task_graphs/` where graphs are to be compared."""
    tasks: tuple[int, ...] = ()
    """Recipes by number; all of them where none is given."""
    rate: float = FALSE_ALARM_RATE
    """False alarms per recording to stay under."""


def run(config: Config) -> None:
    """Prints a row a recipe, and the means."""
    recipes = list_recipes(config.folder)
    chosen = config.tasks or tuple(recipes)
    if strange := [number for number in chosen if number not in recipes]:
        raise InputError(f"{config.folder} has no recipe {strange[0]}, it has {[*recipes]}: choose some of them.")
    rows = [_row(config, number) for number in chosen]
    table = Table(
        "recipe", "learnt from / checked", "F1 correct", "F1 mistake", "average", "plain rule", "never flag",
        "precision", "recall", "false alarms", "missed F1", "graph F1",
    )  # fmt: skip
    for (learnt, checked), name, values in rows:
        table.add_row(name, f"{learnt} / {checked}", *map(_shown, values))
    columns = [[value for value in each if value is not None] for each in zip(*(row[2] for row in rows), strict=True)]
    table.add_row("mean", "", *(_shown(sum(each) / len(each) if each else None) for each in columns))
    Console(width=WIDTH).print(table)


def graph_f1(procedure: Procedure, truth: Sequence[tuple[str, str]]) -> float:
    """F1 of the recovered edges between steps, both graphs transitively reduced.

    >>> from guide.domain import KeyStep, Precedence
    >>> task = Procedure((KeyStep(1, "a"), KeyStep(2, "b")), 2, precedences=(Precedence(1, 2, 2, 2),))
    >>> graph_f1(task, [("a", "b")]), graph_f1(task, [("b", "a")])
    (1.0, 0.0)
    """
    names = {name: place for place, name in enumerate(sorted({name for edge in truth for name in edge}), 1)}
    true = {*reduce_edges((names[first], names[then]) for first, then in truth)}
    found: set[Edge] = {
        (names.get(procedure.name(one.first), 0), names.get(procedure.name(one.then), 0)) for one in procedure.graph
    }
    hits = len(true & found)
    return 2 * hits / (len(true) + len(procedure.graph)) if true or procedure.graph else 0.0


def read_graph(path: Path) -> list[tuple[str, str]]:
    """The true edges between steps, by name; InputError where the file is no graph."""
    plain = read_json(path)
    try:
        names = {int(number): str(name) for number, name in plain["steps"].items()}
        edges = [(names[first], names[then]) for first, then in plain["edges"]]
    except (AttributeError, KeyError, TypeError, ValueError) as cause:
        raise InputError(
            f"{path} should hold steps by number and edges between them ({cause!r}): get it anew."
        ) from cause
    return [edge for edge in edges if not {*ENDS} & {*edge}]


def _row(config: Config, number: int) -> tuple[tuple[int, int], str, list[float | None]]:
    clean = _named(read_sequences(config.folder, number, clean_only=True))
    task = read_sequences(config.folder, number)
    taught = {one.id for one in clean}
    procedure = learn_names(clean, config.rate)
    checked = [check(procedure, one) for one in _named(task) if one.id not in taught]
    plain = PlainRule(clean)
    ours, never = score(checked), score([never_flag(one) for one in checked])
    by_rule = score([plain.check(one) for one in checked])
    graph = config.folder / GRAPHS / f"{''.join(task.name.lower().split())}.json"
    shares = [ours.f1_correct, ours.f1_mistake, ours.f1_average, by_rule.f1_average, never.f1_average]
    shares += [ours.precision, ours.recall]
    values = [*(100 * share for share in shares), ours.false_alarms_per_sequence, 100 * score_missed(checked).f1]
    found = 100 * graph_f1(procedure, read_graph(graph)) if graph.is_file() else None
    return (len(clean), len(checked)), f"{number} {task.name}", [*values, found]


def _named(task: TaskSequences) -> list[NamedSequence]:
    return parse_sequences([to_line(one, task, "Order Error") for one in task.recordings], task.name)


def _shown(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if value < 2 else f"{value:.1f}"


if __name__ == "__main__":
    entry(Config, run)

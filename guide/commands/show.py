"""`python -m guide show`: a bundle in the terminal: its steps, orders, rules and how good it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from rich.table import Table
from rich.text import Text

from guide.bundle import read_bundle
from guide.commands.console import table_console
from guide.errors import BundleError
from guide.procedure.model import Rules
from guide.procedure.reading import from_plain
from guide.ui.state.bundles import BundleView, DamagedBundle, OrderingView, view_bundle

MOST_ORDERS = 5
LEFT_OUT = {"alarms": "alert", "asks": "question", "silent": "nothing"}


@dataclass(frozen=True)
class ShowOptions:
    """Print what a bundle has learned: steps, orders, rules, and how good they are."""

    bundle: Annotated[Path, tyro.conf.Positional] = Path("exported/demo")
    """The learned bundle."""


def main(options: ShowOptions) -> None:
    """Runs the command; BundleError where the bundle is damaged."""
    view = view_bundle(options.bundle)
    if isinstance(view, DamagedBundle):
        raise BundleError(view.problem)
    console = table_console()
    for part in _parts(view, from_plain(read_bundle(options.bundle).json("procedure.json")).rules):
        console.print(part, markup=False, emoji=False)


def _parts(view: BundleView, rules: Rules) -> Iterator[str | Table]:
    yield f"{view.name}: {view.summary}\n"
    yield _table(
        ("step", "seen", "takes", "when left out", ""),
        [
            (
                one.label,
                one.seen.removesuffix(" demonstrations"),
                one.lasts,
                LEFT_OUT[rules.when_left_out(one.number)],
                ", ".join(one.marks),
            )
            for one in view.steps
        ],
    )
    if view.orderings:
        yield "\nOrders, the most frequent first"
        yield _table(("times", "order"), [(str(one.count), _order(one)) for one in view.orderings[:MOST_ORDERS]])
    if len(view.orderings) > MOST_ORDERS:
        yield f"and {len(view.orderings) - MOST_ORDERS} more"
    yield "\nRules: what comes before what"
    edges = [(one.first, one.then, one.seen_so, one.when_broken) for one in view.edges]
    yield _table(("first", "then", "seen so", "when broken"), edges) if edges else "none: any order was seen"
    yield "\nQuality and origin"
    yield _table(("", ""), view.facts)
    yield from (f"note: {note}" for note in view.notes)
    yield f"\nnext: {view.watch}"


def _order(ordering: OrderingView) -> str:
    return ", ".join(step.name for step in ordering.steps)


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Table:
    table = Table(*heads, box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=any(heads))
    for row in rows:
        table.add_row(*(Text(cell, overflow="fold") for cell in row))  # names are the user's: no markup
    return table

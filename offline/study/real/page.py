"""The page as one HTML file that needs nothing else: tables, confusions, failures with pictures or bars."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from typing import Final

from rich.table import Table

from guide.domain import BACKGROUND
from offline.study.evaluation.bars import draw
from offline.study.evaluation.page_style import STYLE
from offline.study.real.failures import Failure, named, worst
from offline.study.real.results import Result
from offline.study.real.sets import pictures_at

MORE_STYLE: Final = """
figure{display:inline-block;margin:.4rem .8rem .4rem 0;font-size:.8rem}
figure img{display:block;width:320px;max-width:100%;border-radius:2px}
table.confusion td{min-width:2.2rem}
td.right{font-weight:700}
"""
READ_ME: Final = (
    "Each recording is left out in turn and the others teach. <b>D</b>: steps found in whole recordings against the "
    "true ones, F1 over key-steps in percent; with labels carried from two, of the recordings without labels. "
    "<b>Live accuracy</b> and <b>macro F1</b>: frames of steps that a session labels right 2 s later, in percent; what "
    "sees nothing (random, equal time split) knows how long the recording will take and which slice is which step. "
    "<b>Flags</b> are counted on faults made in recordings left out. A development figure: settings were chosen on "
    "these sets."
)


def make_page(results: Sequence[Result], tables: Sequence[Table], notes: Sequence[str], command: str) -> str:
    """The whole page; every name in it is escaped."""
    links = "".join(f'<a href="#t{number}">{escape(result.title)}</a>' for number, result in enumerate(results))
    budget = "".join(f"<li>{escape(words)}</li>" for words in (*(result.sentence() for result in results), *notes))
    sections = "".join(_section(number, result) for number, result in enumerate(results))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1"><title>Real sets</title>'
        f"<style>{STYLE}{MORE_STYLE}</style></head><body><h1>Every real set at hand</h1>"
        f"<p><code>{escape(command)}</code></p><nav>{links}</nav><p>{READ_ME}</p>"
        f'{"".join(map(_table, tables))}<ul class="notes">{budget}</ul>{sections}</body></html>\n'
    )


def _table(table: Table) -> str:
    """A table of the terminal."""
    head = "".join(f"<th>{escape(str(column.header))}</th>" for column in table.columns)
    lines = zip(*(column.cells for column in table.columns), strict=True)
    body = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in cells)}</tr>" for cells in lines)
    whole = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<h2>{escape(str(table.title))}</h2><div class="scroll">{whole}</div>'


def _section(number: int, result: Result) -> str:
    notes = "".join(f"<li>{escape(note)}</li>" for note in result.of.task.notes)
    confusion = _confusion(result) if result.live else ""
    failures = "".join(_failure(result, failure) for failure in worst(result))
    return (
        f'<section id="t{number}"><h2>{escape(result.title)}</h2><ul class="notes">{notes}</ul>{confusion}{failures}'
        f"</section>"
    )


def _confusion(result: Result) -> str:
    counts, steps = result.confusion, [BACKGROUND, *sorted(result.of.task.steps)]
    head = "".join(f"<th>{step or 'none'}</th>" for step in steps)
    lines = []
    for place, step in enumerate(steps):
        total = int(counts[place].sum())
        if not total:
            continue
        shares = [100 * int(count) / total for count in counts[place]]
        cells = "".join(
            f'<td{" class=right" if other == place else ""} style="background:rgb(164 40 40/{share / 200:.3f})">'
            f"{f'{share:.0f}' if share >= 0.5 else ''}</td>"
            for other, share in enumerate(shares)
        )
        lines.append(f"<tr><td>{escape(named(result, step))}</td>{cells}<td>{total}</td></tr>")
    return (
        "<h3>Live labels, all others labelled: of the frames of a row's step, percent that were labelled as a column's"
        f'</h3><div class="scroll"><table class="confusion"><thead><tr><th>true</th>{head}<th>frames</th></tr></thead>'
        f"{''.join(lines)}</table></div>"
    )


def _failure(result: Result, failure: Failure) -> str:
    evidence = "".join(f"<li>{escape(words)}</li>" for words in failure.evidence)
    return (
        f'<h3>{escape(failure.title)}</h3><p>{escape(failure.recording)}</p><ul class="notes">{evidence}</ul>'
        f"{_pictures(result, failure)}{_bars(result, failure.recording)}"
    )


def _pictures(result: Result, failure: Failure) -> str:
    film = result.of.films.get(failure.recording)
    if film is None or not failure.shown:
        return ""
    taken = pictures_at(film, [one.at for one in failure.shown])
    return "".join(
        f'<figure><img alt="" src="data:image/jpeg;base64,{b64encode(taken[one.at]).decode("ascii")}">'
        f"<figcaption>{escape(one.caption)}, {one.at:.1f} s</figcaption></figure>"
        for one in failure.shown
    )


def _bars(result: Result, id_: str) -> str:
    if id_ not in result.live:
        return ""
    steps = result.of.task.steps
    rows = (("truth", result.truth[id_]), ("live", result.live[id_]))
    return "".join(
        f'<div class="row {name}"><span>{name}</span>{draw(labels, steps, f"{name} of {id_}")}<span></span></div>'
        for name, labels in rows
    )

"""The results as one HTML file that needs nothing else: tables, and bars of truth and findings for every recording."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Final

from guide.domain import Labels
from offline.study.evaluation.bars import coloured, draw, step_colours
from offline.study.evaluation.evaluation_report import EXPECTED, MEAN, ReportTable, headline
from offline.study.evaluation.methods import BLIND
from offline.study.evaluation.page_style import SCRIPT, STYLE
from offline.study.evaluation.run import MethodOutcome, TaskResult
from offline.study.evaluation.scoring import is_few
from offline.study.tables import FLOORS, HEADINGS, UNPRINTED, ResultTable, Row, Summary

UNSEEING: Final = (*BLIND, EXPECTED)
UNRANKED: Final = ("pairs",)  # how many steps were found, not how well
READ_ME: Final = (
    "Percent; ± is the standard deviation over seeds. <b>D</b>, our headline: one match of found to true key-steps "
    "over all recordings of a task, key-steps only; a step not found and a step too many both cost. <b>A</b>, the "
    "paper's: background matched like a step. <b>B</b>: a match of its own for every recording. <b>pooled</b>: frames "
    "of all key-steps together. <b>MoF</b>: frames right. <b>F1@n</b>: segments with an overlap of n %. <b>edit</b>: "
    "order of segments. <b>order</b>: pairs of found steps in the true order; <b>pairs</b>: true pairs of which both "
    "steps were found. Yellow rows see nothing of the recordings: a method that does not beat the equal time split has "
    "found nothing. <b>n labelled</b>: n recordings came with their true labels and are left out of the scores. "
    "The best of our rows without labels is underlined. Beside each bar: frames of the recording that are right; "
    "point at a bar, or tap it, to read what is done there.</p>"
    "<p>Finders: <b>uniform</b> cuts all recordings, laid end to end, into equal slices, <b>equal time split</b> each "
    "of them; <b>cte</b> learns the time and keeps to one order; after the name of a loss, on the embedding it "
    "trains: <b>hc</b> k-means, <b>ss</b> subset selection, <b>pcm</b> the paper's ProCut, <b>correspond</b> parts "
    "of recordings paired off, then ProCut's cut."
)


def make_page(results: Sequence[TaskResult], sheets: Sequence[ReportTable], command: str) -> str:
    """The whole page; every name in it is escaped."""
    parts = [_overview(sheets)]
    parts += [_section(number, result, _sheet_of(result, sheets)) for number, result in enumerate(results)]
    links = "".join(f'<a href="#t{n}">{escape(result.title)}</a>' for n, result in enumerate(results))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1"><title>Key-steps scored</title>'
        f"<style>{STYLE}</style></head><body><h1>Key-steps against the truth</h1>"
        f"<p><code>{escape(command)}</code></p><nav>{links}</nav><p>{READ_ME}</p>{''.join(parts)}"
        f'<p id="said" role="status" hidden></p>'
        f"<noscript><style>.row{{display:grid!important}}.choose{{display:none}}</style></noscript>"
        f"<script>{SCRIPT}</script></body></html>\n"
    )


def _overview(sheets: Sequence[ReportTable]) -> str:
    means = [sheet for sheet in sheets if sheet.word == MEAN]
    return "".join(f"<h2>{escape(each.table.title)}</h2>{_notes(each)}{draw_table(each.table)}" for each in means)


def _notes(sheet: ReportTable) -> str:
    return f'<ul class="notes">{"".join(f"<li>{escape(note)}</li>" for note in sheet.notes)}</ul>'


def _sheet_of(result: TaskResult, sheets: Sequence[ReportTable]) -> ReportTable:
    place = (result.task.word, str(result.count), result.task.view)
    return next(each for each in sheets if (each.word, each.count, each.view) == place)


def _section(number: int, result: TaskResult, sheet: ReportTable) -> str:
    colours = step_colours(list(result.task.steps))
    variables = "".join(f"--s{step}:{colour};--i{step}:{ink};" for step, (colour, ink) in colours.items())
    return (
        f'<section id="t{number}" style="{variables}"><h2>{escape(sheet.table.title)}</h2>'
        f"{_notes(sheet)}{draw_table(sheet.table)}<h3>Recordings, with the first seed</h3>"
        f"{_legend(result)}{_choice(result)}{_recordings(result)}</section>"
    )


def _legend(result: TaskResult) -> str:
    steps = "".join(
        f'<li><span class="swatch" style="background:var(--s{step});color:var(--i{step})">{step}</span>'
        f"{escape(name)}</li>"
        for step, name in result.task.steps.items()
    )
    others = (
        '<li><span class="swatch hatch"></span>background</li><li><span class="swatch" '
        'style="background:var(--none);color:#fff">+</span>a found step without a true partner</li>'
    )
    return f'<ul class="legend">{steps}{others}</ul>'


def _choice(result: TaskResult) -> str:
    usual = preselected_methods(result.outcomes)
    ticks = "".join(
        f'<label><input type="checkbox" value="{escape(name)}"{" checked" if name in usual else ""}> '
        f"{escape(FLOORS.get(name, name))}</label>"
        for name in (outcome.method.name for outcome in result.outcomes)
    )
    buttons = "".join(f'<button type="button" value="{value}">{value}</button>' for value in ("usual", "all", "none"))
    return f'<div class="choose">{ticks}<span>{buttons}</span></div>'


def preselected_methods(outcomes: Sequence[MethodOutcome]) -> set[str]:
    """The methods whose bars are shown at first: the equal split, and of each finder that looks its best loss."""
    best: dict[str, MethodOutcome] = {}
    for outcome in outcomes:
        rival = best.get(outcome.method.clusterer)
        if rival is None or headline(outcome) > headline(rival):
            best[outcome.method.clusterer] = outcome
    return {each.method.name for name, each in best.items() if name == "equal" or name not in BLIND}


def _recordings(result: TaskResult) -> str:
    task = result.task
    usual = preselected_methods(result.outcomes)
    found = [(outcome.method.name, coloured(task.truth, outcome.found)) for outcome in result.outcomes]
    parts = []
    for number, (recording, truth) in enumerate(zip(task.recordings, task.truth, strict=True)):
        rows = [_bar_row("truth", draw(truth, task.steps, f"truth of {recording.id}"), "right, %", "truth")]
        for name, labels in found:
            bar = draw(labels[number], task.steps, f"{name} on {recording.id}")
            rows.append(_bar_row(name, bar, f"{100 * _right(truth, labels[number]):.1f}", is_shown=name in usual))
        seconds = len(recording) / recording.rate
        marks = "".join(f"<span>{part * seconds / 4:.0f} s</span>" for part in range(5))
        ruler = f'<div class="row"><span></span><div class="ruler">{marks}</div><span></span></div>'
        parts.append(
            f'<div class="recording" data-seconds="{seconds:.1f}"><h3>{escape(recording.id)}</h3>'
            f"{''.join(rows)}{ruler}</div>"
        )
    return "".join(parts)


def _right(truth: Labels, labels: Labels) -> float:
    return float((truth == labels).mean()) if len(truth) else 0.0


def _bar_row(name: str, bar: str, figure: str, kind: str = "", is_shown: bool = True) -> str:
    hidden, shown = "" if is_shown else " hidden", FLOORS.get(name, name)
    return (
        f'<div class="row {kind}" data-method="{escape(name)}"{hidden}>'
        f'<span title="{escape(shown)}">{escape(shown)}</span>{bar}<span>{figure}</span></div>'
    )


def draw_table(table: ResultTable) -> str:
    """The table, its columns grouped by protocol; it scrolls where it is too wide."""
    best = _best(table)
    rows = "".join(_row(table, row, best if _is_ranked(row) else []) for row in table.ordered)
    return f'<div class="scroll"><table><thead>{_head(table)}</thead><tbody>{rows}</tbody></table></div>'


def _head(table: ResultTable) -> str:
    width = len(table.figures)
    groups = "".join(f'<th class="group first" colspan="{width}">{escape(each)}</th>' for each in table.protocols)
    if table.extras:
        groups += f'<th class="group first" colspan="{len(table.extras)}">after D\'s match</th>'
    names = [HEADINGS[figure] for _, figure in table.columns()] + list(table.extras)
    cells = "".join(f"<th{_first(table, place)}>{escape(name)}</th>" for place, name in enumerate(names))
    return f"<tr><th></th>{groups}</tr><tr><th>method</th>{cells}</tr>"


def _row(table: ResultTable, row: Row, best: list[float]) -> str:
    kind = "published" if row.note else "floor" if row.method in UNSEEING else ""
    cells = "".join(
        f"<td{_first(table, place, summary is not None and [summary.mean] == best[place : place + 1])}>"
        f"{_figure(summary)}</td>"
        for place, summary in enumerate(table.summaries(row))
    )
    return f'<tr class="{kind}"><td>{escape(row.title)}</td>{cells}</tr>'


def _figure(summary: Summary | None) -> str:
    """The mean, and the spread small below it: side by side the table would not fit a screen."""
    if summary is None:
        return UNPRINTED
    mean, _, spread = str(summary).partition(" ± ")
    return f"{mean}<small>± {spread}</small>" if spread else mean


def _first(table: ResultTable, place: int, is_best: bool = False) -> str:
    """The classes of a column's cells: a rule before each group, and the mark of the best."""
    protocols = len(table.columns())
    is_first = place % len(table.figures) == 0 if place < protocols else place == protocols
    classes = " ".join(name for name, holds in (("first", is_first), ("best", is_best)) if holds)
    return f' class="{classes}"' if classes else ""


def _best(table: ResultTable) -> list[float]:
    """The largest of our means without labels in every column; NaN where a larger one is no better."""
    ours = [table.summaries(row) for row in table.rows if _is_ranked(row)]
    best = [
        max((each.mean for each in column if each is not None and not math.isnan(each.mean)), default=math.nan)
        for column in zip(*ours, strict=True)
    ]
    names = table.headings()[1:]
    return [math.nan if name in UNRANKED else value for name, value in zip(names, best, strict=True)]


def _is_ranked(row: Row) -> bool:
    return not row.note and not is_few(row.method)

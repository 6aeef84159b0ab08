"""The timeline of a report as a drawing: a row a step, alerts above them, actions below."""

from __future__ import annotations

from html import escape
from typing import Final

from guide.record.session_report import SessionReport

COLOURS: Final = (
    "#5ea2ed", "#bcdb27", "#e8552c", "#fcb2c8", "#c958c2", "#48a260", "#49e6d7", "#a2828b", "#ee9e10", "#a8b79d",
    "#c69bf2", "#8a72f7", "#37d16c", "#ab8704", "#ff7ad2", "#3b9ca5", "#e17a92", "#bdcbe5", "#ebc487", "#92ac18",
)  # fmt: skip
"""Each as far from those before it as can be, all bright enough for dark letters; a step has one on every page."""
UNKNOWN_COLOUR: Final = "#1d2b30"
_LEFT, _RIGHT, _ROW, _WIDTH = 190, 20, 22, 1000
_LONGEST_NAME = 26
_TICKS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200)


def colour(step: int) -> str:
    """The colour of a step; unknown activity is dark.

    >>> colour(1), colour(9), colour(0)
    ('#5ea2ed', '#ee9e10', '#1d2b30')
    """
    return COLOURS[(step - 1) % len(COLOURS)] if step > 0 else UNKNOWN_COLOUR


def draw_timeline(report: SessionReport) -> str:
    """The drawing, an `svg` element."""
    rows = [*(step.number for step in report.steps)]
    rows += sorted({visit.step for visit in report.visits} - set(rows))
    top = 34
    bottom = top + _ROW * max(len(rows), 1)
    parts = [*_axis(report, top, bottom)]
    for number, step in enumerate(rows):
        parts += _row(report, step, top + _ROW * number)
    for story in report.alerts:
        words = f"{story.alert.kind.replace('_', ' ')}: {story.name}"
        parts.append(_alert(report, story.raised_at, story.alert.severity, words, bottom))
    for action in report.actions:
        place = f"M{_x(report, action.at):.1f} {bottom + 4} l4 8 h-8 z"
        parts.append(f'<path d="{place}" fill="#5c6f76"><title>{escape(action.kind.replace("_", " "))}</title></path>')
    height = bottom + 34
    return f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="timeline">{"".join(parts)}</svg>'


def _x(report: SessionReport, at: float) -> float:
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * min(max(at, 0.0) / max(report.length_s, 1e-9), 1.0)


def _axis(report: SessionReport, top: int, bottom: int) -> list[str]:
    step_s = next((tick for tick in _TICKS_S if report.length_s / tick <= 10), _TICKS_S[-1])
    parts = []
    for number in range(int(report.length_s // step_s) + 1):
        seconds = number * step_s
        x = _x(report, seconds)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top - 4}" y2="{bottom}" stroke="#e3e9ea"/>')
        words = f"{seconds // 60}:{seconds % 60:02d}"
        parts.append(f'<text x="{x:.1f}" y="{bottom + 28}" text-anchor="middle">{words}</text>')
    return parts


def _row(report: SessionReport, step: int, y: int) -> list[str]:
    name = report.name(step)
    short = name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
    label = f"{escape(short)}<title>{escape(name)}</title>"
    parts = [f'<text x="{_LEFT - 10}" y="{y + 15}" text-anchor="end">{label}</text>']
    for visit in report.visits:
        if visit.step == step:
            x, width = _x(report, visit.start), max(_x(report, visit.end) - _x(report, visit.start), 2.0)
            words = escape(f"{name}: {visit.seconds:.1f} s")
            parts.append(
                f'<rect x="{x:.1f}" y="{y + 3}" width="{width:.1f}" height="{_ROW - 6}" rx="3" fill="{colour(step)}">'
                f"<title>{words}</title></rect>"
            )
    return parts


def _alert(report: SessionReport, at: float, severity: str, words: str, bottom: int) -> str:
    x = _x(report, at)
    ink = {"alarm": "#b3261e", "warning": "#c98a00"}.get(severity, "#3b7ea1")
    mark = {"alarm": "✖", "warning": "▲"}.get(severity, "●")
    return (
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="22" y2="{bottom}" stroke="{ink}" stroke-dasharray="3 3"/>'
        f'<text x="{x:.1f}" y="18" text-anchor="middle" style="fill:{ink}">{mark}<title>{escape(words)}</title></text>'
    )

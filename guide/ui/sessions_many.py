"""Two sessions side by side, and figures over many."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from guide.procedure.wording import title_of
from guide.record.page import clock
from guide.record.session_report import SessionReport
from guide.ui import sessions_track
from guide.ui.state import sessions as state
from guide.ui.state import sessions_many as many
from guide.ui.state.folders import plain
from guide.ui.state.sessions import SessionRow
from guide.words import count_of

MOST_SESSIONS, MOST_BARS = 200, 20
LONGER = "second longer (+) or shorter (−)"
INK, SOFT, WARM = "#0f6e84", "#9fb0b6", "#d2792f"


def draw_comparison(folder: Path, found: Sequence[SessionRow]) -> None:
    """Time per step, order and alerts of two sessions."""
    if len(found) < 2:
        st.info("Two sessions are needed to compare: record another one, or widen the choice above.")
        return
    titles = {row.id: row.title for row in found}
    left, right = st.columns(2, gap="medium")
    first = left.selectbox("First", list(titles), index=1, format_func=titles.__getitem__, key="compare_first")
    second = right.selectbox("Second", list(titles), index=0, format_func=titles.__getitem__, key="compare_second")
    reports = state.read_reports(folder, (first, second))
    if len(reports) < 2:
        st.info("One of them was deleted meanwhile: choose another.")
        return
    _tell_difference(*reports)
    length_s = max(report.length_s for report in reports)
    for column, report, place in ((left, reports[0], "first"), (right, reports[1], "second")):
        with column:
            sessions_track.draw_strip(state.blocks(report), length_s, key=f"strip_{place}")
            _draw_alert_list(report)
    st.markdown("**Time per step, in seconds**")
    st.dataframe(
        [
            {
                "step": one.name,
                "first": _rounded(one.first_s),
                "second": _rounded(one.second_s),
                LONGER: _rounded(one.difference_s),
                "demonstrations, median": _rounded(one.usual_s),
            }
            for one in many.compare_steps(*reports)
        ],
        hide_index=True,
        height="content",
        placeholder="–",
        column_config={LONGER: st.column_config.NumberColumn(format="%+.1f")},
    )


def _tell_difference(first: SessionReport, second: SessionReport) -> None:
    if words := many.why_not_alike(first, second):
        st.warning(plain(words), icon=":material/warning:")
    orders = many.order_of(first), many.order_of(second)
    place = many.first_difference(*orders)
    if place is None:
        st.markdown(":material/check: Both did the steps in the same order.")
        return
    one, other = (order[place - 1] if place <= len(order) else "nothing more" for order in orders)
    st.markdown(plain(f"The orders differ at position {place}: {one} versus {other}."))


def _draw_alert_list(report: SessionReport) -> None:
    if not report.alerts:
        st.caption("No alert was raised.")
    for story in report.alerts:
        words = f"{clock(story.raised_at)} {title_of(story.alert.kind, story.name)} ({story.outcome})"
        st.caption(plain(words))


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 1)


def draw_counts(folder: Path, found: Sequence[SessionRow]) -> None:
    """Time per step against the demonstrations, and the deviations by what they have in common."""
    everything, found = found, many.whole(found)
    if not found:
        st.info("All of these sessions were cut off: there is nothing to count.")
        return
    bundles = sorted({row.bundle_name for row in found})
    bundle = st.selectbox("Procedure to count", bundles, key="count_bundle") if len(bundles) > 1 else bundles[0]
    chosen = tuple(row.id for row in found if row.bundle_name == bundle)[:MOST_SESSIONS]
    reports = _reports(str(folder), chosen, tuple(row.state + str(row.length_s) for row in found))
    cut = sum(row.bundle_name == bundle for row in everything) - sum(row.bundle_name == bundle for row in found)
    left_out = f"; {cut} cut off, not counted" if cut else ""
    st.caption(plain(f"{count_of(len(reports), 'session')} with {bundle}{_limit(len(chosen))}{left_out}"))
    _draw_durations(reports)
    _draw_pareto(reports)


def _limit(count: int) -> str:
    return "" if count < MOST_SESSIONS else f", the newest {MOST_SESSIONS}"


@st.cache_resource(max_entries=4, show_spinner="Counting …")
def _reports(folder: str, names: tuple[str, ...], stamp: tuple[str, ...]) -> tuple[SessionReport, ...]:
    """The reports, read anew when one of the sessions went on."""
    return state.read_reports(Path(folder), names)


def _draw_durations(reports: Sequence[SessionReport]) -> None:
    st.markdown(
        "**Time per step:** bar and tick are the demonstrations (80 % of them, and the median), dots are these sessions"
    )
    times = many.step_times(reports)
    if not times:
        st.caption("No step was done in these sessions.")
        return
    order = [one.label for one in times]
    step = {"field": "step", "type": "nominal", "sort": order, "title": None, "axis": {"labelLimit": 220}}
    seconds = {"type": "quantitative", "title": "seconds", "axis": {"tickMinStep": 1, "format": "d"}}
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "bar", "color": SOFT, "height": 12, "cornerRadius": 3},
            "encoding": {"y": step, "x": {**seconds, "field": "low"}, "x2": {"field": "high"}},
        },
        {
            "mark": {"type": "tick", "color": "#5c6f76", "thickness": 3, "height": 18},
            "encoding": {"y": step, "x": {**seconds, "field": "half"}},
        },
        {
            "mark": {"type": "point", "filled": True, "color": WARM, "size": 60, "opacity": 0.8},
            "encoding": {"y": step, "x": {**seconds, "field": "seconds"}, "tooltip": [{"field": "seconds"}]},
        },
    ]
    _chart(many.duration_rows(times), layers, 70 + 34 * len(order))


def _draw_pareto(reports: Sequence[SessionReport]) -> None:
    st.markdown("**Deviations, the most frequent first:** how many, and which share of all they make up")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        by = st.segmented_control("By", many.DEVIATION_BY, default="step", required=True, key="count_by") or "step"
        with_withdrawn = st.toggle("Count withdrawn alerts too", key="count_withdrawn")
    bars = many.pareto(reports, by, with_withdrawn)
    if not bars:
        st.caption("There is no open alert in these sessions.")
        return
    rows = [
        {"what": bar.name, "count": bar.count, "words": _share_words(bar, place)}
        for place, bar in enumerate(bars[:MOST_BARS])
    ]
    what = {"field": "what", "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": 220}}
    count = {
        "field": "count",
        "type": "quantitative",
        "title": "alerts",
        "axis": {"tickMinStep": 1, "format": "d"},
        "scale": {"domainMax": 1.4 * bars[0].count},
    }
    layers: list[dict[str, Any]] = [
        {"mark": {"type": "bar", "color": INK, "height": 18}, "encoding": {"y": what, "x": count}},
        {
            "mark": {"type": "text", "align": "left", "dx": 6, "color": "#7b9097"},
            "encoding": {"y": what, "x": count, "text": {"field": "words"}},
        },
    ]
    _chart(rows, layers, 90 + 34 * len(rows))


def _share_words(bar: many.ParetoBar, place: int) -> str:
    """How many, and which share of all they and those above make up."""
    return f"{bar.count} ({100 * bar.cumulative:.0f} %{' with those above' if place else ''})"


def _chart(rows: list[dict[str, Any]], layers: list[dict[str, Any]], height: int) -> None:
    """A chart of our own figures; names are drawn as text."""
    st.vega_lite_chart(spec={"data": {"values": rows}, "layer": layers, "height": height}, width="stretch")

"""The order on the Review page: which step comes before which in how many recordings, and what of it is watched."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from guide.teach.edits import Edit, Switch
from guide.ui.review_bundle import ReviewedBundle
from guide.ui.state import review as state
from guide.ui.state.review import PairRow


def draw(opened: ReviewedBundle) -> None:
    """Draws the graph and the pairs."""
    rows = state.pairs(opened.bundle, opened.review)
    st.markdown("**What comes before what**, and in how many of the recordings that hold both steps")
    if not rows:
        st.caption("Any order was seen: no step always came before another.")
        return
    st.graphviz_chart(state.graph(opened.review), width="stretch", alt="which step comes before which")
    st.markdown("Take the mark away where the order does not matter: nobody is told about it any more.")
    key = f"review_pairs_{opened.name}_{len(opened.review.edits)}"
    st.data_editor(
        [
            {
                "watched": row.is_watched,
                "first": row.first_label,
                "then": row.then_label,
                "seen so": f"{row.support} of {row.total}",
                "when broken": row.when_broken,
            }
            for row in rows
        ],
        disabled=["first", "then", "seen so", "when broken"],
        hide_index=True,
        width="stretch",
        key=key,
        on_change=_switch,
        args=(opened, rows, key),
    )
    _draw_reasons(opened)


def _draw_reasons(opened: ReviewedBundle) -> None:
    rules = state.reasons(opened.bundle, opened.review)
    if rules:
        with st.expander("Why each rule alarms, asks or is silent"):
            table = [{"rule": one.rule, "it": one.verdict, "why": one.reason} for one in rules]
            st.dataframe(table, hide_index=True, width="stretch")


def _switch(opened: ReviewedBundle, rows: Sequence[PairRow], key: str) -> None:
    """Switches the pairs whose mark was changed: the table keeps what was typed by the number of the row."""
    typed = st.session_state[key]["edited_rows"]
    changed: list[Edit] = [
        Switch(rows[place].first, rows[place].then, bool(line["watched"]))
        for place, line in typed.items()
        if bool(line.get("watched", rows[place].is_watched)) != rows[place].is_watched
    ]
    if changed:
        opened.add(*changed)

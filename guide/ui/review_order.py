"""The order on the Review page: which step comes before which in how many recordings, and what of it is watched."""

from __future__ import annotations

import streamlit as st

from guide.teach.edits import Edit, Switch
from guide.ui.review_desk import Opened
from guide.ui.state import review as state


def draw(opened: Opened) -> None:
    """Draws the graph and the pairs."""
    rows = state.pairs(opened.bundle, opened.review)
    st.markdown("**What comes before what**, and in how many of the recordings that hold both steps")
    if not rows:
        st.caption("Any order was seen: no step always came before another.")
        return
    st.graphviz_chart(state.graph(opened.review), width="stretch", alt="which step comes before which")
    st.markdown("Take the mark away where the order does not matter: nobody is told about it any more.")
    edited = st.data_editor(
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
        key=f"review_pairs_{opened.name}_{len(opened.review.edits)}",
    )
    changed: list[Edit] = [
        Switch(row.first, row.then, bool(line["watched"]))
        for row, line in zip(rows, edited, strict=True)
        if bool(line["watched"]) != row.is_watched
    ]
    if changed:
        opened.add(*changed)
        st.rerun()

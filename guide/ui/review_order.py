"""The order on the Review page: which step comes before which in how many recordings, and what of it is watched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from guide.errors import InputError
from guide.procedure.given_rules import Stance, read_rule
from guide.procedure.model import GivenRule
from guide.teach.edits import Edit, Give, edit_of
from guide.ui.review_bundle import ReviewedBundle
from guide.ui.state import review as state
from guide.ui.state.folders import plain
from guide.ui.state.review import PairRow

STANCES: Mapping[str, Stance] = {"This holds": "add", "The opposite holds": "forbid", "Say nothing of it": "relax"}
FORMS: Mapping[str, str] = {
    "comes before": "{0} before {1}", "needs, before it is begun,": "{0} needs {1}", "or else": "{0} or {1}",
    "may be left out": "optional {0}",
}  # fmt: skip


def draw(opened: ReviewedBundle) -> None:
    """Draws the graph, the pairs and the rules that were given."""
    _draw_learned(opened)
    _draw_given(opened)


def _draw_learned(opened: ReviewedBundle) -> None:
    rows = state.pairs(opened.bundle, opened.review)
    st.markdown("**What comes before what**, and in how many of the recordings that hold both steps")
    if not rows:
        st.caption("Any order was seen: no step always came before another.")
        return
    st.graphviz_chart(state.graph(opened.review), width="stretch", alt="which step comes before which")
    st.markdown("Remove the mark where the order does not matter: then it raises no alert any more.")
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
        Give(GivenRule("before", (rows[place].first, rows[place].then), holds=False), not line["watched"])
        for place, line in typed.items()
        if bool(line.get("watched", rows[place].is_watched)) != rows[place].is_watched
    ]
    if changed:
        opened.add(*changed)


def _draw_given(opened: ReviewedBundle) -> None:
    """The rules that a person gave, and a form to give another."""
    st.markdown("**Rules of your own** outrank what was learned, and their alerts say so")
    for words, rule in state.given_rows(opened.review):
        left, right = st.columns([5, 1], vertical_alignment="center")
        left.markdown(f":material/gavel: {plain(words)}")
        if right.button("Take back", key=f"take_{opened.name}_{rule.about}") and opened.add(Give(rule, False)):
            st.rerun()
    names = {state.label(step): str(step.number) for step in opened.review.result.steps}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        first = st.selectbox("Step", [*names], key="review_rule_first")
        form = st.selectbox("Rule", [*FORMS], key="review_rule_form")
        then = st.selectbox("Other step", [*names], index=min(1, len(names) - 1), key="review_rule_then")
        stance = st.selectbox("Which", [*STANCES], key="review_rule_stance")
        if st.button("Give this rule", icon=":material/gavel:"):
            _give(opened, FORMS[form].format(names[first], names[then]), STANCES[stance])


def _give(opened: ReviewedBundle, text: str, stance: Stance) -> None:
    try:
        opened.add(*(edit_of(rule) for rule in read_rule(text, stance, opened.review.result.steps)))
    except InputError as error:
        st.session_state["review_problem"] = str(error)
    st.rerun()

"""The page of the learned procedures: each bundle's steps with pictures, its orders, and how it was learned."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from guide.errors import GuideError
from guide.teach.review_store import ReviewStore
from guide.ui import quality
from guide.ui.review_bundle import video_places
from guide.ui.shell import badge, go_to, tell_no_procedure
from guide.ui.state import bundles as state
from guide.ui.state.bundles import BundleView, DamagedBundle, OrderingView, StepView
from guide.ui.state.folders import exported_folder, list_bundles, plain, stamp
from guide.ui.uploads import clean_name

CARDS_A_ROW = 4
MOST_ORDERINGS = 12
KEPT_VIEWS = 32
THUMBNAIL_PX = 48  # three stand side by side in a card at 1280 pixels


def page() -> None:
    """Draws the page for the folder that the environment names."""
    draw(exported_folder(os.environ))


def draw(exported: Path) -> None:
    """Draws the bundles that lie in `exported`."""
    views = [_view(str(folder), stamp(folder)) for folder in list_bundles(exported)]
    sound = [view for view in views if isinstance(view, BundleView)]
    damaged = [view for view in views if isinstance(view, DamagedBundle)]
    st.header("Learned procedures")
    for one in damaged:
        st.warning(f"**{plain(one.name)}** cannot be used: {plain(one.problem)}", icon=":material/warning:")
    if problem := st.session_state.pop("bundles_problem", None):
        st.error(plain(str(problem)), icon=":material/error:")
    if not sound:
        tell_no_procedure(exported, is_damaged=bool(damaged))
    else:
        _draw_bundle(_choose(sound))


@st.cache_resource(max_entries=KEPT_VIEWS, show_spinner=False)
def _view(folder: str, stamped: tuple[tuple[str, int, int], ...]) -> BundleView | DamagedBundle:
    """The view of a bundle, made anew when one of its files changed: checking it reads them all."""
    return state.view_bundle(Path(folder))


def _choose(sound: Sequence[BundleView]) -> BundleView:
    names = [view.name for view in sound]
    if st.session_state.get("bundles_chosen") not in names:
        st.session_state["bundles_chosen"] = names[0]
    name = st.selectbox("Procedure", names, key="bundles_chosen", label_visibility="collapsed", width=420)
    return sound[names.index(name)]


def _draw_bundle(view: BundleView) -> None:
    st.markdown(plain(view.summary))
    with st.container(horizontal=True):
        if st.button("Guide someone with it", type="primary", icon=":material/play_circle:", help="On the page Live."):
            go_to("", {"new": "1"}, live_bundle=view.name)
        if st.button("Review it", icon=":material/edit_note:", help="Names, labels, order and versions."):
            go_to("review", review_bundle=view.folder)
        _draw_rename(view)
        _draw_delete(view)
    for note in view.notes:
        st.info(plain(note), icon=":material/info:")
    steps, orders, good, training = st.tabs(["Steps", "Orders", "Quality", "How it was learned"])
    with steps:
        _draw_steps(view.steps)
    with orders:
        _draw_orders(view)
    with good:
        quality.draw(view, is_asked=False)
    with training:
        _draw_facts(view)
        st.markdown("Guide someone with it in a terminal:")
        st.code(view.watch, language=None, wrap_lines=True)


def _draw_rename(view: BundleView) -> None:
    with st.popover("Rename", icon=":material/edit:"):
        key = f"bundles_rename_{view.name}"
        st.text_input("New name", value=view.name, key=key, max_chars=80)
        st.caption("Sessions that were recorded keep the old name.")
        st.button("Rename it", on_click=_rename, args=(view.folder, key))


def _rename(folder: Path, key: str) -> None:
    try:
        name = clean_name(str(st.session_state[key]))
        places = video_places(ReviewStore(folder))
        place = state.rename_bundle(folder, name, next((one for one in places if one.is_dir()), None))
        st.session_state["bundles_chosen"] = place.name
    except GuideError as error:
        st.session_state["bundles_problem"] = str(error)


def _draw_delete(view: BundleView) -> None:
    with st.popover("Delete", icon=":material/delete:", help="Recordings and sessions stay; you are asked once more."):
        st.markdown(
            f"{plain(view.name)}, its kept versions and the labels given on Review will be gone for good. "
            "Recordings and sessions stay."
        )
        st.button("Yes, delete it", key=f"bundles_delete_{view.name}", on_click=_delete, args=(view.folder,))


def _delete(folder: Path) -> None:
    try:
        state.delete_bundle(folder)
    except GuideError as error:
        st.session_state["bundles_problem"] = str(error)


def _draw_steps(steps: Sequence[StepView]) -> None:
    for first in range(0, len(steps), CARDS_A_ROW):
        columns = st.columns(CARDS_A_ROW)
        for column, step in zip(columns, steps[first : first + CARDS_A_ROW], strict=False):
            with column.container(border=True, height="stretch"):
                _draw_step(step)


def _draw_step(step: StepView) -> None:
    st.html(_badge(step))
    if step.stills:
        st.image(step.stills[0], width="stretch", alt=f"{step.label}, as it was done")
        with st.container(horizontal=True, gap="xsmall"):
            for still in step.stills[1:]:
                st.image(still, width=THUMBNAIL_PX, alt=f"{step.label}, another time")
    else:
        st.caption("no pictures")
    st.caption("  \n".join(plain(line) for line in (step.seen, step.lasts) if line))
    if step.marks:
        st.caption(f":material/info: {plain(' and '.join(step.marks))}", help=plain(step.reason) or None)


def _draw_orders(view: BundleView) -> None:
    st.markdown("**Orders seen, and in how many demonstrations**")
    if not view.orderings:
        st.caption("No order was seen: the demonstrations hold no key-step.")
    for ordering in view.orderings[:MOST_ORDERINGS]:
        _draw_ordering(ordering)
    if len(view.orderings) > MOST_ORDERINGS:
        st.caption(f"and {len(view.orderings) - MOST_ORDERINGS} more")
    st.markdown("**What comes before what**")
    if not view.edges:
        st.caption("Any order was seen: no step always came before another.")
        return
    st.graphviz_chart(view.graph, width="stretch", alt="which step comes before which")
    st.dataframe(
        [
            {
                "first": edge.first,
                "then": edge.then,
                "seen so": edge.seen_so,
                "when broken": edge.when_broken,
            }
            for edge in view.edges
        ],
        hide_index=True,
    )


def _draw_ordering(ordering: OrderingView) -> None:
    order = " → ".join(_badge(step) for step in ordering.steps)
    st.html(f'<div class="guide-order"><b>{ordering.count:d} ×</b> {order}</div>')


def _draw_facts(view: BundleView) -> None:
    rows = [f"| **{plain(name)}** | {plain(value)} |" for name, value in view.facts]
    st.markdown("\n".join(["| What | How |", "|---|---|", *rows]))


def _badge(step: StepView) -> str:
    return badge(step.label, step.colour)

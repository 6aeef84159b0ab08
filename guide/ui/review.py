"""The page for correcting what was learned: names, merges, labels, order; learned again, tried, made live."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import streamlit as st

from guide.errors import GuideError
from guide.teach.edits import tell
from guide.teach.progress import Tell
from guide.teach.relearn import is_quick, version_of
from guide.ui import review_label, review_order, review_steps, review_try, review_versions
from guide.ui.background_job import PROGRESS_S, background_jobs, draw_progress, start_job
from guide.ui.review_bundle import ReviewedBundle, open_bundle, teach
from guide.ui.shell import tell_no_procedure
from guide.ui.state import review as state
from guide.ui.state.folders import exported_folder, list_bundles, plain
from guide.ui.state.review import LABEL, STEPS

ORDER, VERSIONS = "Order", "Versions and training"
SHOWN_EDITS = 4


def page() -> None:
    """Draws the page for the folder that the environment names."""
    draw(exported_folder(os.environ))


def draw(exported: Path) -> None:
    """Draws the page for the bundles that lie in `exported`."""
    st.header("Review a procedure")
    folders = list_bundles(exported)
    if not folders:
        tell_no_procedure(exported)
        return
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    with left:
        chosen = st.selectbox(
            "Procedure",
            folders,
            format_func=lambda folder: folder.name,
            key="review_bundle",
            label_visibility="collapsed",
        )
    try:
        opened = open_bundle(chosen)
    except (GuideError, OSError) as error:
        st.warning(f"**{plain(chosen.name)}** cannot be reviewed: {plain(str(error))}", icon=":material/warning:")
        return
    with right:
        st.session_state.setdefault("review_part", STEPS)
        part = st.segmented_control(
            "Part",
            [STEPS, LABEL, ORDER, VERSIONS],
            required=True,
            key="review_part",
            label_visibility="collapsed",
        )
    with st.container(key="waiting"):
        _draw_waiting(opened)
    if part != LABEL:
        _warn(opened)
    {STEPS: review_steps.draw, LABEL: review_label.draw, ORDER: review_order.draw, VERSIONS: review_versions.draw}[
        part or STEPS
    ](opened)
    if part == LABEL:  # below the line of steps, which must not move while somebody works on it
        _warn(opened)


def _draw_waiting(opened: ReviewedBundle) -> None:
    """What was changed and waits, and the way to make it live."""
    if problem := st.session_state.pop("review_problem", None):
        st.error(plain(str(problem)), icon=":material/error:")
    done = st.session_state.pop("review_done", None)
    if done:
        st.success(plain(str(done)), icon=":material/check_circle:")
    review = opened.review
    if not review.edits:
        if not done:
            st.caption(f"Version {opened.store.number_of(opened.bundle)} is live. Nothing is changed until you say so.")
        return
    is_learning = _is_learning(opened)
    draft = opened.store.read_draft()
    with st.container(border=True, key="edits"):
        with st.container(horizontal=True, vertical_alignment="center"):
            _tell_edits(opened)
            if not is_learning:  # the buttons stay side by side, however long the words are
                with st.container(horizontal=True, width="content"):
                    _draw_buttons(opened, is_learned=draft is not None)
        if is_learning:
            st.fragment(draw_progress, run_every=PROGRESS_S)(_learning(opened), "Learning the steps anew")
        elif draft is not None:
            review_try.draw(opened, draft, lambda: _publish(opened))


def _warn(opened: ReviewedBundle) -> None:
    for warning in state.warnings(opened.review):
        st.warning(plain(warning), icon=":material/warning:")


def _tell_edits(opened: ReviewedBundle) -> None:
    edits = opened.review.edits
    lines = [tell(edit, opened.review.names_before(place)) for place, edit in enumerate(edits)]
    earlier = len(lines) - SHOWN_EDITS
    shown = ([f"{earlier} earlier"] if earlier > 0 else []) + lines[-SHOWN_EDITS:]
    count = f"{len(edits)} change{'' if len(edits) == 1 else 's'} not live yet"
    st.markdown(f"**{count}:** " + "; ".join(plain(line) for line in shown), width="stretch")


def _draw_buttons(opened: ReviewedBundle, is_learned: bool) -> None:
    """What can be done before it is learned; after that it is tried, and what makes it live stands there.

    In the place of these it would be met by the second click of an impatient hand.
    """
    is_quickly_done = is_quick(opened.review.edits)
    st.button("Undo the last", icon=":material/undo:", help="Takes the last change back.", on_click=opened.undo)
    if is_learned:
        return
    kept = "Sessions that begin from now on use it; the version that is live now is kept."
    if is_quickly_done and st.button("Make it live", icon=":material/play_arrow:", type="primary", help=kept):
        _attempt(opened, goes_live=True)
    words = "Try it first" if is_quickly_done else "Learn the changes"
    kind: Literal["primary", "secondary"] = "secondary" if is_quickly_done else "primary"
    if st.button(words, icon=":material/model_training:", type=kind, help="What is live stays so meanwhile."):
        _attempt(opened, goes_live=False)


def _attempt(opened: ReviewedBundle, goes_live: bool) -> None:
    """Names and marks alone are taken over at once; all else is learned beside the page."""
    if not is_quick(opened.review.edits):
        start_job(_learning(opened), lambda tell: _learned(opened, tell), len(opened.review.edits))
        st.rerun()
    try:
        with st.spinner("Taking it over"):
            teach(opened)
    except (GuideError, OSError) as error:
        st.session_state["review_problem"] = str(error)
    else:
        if goes_live:
            _publish(opened)
    st.rerun()


def _learning(opened: ReviewedBundle) -> str:
    return f"learning_{opened.store.bundle}"


def _learned(opened: ReviewedBundle, tell: Tell) -> str:
    teach(opened, tell)
    return ""


def _is_learning(opened: ReviewedBundle) -> bool:
    """Whether the steps are being learned anew; what went wrong with it is told once."""
    job = background_jobs().get(_learning(opened))
    if job is None or job.state == "running":
        return job is not None
    background_jobs().pop(_learning(opened), None)
    if job.problem:
        st.error(plain(job.problem), icon=":material/error:")
    return False


def _publish(opened: ReviewedBundle) -> None:
    try:
        live = opened.store.publish()
        st.session_state["review_done"] = (
            f"Version {version_of(live)} is live. Sessions that begin from now on use it; the one before is kept."
        )
    except (GuideError, OSError) as error:
        st.session_state["review_problem"] = str(error)
    st.rerun()

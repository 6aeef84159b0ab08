"""Versions on the Review page: what was live before and can be again; and training the embedder from the labels."""

from __future__ import annotations

import time
from pathlib import Path

import streamlit as st

from guide.bundle import fingerprint
from guide.errors import GuideError
from guide.teach.edited import segments_of
from guide.teach.relearn import told_of
from guide.ui.review_bundle import ReviewedBundle, training_jobs
from guide.ui.state.folders import plain
from guide.ui.training import HOW_TO_INSTALL, TrainingRequest, missing_packages

LOG_LINES = 12


def draw(opened: ReviewedBundle) -> None:
    """Draws the versions and the training."""
    versions, training = st.columns(2, gap="large")
    with versions:
        _draw_versions(opened)
    with training:
        _draw_training(opened)


def _draw_versions(opened: ReviewedBundle) -> None:
    st.markdown("**Versions**")
    live = fingerprint(opened.bundle)
    told = told_of(opened.bundle)
    with st.container(border=True):
        st.markdown(f":material/play_circle: **Version {opened.store.number_of(opened.bundle)}, live now**")
        st.caption(plain("; ".join(told) if told else "as it was learned"))
    kept = [version for version in opened.store.versions() if version.fingerprint != live]
    if not kept:
        st.caption("No other version is kept yet: when you make changes live, the one before stays here.")
    for version in kept:
        with st.container(border=True):
            st.markdown(f"Version {version.number}, kept since {_day(version.folder)}")
            st.caption(plain("; ".join(version.told) if version.told else "as it was learned"))
            if st.button(
                "Make it live again", key=f"review_restore_{version.number}", icon=":material/history:",
                help="The version that is live now is kept.",
            ):  # fmt: skip
                _restore(opened, version.number)


def _day(folder: Path) -> str:
    """When a version was put aside, by this machine's clock."""
    return time.strftime("%d %B %Y, %H:%M", time.localtime(folder.stat().st_mtime))


def _restore(opened: ReviewedBundle, number: int) -> None:
    try:
        opened.store.restore(number)
        st.session_state["review_done"] = f"Version {number} is live again; the one before is kept."
    except (GuideError, OSError) as error:
        st.session_state["review_problem"] = str(error)
    st.rerun()


def _draw_training(opened: ReviewedBundle) -> None:
    st.markdown("**Train the network again, from your labels**")
    st.caption(
        "When steps are learned again, the network that looks at the pictures stays as it is. Training it with your "
        "labels takes longer and may recognise more; it continues when you close this page."
    )
    if lacks := missing_packages():
        st.info(f"Training needs {plain(' and '.join(lacks))}, which this installation lacks. In a terminal:")
        st.code(HOW_TO_INSTALL, language=None, wrap_lines=True)
        return
    labelled = opened.review.start.labelled
    if not labelled:
        st.info("No recording is labelled yet: label one, make that live, then train.")
        return
    if len(opened.videos) < len(opened.review.demonstrations.items):
        st.info("Not all videos of the demonstrations were found: say on the Steps part where they are.")
        return
    if st.button("Train again", icon=":material/model_training:"):
        _start(opened)
    _draw_job(opened)


def _start(opened: ReviewedBundle) -> None:
    names = opened.review.start.names
    segments = segments_of(opened.review.start, opened.review.demonstrations)
    items = opened.review.demonstrations.items
    try:
        for place in opened.review.start.labelled:
            opened.store.keep_labels(items[place].id, segments[place], names)
        opened.store.keep_live()
        inputs = tuple(str(opened.videos[one.id]) for one in items)
        training_jobs(opened.store).start(TrainingRequest(opened.name, inputs, labels=str(opened.store.labels)))
    except (GuideError, OSError) as error:
        st.session_state["review_problem"] = str(error)
    st.rerun()


@st.fragment(run_every=2.0)
def _draw_job(opened: ReviewedBundle) -> None:
    job = training_jobs(opened.store).read(opened.name)
    if job is None:
        return
    words = {"running": "Training runs", "finished": "Training has ended: the new version is live"}
    st.markdown(words.get(job.state, f"Training was {job.state}") + ".")
    st.code("\n".join(job.said.splitlines()[-LOG_LINES:]) or "…", language=None, wrap_lines=True)

"""What a training found: doubts first, then the steps with pictures, then how well the recordings match."""

from __future__ import annotations

from html import escape
from pathlib import Path

import streamlit as st

from guide.ui import learn_progress, quality
from guide.ui.shell import badge, go_to
from guide.ui.state import learn as state
from guide.ui.state.bundles import DamagedBundle, StepView
from guide.ui.state.folders import plain, stamp
from guide.ui.state.learn import ResultView
from guide.ui.state.review import STEPS
from guide.ui.training import TrainingJob, TrainingJobs

KEPT_VIEWS = 8
STILL_PX = 132  # four stand side by side in half a page at 1280 pixels
CARDS_A_ROW = 2
MOST_WARNINGS = 12
FIGURES = ("this procedure", "equal parts", "random")
CAPTIONS = {
    "alignment": "Two recordings against each other: a bright band from corner to corner means that they match.",
    "embedding": "Every frame as a dot, dark at the start of its recording and bright at its end: a ribbon is good.",
}


def draw(trainings: TrainingJobs, job: TrainingJob) -> None:
    """The result of a training that has finished."""
    folder = trainings.exported / job.name
    view = _view(str(folder), stamp(folder))
    if isinstance(view, DamagedBundle):
        st.error(f"What was learned cannot be used: {plain(view.problem)}", icon=":material/error:")
        learn_progress.draw_details(job)
        return
    st.success(
        f"**{plain(view.bundle.name)}** is learned: {plain(view.bundle.summary)}.", icon=":material/check_circle:"
    )
    is_named = all(step.is_named for step in view.bundle.steps)
    with st.container(horizontal=True):
        if st.button(
            "Name the steps", type="secondary" if is_named else "primary", icon=":material/edit_note:",
            help="On the page Review, from pictures of each step.",
        ):  # fmt: skip
            go_to("review", review_bundle=folder, review_part=STEPS)
        if st.button(
            "Guide someone with it", type="primary" if is_named else "secondary", icon=":material/play_circle:",
            help="On the page Live.",
        ):  # fmt: skip
            go_to("", {"new": "1"}, live_bundle=folder.name)
    quality.draw(view.bundle, is_asked=True)
    if view.warnings:
        shown = "  \n".join(plain(words) for words in view.warnings[:MOST_WARNINGS])
        st.warning(shown, icon=":material/warning:")
    for note in view.bundle.notes:
        st.info(plain(note), icon=":material/info:")
    _draw_scores(job)
    steps, fit = st.tabs(["Steps found", "How well the recordings match"])
    with steps:
        for first in range(0, len(view.bundle.steps), CARDS_A_ROW):
            pair = view.bundle.steps[first : first + CARDS_A_ROW]
            for column, step in zip(st.columns(CARDS_A_ROW), pair, strict=False):
                with column.container(border=True, height="stretch"):
                    _draw_step(step)
    with fit:
        _draw_pictures(view)
    learn_progress.draw_details(job)


@st.cache_resource(max_entries=KEPT_VIEWS, show_spinner="Reading what was learned …")
def _view(folder: str, stamped: tuple[tuple[str, int, int], ...]) -> ResultView | DamagedBundle:
    return state.view_result(Path(folder))


def _draw_scores(job: TrainingJob) -> None:
    scores = state.view_scores(job)
    if scores is None:
        return
    if isinstance(scores, str):
        st.warning(f"It could not be compared with the labels: {plain(scores)}", icon=":material/warning:")
        return
    figures = ", ".join(f"{name} {100 * value:.0f} %" for name, value in zip(FIGURES, scores.values, strict=True))
    words = f"{scores.words} Score (F1): {figures}."
    if scores.is_good:
        st.info(plain(words), icon=":material/check:")
    else:
        st.warning(plain(words), icon=":material/warning:")


def _draw_step(step: StepView) -> None:
    facts = [line for line in (step.seen, step.lasts, ", ".join(step.marks)) if line]
    st.html(f"{badge(step.label, step.colour)} <small>{escape(', '.join(facts))}</small>")
    with st.container(horizontal=True, gap="xsmall"):
        for still in step.stills:
            st.image(still, width=STILL_PX, alt=f"{step.label}, as it was done")
        if not step.stills:
            st.caption("no pictures: it was learned from features")


def _draw_pictures(view: ResultView) -> None:
    if not view.pictures:
        st.caption("This procedure holds no pictures of its training.")
    for column, (name, data) in zip(st.columns(max(len(view.pictures), 1)), view.pictures, strict=False):
        column.image(data, width="stretch", caption=CAPTIONS[name], alt=CAPTIONS[name])

"""How a training stands: stages, rate, time left and the loss curve while it runs; why it stopped when it has."""

from __future__ import annotations

import time
from collections.abc import Sequence

import streamlit as st

from guide.errors import GuideError
from guide.ui.state import learn as state
from guide.ui.state.folders import plain
from guide.ui.state.learn import LossPoint, ProgressView
from guide.ui.training import TrainingJob, TrainingJobs

EVERY_S = 1.0
LOG_LINES = 200
INKS = ("#2389a3", "#d2792f")  # seen on a light page and on a dark one
DONE, NOW, LATER = ":material/check_circle:", ":material/pending:", ":material/radio_button_unchecked:"


@st.fragment(run_every=EVERY_S)
def draw_running(trainings: TrainingJobs, name: str) -> None:
    """The stages of a training that runs, drawn anew every second; the whole page once it has ended."""
    job = trainings.read(name)
    if job is None or job.state != "running":
        st.rerun()
    view = state.view_progress(job)
    stages, curve = st.columns([2, 3], gap="large")
    with stages:
        _draw_stages(view)
        left_s = state.left_s(job, trainings.find(), time.time())
        left = "" if left_s is None else f", about {span(left_s)} left in all"
        st.caption(f"Running for {span(time.time() - job.started)}{left}. You may close this page: learning continues.")
        words = "Stopping …" if job.is_stopping else "Stop"
        st.button(
            words,
            key="learn_stop",
            icon=":material/stop:",
            disabled=job.is_stopping,
            help="What is done is kept.",
            on_click=trainings.cancel,
            args=(name,),
        )
    with curve:
        _draw_curve(view.points)


def _draw_stages(view: ProgressView) -> None:
    for place, stage in enumerate(state.STAGES):
        mark = DONE if place < view.stage else NOW if place == view.stage else LATER
        st.markdown(f"{mark} **{stage}**" if place == view.stage else f"{mark} {stage}")
        if place == view.stage:
            left = f"{view.left} left" if view.left else ""
            words = ", ".join(part for part in (left, view.words) if part)
            if view.share is not None:
                st.progress(view.share, text=plain(f"{100 * view.share:.0f} %{', ' if words else ''}{words}"))
            elif words:
                st.caption(plain(words))


def _draw_curve(points: Sequence[LossPoint]) -> None:
    st.markdown("**How well the recordings match (loss: lower is better)**")
    if len(points) < 2:
        st.caption("The curve begins with training. It should fall, then flatten.")
        return
    table = [
        {"round": point.iteration, "training": point.training, "held-out frames": point.held_out} for point in points
    ]
    st.line_chart(table, x="round", y=["training", "held-out frames"], color=list(INKS), y_label="loss", height=300)


def draw_ended(trainings: TrainingJobs, job: TrainingJob) -> None:
    """A training that has not finished: why, its curve so far, and a way to go on."""
    words = plain(state.why_it_ended(job))
    if job.state == "failed":
        st.error(words, icon=":material/error:")
    else:
        st.info(words, icon=":material/pause_circle:")
    again = "Try again" if job.state == "failed" else "Resume"
    if st.button(again, type="primary", icon=":material/play_arrow:", help="What was done is kept."):
        try:
            trainings.start(job.request)
        except GuideError as error:
            st.error(plain(str(error)), icon=":material/block:")
        else:
            st.rerun()
    draw_details(job)


def draw_details(job: TrainingJob) -> None:
    """The curve and the log of a training, folded away."""
    points = state.view_progress(job).points
    if points:
        with st.expander("How training went"):
            _draw_curve(points)
    with st.expander("Log"):
        lines = job.said.splitlines()[-LOG_LINES:]
        st.code("\n".join(lines) or "Nothing was logged yet.", language=None, wrap_lines=True)


def span(seconds: float) -> str:
    """A time to read.

    >>> span(7.4), span(150.0), span(9000.0)
    ('7 s', '2 min 30 s', '2 h 30 min')
    """
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"

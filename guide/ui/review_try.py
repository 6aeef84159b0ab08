"""Trying a new version on the Review page before it goes live."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import streamlit as st

from guide.bundle import Bundle
from guide.errors import GuideError
from guide.teach.reading import read_demonstrations
from guide.teach.relearn import begin_review
from guide.teach.trial import Trial, try_demonstration, try_video
from guide.ui.review_bundle import ReviewedBundle, networks
from guide.ui.state import review as state
from guide.ui.state.folders import plain, stamp
from guide.ui.state.review import Bar, TrialView

ANOTHER = "another video"
ICONS = {
    "alarm": "‼ Alarm",
    "warning": "⚠ Warning",
    "info": "ℹ Note",
    "question": "? Question",
    "withdrawn": "↩ Withdrawn",
}
WIDTH_PX, BAR_PX = 1000, 26


def draw(opened: ReviewedBundle, draft: Bundle, publish: Callable[[], None]) -> None:
    """Draws the choice of a recording, and what the draft makes of it; then the way to make it live."""
    ids = [one.id for one in opened.review.demonstrations.items]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.selectbox("Try it on a recording", [*ids, ANOTHER], key="review_try", width=280)
        text = st.text_input("Video file", key="review_try_path", width=360) if chosen == ANOTHER else ""
        is_asked = st.button("Try", icon=":material/visibility:")
        if st.button("Make it live", icon=":material/play_arrow:", type="primary"):
            publish()
    key = f"review_trial_{opened.name}"
    if is_asked:
        try:
            with st.spinner("Playing the recording to the new version"):
                st.session_state[key] = (stamp(draft.folder), chosen, _try(draft, ids, chosen, text))
        except (GuideError, OSError) as error:
            st.error(plain(str(error)), icon=":material/error:")
            st.session_state.pop(key, None)
    made = st.session_state.get(key)
    if made is not None and made[0] == stamp(draft.folder):
        _draw_trial(made[1], made[2])


def _try(draft: Bundle, ids: list[str], chosen: str, text: str) -> TrialView:
    running = networks(str(draft.folder), stamp(draft.folder))
    if chosen == ANOTHER:
        trial: Trial = try_video(draft, running, Path(text))
        demonstrations, _ = read_demonstrations(draft)
        return state.trial_view(trial, demonstrations, None, None)
    review, place = begin_review(draft), ids.index(chosen)
    trial = try_demonstration(draft, running, review.demonstrations, place)
    return state.trial_view(trial, review.demonstrations, review.start, place)


def _draw_trial(chosen: str, view: TrialView) -> None:
    where = "in that video" if chosen == ANOTHER else f"in recording {plain(chosen)}"
    st.markdown(f"**{plain(view.summary)}** {where}.")
    if view.truth:
        _draw_bar("as labelled", view.truth, view.lasted_s)
    _draw_bar("as seen live", view.steps, view.lasted_s)
    for severity, words in view.said:
        st.markdown(f"{ICONS.get(severity, severity)}: {plain(words)}")
    if not view.said:
        st.caption("Nothing would have been said: no alert, no question.")
    if view.truth:
        st.caption(
            "This recording is one of those that were learned from, so other people may be recognised less well: "
            "try another video too."
        )


def _draw_bar(title: str, bars: Sequence[Bar], lasted_s: float) -> None:
    """A strip of steps over time: their numbers and colours."""
    scale = WIDTH_PX / max(lasted_s, 1e-3)
    parts = [
        f'<rect x="{scale * one.start:.1f}" width="{scale * (one.end - one.start):.1f}" height="{BAR_PX}" '
        f'fill="{one.shade}"/><text x="{scale * one.start + 4:.1f}" y="17" font-size="12" font-family="sans-serif" '
        f'fill="#10191d">{one.step:d}</text>'
        for one in bars
    ]
    ground = f'<rect width="{WIDTH_PX}" height="{BAR_PX}" fill="#9aa5a9" fill-opacity="0.3"/>'
    size = f'viewBox="0 0 {WIDTH_PX} {BAR_PX}" width="{WIDTH_PX}" height="{BAR_PX}"'
    st.caption(title)
    st.image(f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{ground}{"".join(parts)}</svg>', width="stretch")

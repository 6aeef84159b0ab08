"""Trying a new version on the Review page before it goes live."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from guide.bundle import Bundle
from guide.errors import GuideError
from guide.teach.reading import read_demonstrations
from guide.teach.relearn import begin_review
from guide.teach.trial import Trial, try_demonstration, try_video
from guide.ui import one_video, sessions_track
from guide.ui.review_bundle import ReviewedBundle, networks
from guide.ui.state import review as state
from guide.ui.state.folders import plain, stamp
from guide.ui.state.review import TrialView

ANOTHER = "another video"
ICONS = {
    "alarm": "‼ Alarm",
    "warning": "⚠ Warning",
    "info": "ℹ Note",
    "question": "? Question",
    "withdrawn": "↩ Withdrawn",
}


def draw(opened: ReviewedBundle, draft: Bundle, publish: Callable[[], None]) -> None:
    """Draws the choice of a recording, and what the draft makes of it; then the way to make it live."""
    ids = [one.id for one in opened.review.demonstrations.items]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.selectbox("Try it on a recording", [*ids, ANOTHER], key="review_try", width=280)
        is_asked = st.button("Try", icon=":material/visibility:", help="Plays the recording to the new version.")
        if st.button(
            "Make it live", icon=":material/play_arrow:", type="primary", help="The version that is live now is kept."
        ):
            publish()
    text = one_video.ask("review_try", "Path of a video on this machine") if chosen == ANOTHER else ""
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
    for title, blocks in (("as labelled", view.truth), ("as seen live", view.steps)):
        if blocks:
            st.caption(title)
            sessions_track.draw_strip(blocks, view.lasted_s, key=f"review_strip_{title}")
    for severity, words in view.said:
        st.markdown(f"{ICONS.get(severity, severity)}: {plain(words)}")
    if not view.said:
        st.caption("Nothing would have been said: no alert, no question.")
    if view.truth:
        st.caption(
            "This recording is one of those that were learned from, so other people may be recognised less well: "
            "try another video too."
        )

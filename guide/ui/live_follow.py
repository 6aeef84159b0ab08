"""A session on the Live page: numbers are written by the page's own script, all else is drawn when something happens.

The page is open for hours beside the loop it shows, so it is drawn as seldom and as little as can be: the step and the
timeline when they change; buttons, alerts and the moving picture when the state differs from what was drawn of it.
"""

from __future__ import annotations

import gc
from collections.abc import Hashable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from guide.ui import live_html as html
from guide.ui.client import Client, LostError, NoSessionError
from guide.ui.live_actions import Deeds, draw_alerts, draw_controls, draw_head, leave
from guide.ui.live_clips import ClipKeeper
from guide.ui.live_look import look_at
from guide.ui.live_numbers import follow_beats
from guide.ui.live_voice import speak
from guide.ui.server import ServerKeeper
from guide.ui.state.live import LiveView, spoken

CLIPS_S = 3.0  # how often it is looked whether clips that are being made are there


def draw(keeper: ServerKeeper, client: Client, session: str, host: str, clips: ClipKeeper) -> None:
    """Draws a session: while it runs it is drawn again and again, once it is over a last time."""
    view = look(keeper, client, session)
    if view is None:
        return
    _settle()
    st.html(html.STYLE)
    st.session_state["live_drawn"] = _signature(view)
    st.session_state["live_acted"] = False  # all is being drawn: no part needs to ask for it
    deeds = Deeds(client, session, host)
    draw_head(deeds, view)
    top = st.container(key="top-place")
    with st.container(key="body"):
        left, middle, right = st.columns([5, 5, 4], gap="small")
        with left:
            _draw_picture(client, view, host)
            if not view.is_over:
                st.fragment(draw_controls)(deeds, view.steps)
        with middle:
            st.fragment(draw_alerts)(deeds)
        if view.is_over:
            right.html(html.steps(view))
    with top:
        if view.is_over:
            _hear(view)
            st.html(html.now(view))
        else:
            _draw_clips(view, clips)
            st.session_state["live_fresh"] = True
            st.fragment(_draw_top)(keeper, deeds, right)  # drawn there alone: drawn twice, it would blink between


def _draw_clips(view: LiveView, clips: ClipKeeper) -> None:
    """The steps' clips, once they are made, in the place of their stills."""
    made = clips.look(view.bundle)
    if made.pictures:
        st.html(html.clips(made.pictures))
    if not made.is_done:
        st.fragment(_await_clips, run_every=CLIPS_S)(clips, view.bundle)


def _await_clips(clips: ClipKeeper, bundle: str) -> None:
    if clips.look(bundle).is_done:
        st.rerun(scope="app")


def look(keeper: ServerKeeper, client: Client, session: str) -> LiveView | None:
    """The session's view; where it cannot be had, the page says why and what to do."""
    try:
        return look_at(client, session)
    except LostError:
        keeper.forget()
        st.warning("The guide's server does not answer. It is looked for again.", icon=":material/sync_problem:")
        st.button("Look again", icon=":material/refresh:", key="lost")
    except NoSessionError:
        st.info("The server knows this session no longer: it was ended. The Sessions page lists what was kept.")
        st.button("Start another", key="unknown", on_click=leave)
    return None


def _draw_top(keeper: ServerKeeper, deeds: Deeds, timeline: DeltaGenerator) -> None:
    """What is read from three metres, and the timeline, which has its place further down."""
    view = look(keeper, deeds.client, deeds.session)
    beats = deeds.client.beats(deeds.session, deeds.host)
    if view is None:
        if keeper.has_ended(deeds.client):
            st.rerun(scope="app")
        follow_beats(beats, "")  # which asks again and again
        return
    _hear(view)
    is_fresh = st.session_state.pop("live_fresh", False)  # the rest of the page is being drawn as well
    if not is_fresh and _signature(view) != st.session_state.get("live_drawn"):
        st.rerun(scope="app")
    with st.container(key="top"):
        now, following = st.columns([19, 10], gap="small")
    now.html(html.now(view))
    # By itself, since it often stays the same: so its clip plays on.
    following.html(html.following(view, deeds.still))
    timeline.html(html.steps(view))
    follow_beats(beats, view.mark)


def _hear(view: LiveView) -> None:
    """Says aloud what is new since the page was drawn last."""
    words = spoken(st.session_state.get("live_view"), view)
    st.session_state["live_view"] = view
    speak(words, bool(st.session_state.get("muted", False)))


@st.cache_resource(show_spinner=False)
def _settle() -> None:
    """Spares what is loaded from being looked through for rubbish: Streamlit does that whenever a part is drawn."""
    gc.collect()
    gc.freeze()


def _signature(view: LiveView) -> Hashable:
    """What must be the same for the buttons, alerts and picture to stay as they were drawn."""
    return view.session, view.is_over, view.is_paused, view.headset, view.alerts, view.question, view.deeds


def _draw_picture(client: Client, view: LiveView, host: str) -> None:
    if view.headset is None:
        st.html(html.picture(client.stream(view.session, host)))
        return
    from guide.ui import live_phone  # here: it brings what draws the code, and few wait for a phone

    live_phone.draw(
        client, view.session, client.phone_page(live_phone.seen_as(client, host), view.headset, view.bundle)
    )

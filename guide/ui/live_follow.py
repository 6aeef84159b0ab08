"""A session on the Live page: what changes every moment is drawn every moment, all else when something happens.

The page is open for hours beside the loop it shows, so a tick draws as little as it can: the step and the timeline.
Buttons, alerts and the moving picture stay as they are until the state differs from what was drawn.
"""

from __future__ import annotations

import gc
from collections.abc import Hashable

import segno
import streamlit as st

from guide.serve.tls import address_on_the_network
from guide.ui import live_html as html
from guide.ui.client import LOCAL, Client, LostError, NoSessionError
from guide.ui.live_actions import Deeds, draw_alerts, draw_controls, draw_head
from guide.ui.live_voice import speak
from guide.ui.server import ServerKeeper
from guide.ui.state.bundles import plain
from guide.ui.state.live import LiveView, spoken, view_live

TICK_S = 1.0
TIMELINE_S = 3.0


def draw(keeper: ServerKeeper, client: Client, session: str, host: str) -> None:
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
    if view.is_over:
        _hear(view)
        st.html(_top(client, view, host))
    else:
        st.session_state["live_fresh"] = True
        st.fragment(_draw_now, run_every=TICK_S)(keeper, client, session, host)
    with st.container(key="body"):
        left, middle, right = st.columns([5, 5, 4], gap="small")
        with left:
            _draw_picture(client, view, host)
            if not view.is_over:
                st.fragment(draw_controls)(deeds, view.steps)
        with middle:
            st.fragment(draw_alerts)(deeds)
        with right:
            st.fragment(_draw_timeline, run_every=None if view.is_over else TIMELINE_S)(keeper, client, session)


def look(keeper: ServerKeeper, client: Client, session: str) -> LiveView | None:
    """The session's view; where it cannot be had, the page says why and what to do."""
    try:
        return view_live(client.state(session))
    except LostError:
        keeper.forget()
        st.warning("The guide's server does not answer. It is looked for again.", icon=":material/sync_problem:")
        st.button("Look again", icon=":material/refresh:", key="lost")
    except NoSessionError:
        st.info("The server knows this session no longer: it was ended. The Sessions page lists what was kept.")
        st.button("Start another", key="unknown", on_click=leave)
    return None


def leave() -> None:
    """Back to the start page, whatever runs."""
    st.query_params.clear()
    st.query_params["new"] = "1"


def _draw_now(keeper: ServerKeeper, client: Client, session: str, host: str) -> None:
    view = look(keeper, client, session)
    if view is None:
        return
    _hear(view)
    is_fresh = st.session_state.pop("live_fresh", False)  # the rest of the page is being drawn as well
    if not is_fresh and _signature(view) != st.session_state.get("live_drawn"):
        st.rerun(scope="app")
    st.html(_top(client, view, host))


def _draw_timeline(keeper: ServerKeeper, client: Client, session: str) -> None:
    view = look(keeper, client, session)
    if view is None:
        return
    st.html(html.steps(view))
    if view.notice:
        st.caption(plain(view.notice))


def _hear(view: LiveView) -> None:
    """Says aloud what is new since the last tick."""
    words = spoken(st.session_state.get("live_view"), view)
    st.session_state["live_view"] = view
    speak(words, bool(st.session_state.get("muted", False)))


@st.cache_resource(show_spinner=False)
def _settle() -> None:
    """Spares what is loaded from being looked through for rubbish: Streamlit does that after every tick."""
    gc.collect()
    gc.freeze()


def _signature(view: LiveView) -> Hashable:
    """What must be the same for the buttons, alerts and picture to stay as they were drawn."""
    return view.session, view.is_over, view.is_paused, view.headset, view.alerts, view.question, view.deeds


def _top(client: Client, view: LiveView, host: str) -> str:
    return html.top(view, lambda step, number: client.still(view.session, step, number, host))


def _draw_picture(client: Client, view: LiveView, host: str) -> None:
    if view.headset is None:
        st.html(html.picture(client.stream(view.session, host)))
        return
    outside = address_on_the_network() if host == LOCAL and client.outside else host
    address = client.phone_page(outside, view.headset, view.bundle)
    st.html(html.phone(address, segno.make(address, error="l", micro=False).svg_data_uri(scale=4, border=2)))
    if not client.outside:
        st.caption(
            "Only a browser on this computer reaches it. To let phones in, end this and start anew with the tick."
        )
    elif client.outside.startswith("https"):
        st.caption("The certificate is our own: the phone's browser asks once whether to trust it.")

"""A session on the Live page: numbers are written by the page's own script, all else is drawn when something happens.

The page is open for hours beside the loop it shows, so it is drawn as seldom and as little as can be: the step and the
timeline when they change; buttons, alerts and the moving picture when the state differs from what was drawn of it.
"""

from __future__ import annotations

import functools
import gc
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from guide.procedure.wording import MOODS
from guide.ui import live_html as html
from guide.ui.client import LOCAL, Client, LostError, NoSessionError
from guide.ui.live_actions import SessionActions, draw_alerts, draw_controls, draw_head, fetch_view, leave
from guide.ui.live_clips import ClipKeeper
from guide.ui.live_start import tell_silent
from guide.ui.server import ServerKeeper
from guide.ui.state.live import LiveView, Saying, spoken

CLIPS_S = 3.0  # between two checks whether clips that are being made are ready
NUMBERS_SCRIPT = Path(__file__).with_name("live_numbers.js")
VOICE_SCRIPTS = (Path(__file__).parents[1] / "serve" / "page" / "voice.js", Path(__file__).with_name("live_voice.js"))
CODE_SHOWN = "live_code"  # the session whose QR code is shown to this browser


def draw(keeper: ServerKeeper, client: Client, session: str, host: str, clips: ClipKeeper) -> None:
    """Draws a session: while it runs it is drawn again and again, once it is over a last time."""
    view = view_or_explain(keeper, client, session)
    if view is None:
        return
    _freeze_garbage_collector()
    st.html(html.STYLE)
    st.session_state["live_drawn"] = _signature(view)
    st.session_state["live_acted"] = False  # all is being drawn: no part needs to ask for it
    actions = SessionActions(client, session, host)
    draw_head(actions, view)
    top = st.container(key="top-place")
    with st.container(key="body"):
        left, middle, right = st.columns([5, 5, 4], gap="small")
        with left:
            _draw_picture(client, view, host)
            if not view.is_over:
                st.fragment(draw_controls)(actions, view.steps)
        with middle:
            st.fragment(draw_alerts)(actions)
        if view.is_over:
            right.html(html.steps(view))
    with top:
        if view.is_over:
            _speak_news(view)
            st.html(html.now(view))
            st.html(html.visits(view))
        else:
            _draw_clips(view, clips)
            st.session_state["live_fresh"] = True
            st.fragment(_draw_top)(keeper, actions, right)  # drawn there alone: drawn twice, it would blink between


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


def view_or_explain(keeper: ServerKeeper, client: Client, session: str) -> LiveView | None:
    """The session's view; None, after the page said why and what to do, where the server does not give it."""
    try:
        return fetch_view(client, session)
    except LostError:
        tell_silent(keeper)
    except NoSessionError:
        st.info("The server no longer has this session: it was ended. The Sessions page lists what was kept.")
        st.button("Start another", key="unknown", on_click=leave)
    return None


def _draw_top(keeper: ServerKeeper, actions: SessionActions, timeline: DeltaGenerator) -> None:
    """What is read from three metres, and the timeline, which has its place further down."""
    view = view_or_explain(keeper, actions.client, actions.session)
    numbers = actions.client.live_numbers(actions.session, actions.host)
    if view is None:
        if keeper.has_ended(actions.client):
            st.rerun(scope="app")
        _follow_numbers(numbers, "")  # its script asks again and again
        return
    _speak_news(view)
    is_fresh = st.session_state.pop("live_fresh", False)  # the rest of the page is being drawn as well
    if not is_fresh and _signature(view) != st.session_state.get("live_drawn"):
        st.rerun(scope="app")
    with st.container(key="top"):
        now, following = st.columns([19, 10], gap="small")
    now.html(html.now(view))
    # By itself, since it often stays the same: so its clip plays on.
    following.html(html.following(view, actions.still))
    st.html(html.visits(view))
    timeline.html(html.steps(view))
    _follow_numbers(numbers, view.mark)


def _speak_news(view: LiveView) -> None:
    """Says aloud what is new since the page was drawn last."""
    news = spoken(st.session_state.get("live_view"), view)
    st.session_state["live_view"] = view
    _speak(news, bool(st.session_state.get("muted", False)), view.language)


@st.cache_resource(show_spinner=False)
def _freeze_garbage_collector() -> None:
    """Keeps loaded modules out of garbage collection, which Streamlit runs whenever a part is drawn."""
    gc.collect()
    gc.freeze()


def _signature(view: LiveView) -> Hashable:
    """What must be the same for the buttons, alerts and picture to stay as they were drawn."""
    return view.session, view.is_over, view.is_paused, view.headset, view.alerts, view.question, view.undoable


def _draw_picture(client: Client, view: LiveView, host: str) -> None:
    if view.headset is None:
        st.html(html.picture(client.stream(view.session, host)))
        return
    address = client.phone_page(_host_for_phones(client, host), view.headset, view.bundle)
    _draw_phone_code(client, view.session, address)


def _host_for_phones(client: Client, host: str) -> str:
    """This machine's address for a phone: a browser on the machine itself may know only its local name."""
    from guide.serve.tls import address_on_the_network  # here, as below: few sessions wait for a phone

    return address_on_the_network() if host == LOCAL and client.outside else host


def _draw_phone_code(client: Client, session: str, address: str) -> None:
    """The camera page's `address` as a QR code and a link; it opens the server, so it is shown only on request."""
    import segno

    if st.session_state.get(CODE_SHOWN) != session:
        st.info("Waiting for the phone or headset. It connects by scanning a code.", icon=":material/smartphone:")
        st.button("Show the code", key="show_code", type="primary", icon=":material/qr_code:", on_click=_show_code,
                  args=(session,))  # fmt: skip
        st.caption("Anybody with this code can send pictures and be guided: show it to nobody else.")
        return
    st.html(html.phone(address, segno.make(address, error="l", micro=False).svg_data_uri(scale=4, border=2)))
    st.button("Hide the code", key="hide_code", icon=":material/visibility_off:", on_click=_show_code, args=(None,))
    if not client.outside:
        st.caption(
            "Only a browser on this computer can reach it. To let phones in, end it and start one with that box ticked."
        )
    elif client.outside.startswith("https"):
        st.caption("The certificate is self-signed: the phone's browser asks once whether to trust it.")


def _show_code(session: str | None) -> None:
    st.session_state[CODE_SHOWN] = session


def _follow_numbers(address: str, mark: str) -> None:
    """Runs the script that writes live numbers from `address`; it has this part drawn anew once their mark changes.

    Drawing by Streamlit takes a tenth of a second of two cores, which the live loop needs more.
    """
    moods = {mood: MOODS[mood] for mood in ("calm", "unsure", "late")}  # those that come and go with the numbers
    with st.container(key="live-numbers"):
        _numbers_script()(
            data={"address": address, "mark": mark, "moods": moods},
            key="numbers_of_the_page",
            on_changed_change=_nothing,
        )


def _nothing() -> None:
    """A callback that the component requires: being drawn again is all that is wanted."""


@functools.cache
def _numbers_script() -> Any:
    return st.components.v2.component("guide_live_numbers", js=NUMBERS_SCRIPT.read_text(encoding="utf-8"))


def _speak(sayings: Sequence[Saying], is_muted: bool, language: str) -> None:
    """Says each of `sayings` once by the browser's own voice in that language, unless it is muted."""
    serial = int(st.session_state.get("voice_serial", 0)) + bool(sayings)
    st.session_state["voice_serial"] = serial
    if sayings:
        st.session_state["voice_words"] = [[one.words, one.is_urgent, one.sound] for one in sayings]
    words = st.session_state.get("voice_words", [])
    told = {"serial": serial, "words": words, "muted": is_muted, "language": language}
    with st.container(key="voice"):
        _voice_script()(data=told, key="voice_of_the_page")


@functools.cache
def _voice_script() -> Any:
    script = "\n".join(one.read_text(encoding="utf-8") for one in VOICE_SCRIPTS)
    return st.components.v2.component("guide_voice", js=script)

"""The Live page before a session: the demo with one click, or a procedure and a camera, stream or recording."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from guide.errors import GuideError
from guide.ingest.base import NO_PICTURES
from guide.ui import live_html as html
from guide.ui import one_video
from guide.ui.server import ServerKeeper, bundle_names
from guide.ui.shell import tell_no_procedure
from guide.ui.state.folders import DEMO, DEMOS, plain
from guide.ui.state.live_start import DemoRecording, demo_recordings, demo_stills, session_words

REFUSED = "live_refused"  # why the last one could not be started, until it was told
SOURCES = ("Recording", "Camera of this machine", "Phone or headset", "Network stream", "No camera")


@dataclass(frozen=True, slots=True)
class Choice:
    """What somebody pressed to be started, and in which box of the page: there it is said if it cannot be.

    >>> Choice("demo", {"source": "02_missed.mp4", "bundle": "demo"}).takes_phones
    False
    """

    box: str
    request: Mapping[str, object]
    takes_phones: bool = False


def draw(keeper: ServerKeeper, exported: Path) -> None:
    """Draws what can be started, and what runs; what is chosen is started in its place."""
    names = bundle_names(exported)
    if not names:
        st.header("Live")
        tell_no_procedure(exported)
        return
    keeper.warm_up()
    place = st.empty()
    with place.container():
        _draw_running(keeper)
        demo = demo_recordings(os.environ) if DEMO in names else ()
        choice = _draw_boxes(exported, names, demo)
    if choice is not None:
        place.empty()  # at once: a form that stays looks as if the click had done half of it
        start(keeper, choice)


def _draw_boxes(exported: Path, names: Sequence[str], demo: Sequence[DemoRecording]) -> Choice | None:
    """The demo first for who has nothing else, then the form; or the other way round."""
    has_own = not set(names) <= set(DEMOS)
    chosen = _draw_demo(exported, demo) if demo and not has_own else None
    with st.container(border=True, key="guide"):
        st.subheader("Guide someone")
        asked = _draw_form(names)
    also = _draw_demo(exported, demo) if demo and has_own else None
    return chosen or asked or also


def tell_silent(keeper: ServerKeeper) -> None:
    """The server lives but does not answer: it is waited for, its sessions are not over."""
    keeper.forget()
    st.warning("The guide's server does not answer. Trying again.", icon=":material/sync_problem:")
    st.button("Look again", icon=":material/refresh:", key="lost")


def _draw_running(keeper: ServerKeeper) -> None:
    try:
        client = keeper.running()
        running = [one for one in client.sessions() if one["state"] == "running"] if client else []
    except GuideError:  # it ended between two questions
        return
    for one in running:
        with st.container(border=True, horizontal=True, vertical_alignment="center", key=f"run-{one['session']}"):
            st.markdown(f"**Running** {plain(session_words(one))}", width="stretch")
            st.button("Show", key=f"show_{one['session']}", on_click=_show, args=(one["session"],))


def _draw_demo(exported: Path, demo: Sequence[DemoRecording]) -> Choice | None:
    chosen: DemoRecording | None = None
    with st.container(border=True, key="demo"):
        words, pictures = st.columns([3, 2], vertical_alignment="center")
        with words:
            st.subheader("See it work")
            st.markdown("Somebody does the demo task and leaves a step out. The guide follows, and says so.")
            if st.button("Play the demo", type="primary", icon=":material/play_arrow:", key="play_demo"):
                chosen = demo[0]
            _tell_refused("demo")
        with pictures:
            # Not as Streamlit's pictures: those load libraries for which the first page would have to wait.
            st.html(html.stills([still.read_bytes() for still in demo_stills(exported / DEMO)]))
        if len(demo) > 1:
            with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
                st.caption("Or another recording:", width="content")
                for one in demo[1:]:
                    if st.button(one.words, key=f"play_{one.path.name}"):
                        chosen = one
    return None if chosen is None else Choice("demo", {"source": str(chosen.path), "bundle": DEMO})


def _draw_form(names: Sequence[str]) -> Choice | None:
    left, right = st.columns(2)
    bundle = left.selectbox("Procedure", names, key="live_bundle")
    person = right.text_input("Person (optional)", max_chars=64, key="live_person")
    kind = str(st.segmented_control("Source", SOURCES, default=SOURCES[0], required=True, key="live_source"))
    source, takes_phones = _draw_source(kind), False
    if kind == SOURCES[2]:
        takes_phones = st.checkbox("Let phones and headsets on this network connect", key="live_phones")
        st.caption("Without it only a browser on this computer can be the camera. The next page shows where to go.")
    _tell_refused("guide")  # above the button, where it is seen on a small laptop
    if not st.button("Start", type="primary", icon=":material/play_arrow:", disabled=not source, key="start"):
        return None
    request: dict[str, object] = {"source": source, "bundle": bundle}
    return Choice("guide", request | ({"person": person.strip()} if person and person.strip() else {}), takes_phones)


def _draw_source(kind: str) -> str:
    """What the choice amounts to as a SOURCE; nothing while it is not made."""
    if kind == SOURCES[0]:
        return one_video.ask("live", "Path of a video on this machine, or of a folder of stills")
    if kind == SOURCES[1]:
        from guide.ingest.camera import list_cameras  # here: the reader of cameras would make the first page come later

        cameras = list_cameras()
        if not cameras:
            st.info("No camera was found: plug one in and look again, or take a phone or a network stream.")
            st.button("Look again", icon=":material/refresh:", key="cameras")
            return ""
        labels = {camera.number: f"{camera.number}: {camera.name}" for camera in cameras}
        return str(st.selectbox("Camera", list(labels), format_func=lambda number: labels[number], key="live_camera"))
    if kind == SOURCES[4]:
        st.caption("Nothing is recognised: press Mark done (D) whenever a step is done.")
        return NO_PICTURES
    if kind == SOURCES[2]:
        name = str(st.text_input("A name for the device", value="phone", max_chars=64, key="live_name"))
        return f"headset:{name.strip()}" if name.strip() else ""
    return _draw_address()


def _draw_address() -> str:
    """The address of a stream; once it holds a password, which stands before an @, it is shown as dots."""
    holds_password = "@" in str(st.session_state.get("live_address", ""))
    address = st.text_input(
        "Address, beginning with rtsp:// or http://",
        key="live_address",
        placeholder="rtsp://camera.local/stream",
        type="password" if holds_password else "default",
        autocomplete="off",
    )
    return str(address or "").strip()


def start(keeper: ServerKeeper, choice: Choice) -> None:
    """Starts a session and shows it; what cannot be is said in the box that was pressed."""
    with st.container(key="starting"):
        st.subheader("Starting …")
    try:
        with st.spinner("The procedure is loaded and the pictures are opened."):
            client = keeper.let_phones_in() if choice.takes_phones else keeper.connect()
            state = client.start(choice.request)
    except GuideError as error:
        keeper.forget()
        st.session_state[REFUSED] = (choice.box, str(error))
    else:
        _show(str(state["session"]))
    st.rerun()


def _tell_refused(box: str) -> None:
    """Why what was pressed in this box could not be started; told once."""
    where, words = st.session_state.get(REFUSED, ("", ""))
    if where == box:
        st.session_state.pop(REFUSED)
        st.error(plain(words), icon=":material/error:")


def _show(session: str) -> None:
    st.query_params.clear()
    st.query_params["session"] = session

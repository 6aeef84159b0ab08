"""The Live page before a session: the demo with one click, or a procedure and a camera, stream or recording."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from guide.errors import GuideError
from guide.ui import live_html as html
from guide.ui import uploads
from guide.ui.server import DEMO, DEMOS, ServerKeeper, bundle_names
from guide.ui.shell import lead_to
from guide.ui.state.folders import HOW_TO_MAKE_ONE, plain, recordings_folder
from guide.ui.state.live_start import DemoRecording, demo_recordings, demo_stills, session_words

DROPPED = "live"  # the folder of videos that were dropped here, beside those to learn from
SOURCES = ("Recording", "Camera of this machine", "Phone or headset", "Network stream")


def draw(keeper: ServerKeeper, exported: Path) -> None:
    """Draws what can be started, and what runs."""
    names = bundle_names(exported)
    if not names:
        _tell_empty(exported)
        return
    keeper.warm_up()
    _draw_running(keeper)
    demo = demo_recordings(os.environ) if DEMO in names else ()
    has_own = not set(names) <= set(DEMOS)
    if demo and not has_own:
        _draw_demo(keeper, exported, demo)
    with st.container(border=True, key="guide"):
        st.subheader("Guide someone")
        _draw_form(keeper, names)
    if demo and has_own:
        _draw_demo(keeper, exported, demo)


def _tell_empty(exported: Path) -> None:
    st.header("Live")
    st.info(f"There is no learned procedure in {plain(str(exported))} yet. This makes the demo, in a terminal:")
    st.code(HOW_TO_MAKE_ONE, language="bash")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Look again", icon=":material/refresh:")
        lead_to("learn", "Learn from recordings of your own task", ":material/school:")


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


def _draw_demo(keeper: ServerKeeper, exported: Path, demo: Sequence[DemoRecording]) -> None:
    with st.container(border=True, key="demo"):
        words, pictures = st.columns([3, 2], vertical_alignment="center")
        with words:
            st.subheader("See it work")
            st.markdown("Somebody does the demo task and leaves a step out. The guide follows, and says so.")
            if st.button("Play the demo", type="primary", icon=":material/play_arrow:", key="play_demo"):
                start(keeper, {"source": str(demo[0].path), "bundle": DEMO})
        with pictures:
            # Not as Streamlit's pictures: those load libraries for which the first page would have to wait.
            st.html(html.stills([still.read_bytes() for still in demo_stills(exported / DEMO)]))
        if len(demo) > 1:
            with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
                st.caption("Or another recording:", width="content")
                for one in demo[1:]:
                    if st.button(one.words, key=f"play_{one.path.name}"):
                        start(keeper, {"source": str(one.path), "bundle": DEMO})


def _draw_form(keeper: ServerKeeper, names: Sequence[str]) -> None:
    left, right = st.columns(2)
    bundle = left.selectbox("Procedure", names, key="live_bundle")
    person = right.text_input("Who works (may be left empty)", max_chars=64, key="live_person")
    kind = str(st.segmented_control("Source", SOURCES, default=SOURCES[0], required=True, key="live_source"))
    source, takes_phones = _draw_source(kind), False
    if kind == SOURCES[2]:
        takes_phones = st.checkbox("Let phones and headsets on this network connect", key="live_phones")
        st.caption("Without it only a browser on this computer can be the camera. The next page shows where to go.")
    told = st.container()  # above the button, where it is seen on a small laptop
    if st.button("Start", type="primary", icon=":material/play_arrow:", disabled=not source, key="start"):
        wish: dict[str, object] = {"source": source, "bundle": bundle}
        with told:
            start(keeper, wish | ({"person": person.strip()} if person and person.strip() else {}), takes_phones)


def _draw_source(kind: str) -> str:
    """What the choice amounts to as a SOURCE; nothing while it is not made."""
    if kind == SOURCES[0]:
        return _draw_recording()
    if kind == SOURCES[1]:
        from guide.ingest.camera import list_cameras  # here: the reader of cameras would make the first page come later

        cameras = list_cameras()
        if not cameras:
            st.info("No camera was found: plug one in and look again, or take a phone or a network stream.")
            st.button("Look again", icon=":material/refresh:", key="cameras")
            return ""
        labels = {camera.number: f"{camera.number}: {camera.name}" for camera in cameras}
        return str(st.selectbox("Camera", list(labels), format_func=lambda number: labels[number], key="live_camera"))
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


def _draw_recording() -> str:
    """A path; a dropped video is stored at once and its path put there, so that no memory is held."""
    if "live_dropped" in st.session_state:
        st.session_state["live_path"] = st.session_state.pop("live_dropped")
    typed, dropped = st.columns(2)
    words = "Path of a video on this machine, or of a folder of stills"
    path = typed.text_input(words, key="live_path", placeholder="recordings/monday.mp4")
    turn = int(st.session_state.get("live_turn", 0))
    file = dropped.file_uploader(
        "Or drop a video here", type=list(uploads.SUFFIXES), key=f"live_file_{turn}", max_upload_size=uploads.LARGEST_MB
    )
    if file is not None:
        st.session_state["live_turn"] = turn + 1
        try:
            folder = recordings_folder(os.environ) / DROPPED
            st.session_state["live_dropped"] = str(uploads.store(file, file.name, folder))
            st.rerun()
        except GuideError as error:
            st.error(plain(str(error)), icon=":material/block:")
    return str(path or "").strip()


def start(keeper: ServerKeeper, wish: dict[str, object], takes_phones: bool = False) -> None:
    """Starts a session and shows it; what cannot be is said on the page."""
    try:
        with st.spinner("Starting"):
            client = keeper.let_phones_in() if takes_phones else keeper.connect()
            state = client.start(wish)
    except GuideError as error:
        keeper.forget()
        st.error(plain(str(error)), icon=":material/error:")
        return
    _show(str(state["session"]))
    st.rerun()


def _show(session: str) -> None:
    st.query_params.clear()
    st.query_params["session"] = session

"""The Live page: the session that runs, found again after a reload and by every browser; else what can be started."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st

from guide.ui import live_start
from guide.ui.client import LOCAL, Client, LostError
from guide.ui.live_clips import ClipKeeper
from guide.ui.server import ServerKeeper, data_folder
from guide.ui.shell import LOCAL as LOCAL_NAMES
from guide.ui.shell import is_open
from guide.ui.state.folders import exported_folder

LOOK_AGAIN_S = 3.0


def page() -> None:
    """Draws the page for the folders that the environment names."""
    exported, data = exported_folder(os.environ), data_folder(os.environ)
    keeper = _keeper(str(exported), str(data), is_open())
    client = keeper.running()
    try:
        session = None if client is None else _chosen(client)
    except LostError:
        live_start.tell_silent(keeper)
        st.fragment(_look_again, run_every=LOOK_AGAIN_S)(keeper)
        return
    if client is None or session is None:
        if client is None and "session" in st.query_params:
            st.warning("That session ended with the guide's server. The Sessions page lists what was kept of it.")
        live_start.draw(keeper, exported)
    else:
        from guide.ui import live_follow  # here: the first page shows no session, and is to come soon

        live_follow.draw(keeper, client, session, _host(), _clips(str(exported), str(data)))


def _look_again(keeper: ServerKeeper) -> None:
    """Draws the page anew once the server answers or is gone."""
    client = keeper.running()
    if client is None or client.answers():
        st.rerun(scope="app")


@st.cache_resource(show_spinner=False)
def _keeper(exported: str, data: str, is_open: bool) -> ServerKeeper:
    return ServerKeeper(Path(exported), Path(data), is_open)


@st.cache_resource(show_spinner=False)
def _clips(exported: str, data: str) -> ClipKeeper:
    return ClipKeeper(Path(exported), Path(data))


def _chosen(client: Client) -> str | None:
    """The session that the address names, else the newest that runs; none where a new one is asked for."""
    asked = st.query_params.get("session")
    if asked:
        return asked
    if "new" in st.query_params:
        return None
    running = [one for one in client.sessions() if one["state"] == "running"]
    if not running:
        return None
    st.query_params["session"] = str(running[-1]["session"])  # the page stays with it when it ends
    return st.query_params["session"]


def _host() -> str:
    """This machine as the browser knows it, so that it finds the pictures."""
    name = urlsplit(f"//{st.context.headers.get('Host') or ''}").hostname or ""
    return LOCAL if name in ("", *LOCAL_NAMES) else name

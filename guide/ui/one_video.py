"""Asking for one video: its path on this machine, or the file itself, dropped on the page."""

from __future__ import annotations

import os

import streamlit as st

from guide.errors import GuideError
from guide.ui import uploads
from guide.ui.state.folders import plain, recordings_folder

DROPPED = ".live"  # the folder of videos dropped so, beside those to learn from; no procedure is named so


def ask(key: str, words: str) -> str:
    """A path, asked for with `words`; a dropped video is stored at once and its path put there, to hold no memory."""
    if f"{key}_dropped" in st.session_state:
        st.session_state[f"{key}_path"] = st.session_state.pop(f"{key}_dropped")
    typed, dropped = st.columns(2)
    path = typed.text_input(words, key=f"{key}_path", placeholder="recordings/monday.mp4")
    turn = int(st.session_state.get(f"{key}_turn", 0))
    file = dropped.file_uploader(
        "Or drop a video here", type=list(uploads.SUFFIXES), key=f"{key}_file_{turn}",
        max_upload_size=uploads.LARGEST_MB,
    )  # fmt: skip
    dropped.html(uploads.if_refused("A larger one: give its path on this machine instead, at the left."))
    if file is not None:
        st.session_state[f"{key}_turn"] = turn + 1
        try:
            folder = recordings_folder(os.environ) / DROPPED
            st.session_state[f"{key}_dropped"] = str(uploads.store(file, file.name, folder))
            st.rerun()
        except GuideError as error:
            st.error(plain(str(error)), icon=":material/block:")
    return str(path or "").strip()

"""Spoken prompts in the browser: a page hands over words, the browser's own voice says them once."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

SCRIPT = Path(__file__).with_name("live_voice.js")


def speak(words: Sequence[str], is_muted: bool) -> None:
    """Says `words` in the browser, unless it is muted."""
    serial = int(st.session_state.get("voice_serial", 0)) + bool(words)
    st.session_state["voice_serial"] = serial
    if words:
        st.session_state["voice_words"] = list(words)
    told = {"serial": serial, "words": st.session_state.get("voice_words", []), "muted": is_muted}
    with st.container(key="voice"):
        _voice()(data=told, key="voice_of_the_page")


@functools.cache
def _voice() -> Any:
    return st.components.v2.component("guide_voice", js=SCRIPT.read_text(encoding="utf-8"))

"""What keeps the Live page up to date: our own script hears the server, and has the page drawn when there is cause.

Drawing a page by Streamlit costs a tenth of a second of two processors, which the loop beside it needs more.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import streamlit as st

from guide.ui.live_html import MOODS

SCRIPT = Path(__file__).with_name("live_numbers.js")


def follow_beats(address: str, mark: str) -> None:
    """Hears the beats at `address`; what draws this is run again once their mark is no longer `mark`."""
    moods = {mood: MOODS[mood] for mood in ("calm", "unsure", "late")}  # those that come and go with the numbers
    with st.container(key="beat"):
        _beat()(
            data={"address": address, "mark": mark, "moods": moods}, key="beat_of_the_page", on_changed_change=_nothing
        )


def _nothing() -> None:
    """What a component that triggers asks for: being run again is all that is wanted."""


@functools.cache
def _beat() -> Any:
    return st.components.v2.component("guide_beat", js=SCRIPT.read_text(encoding="utf-8"))

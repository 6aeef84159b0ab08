"""One look at a session, for all parts of the Live page."""

from __future__ import annotations

import streamlit as st

from guide.ui.client import Client
from guide.ui.state.live import LiveView, view_live

KEPT_SESSIONS = 32


def look_at(client: Client, session: str) -> LiveView:
    """Where the session stands; raises LostError or NoSessionError where that cannot be told."""
    return view_live(client.state(session), _titles(session))


@st.cache_resource(max_entries=KEPT_SESSIONS, show_spinner=False)
def _titles(session: str) -> dict[int, str]:
    """The titles of a session's alerts, also of those that stand no more; shared by all browsers."""
    return {}

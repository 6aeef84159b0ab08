"""The code that makes a phone or headset the camera: it opens the server, so it is shown only when asked for."""

from __future__ import annotations

import segno
import streamlit as st

from guide.serve.tls import address_on_the_network
from guide.ui import live_html as html
from guide.ui.client import LOCAL, Client

SHOWN = "live_code"  # the session whose code is shown to this browser


def seen_as(client: Client, host: str) -> str:
    """This machine as a phone knows it: a browser on it may know it only by its local name."""
    return address_on_the_network() if host == LOCAL and client.outside else host


def draw(client: Client, session: str, address: str) -> None:
    """The camera page's `address` as a code and a link, once somebody presses for it."""
    if st.session_state.get(SHOWN) != session:
        st.info("Waiting for the phone or headset. It is let in by a code to scan.", icon=":material/smartphone:")
        st.button("Show the code", key="show_code", type="primary", icon=":material/qr_code:", on_click=_show,
                  args=(session,))  # fmt: skip
        st.caption("Who has the code can send pictures and run this guide's sessions: show it to nobody else.")
        return
    st.html(html.phone(address, segno.make(address, error="l", micro=False).svg_data_uri(scale=4, border=2)))
    st.button("Hide the code", key="hide_code", icon=":material/visibility_off:", on_click=_show, args=(None,))
    if not client.outside:
        st.caption(
            "Only a browser on this computer reaches it. To let phones in, end this and start anew with the tick."
        )
    elif client.outside.startswith("https"):
        st.caption("The certificate is our own: the phone's browser asks once whether to trust it.")


def _show(session: str | None) -> None:
    st.session_state[SHOWN] = session

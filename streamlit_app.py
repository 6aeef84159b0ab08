"""The dashboard: `streamlit run streamlit_app.py`, or `make dashboard`. Page list and start-up, nothing else.

Streamlit loads this file once as the application, with the login in front of it, and runs it for every visit.

Bundles are looked for in exported/, or in the folder that the environment variable CNC_EXPORTED names.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable

import streamlit as st
from starlette.middleware import Middleware

from guide.ui import shell
from guide.ui.login import LoginGuard


def main() -> None:
    """Draws the page that was asked for."""
    st.set_page_config(page_title="Guide", page_icon="guide/serve/page/icon.svg", layout="wide")
    shell.require_login()
    live = st.Page(_page("live"), title="Live", icon=":material/play_circle:", url_path="", default=True)
    pages = [
        live,
        st.Page(_page("learn"), title="Learn", icon=":material/school:", url_path="learn"),
        st.Page(_page("review"), title="Review", icon=":material/edit_note:", url_path="review"),
        st.Page(_page("sessions"), title="Sessions", icon=":material/history:", url_path="sessions"),
        st.Page(_page("bundles"), title="Learned procedures", icon=":material/checklist:", url_path="bundles"),
        # The first page lies at the root; who types /live is to find it too.
        st.Page(lambda: st.switch_page(live), title="Live", url_path="live", visibility="hidden"),
    ]
    if os.environ.get("CNC_FLEET"):  # who has one machine need not know
        pages.insert(1, st.Page(_page("fleet"), title="Fleet", icon=":material/hub:", url_path="fleet"))
    chosen = st.navigation(pages, position="top")
    shell.close_menu(chosen.url_path)
    chosen.run()


def _page(name: str) -> Callable[[], None]:
    """The page that guide/ui/NAME.py draws; its module is loaded when it is asked for, so that the first comes soon."""

    def draw() -> None:
        importlib.import_module(f"guide.ui.{name}").page()

    return draw


if __name__ == "__main__":
    main()
else:
    app = st.App(__file__, middleware=[Middleware(LoginGuard)])

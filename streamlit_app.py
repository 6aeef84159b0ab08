"""The dashboard: `streamlit run streamlit_app.py`, or `make dashboard`. Page list and start-up, nothing else.

Bundles are looked for in exported/, or in the folder that the environment variable CNC_EXPORTED names.
"""

from __future__ import annotations

import streamlit as st

from guide.ui import bundles


def main() -> None:
    """Draws the page that was asked for."""
    st.set_page_config(page_title="Guide", page_icon=":material/checklist:", layout="wide")
    pages = [
        st.Page(
            bundles.page, title="Learned procedures", icon=":material/checklist:", url_path="bundles", default=True
        ),
    ]
    st.navigation(pages).run()


if __name__ == "__main__":
    main()

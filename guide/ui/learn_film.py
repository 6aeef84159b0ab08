"""Filming demonstrations inside Learn: with the browser's camera, or with a phone that opens the same page."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

import streamlit as st

from guide.ui import live_html as html
from guide.ui.shell import LOCAL, is_open
from guide.ui.uploads import SUFFIXES

PARTS = tuple(Path(__file__).with_name(f"film.{kind}") for kind in ("html", "css", "js"))
FILMED = "film"  # in the address: the procedure that a phone films for
LOOK_S = 3.0  # between two looks whether a phone has sent a film


def draw(name: str, count: int) -> None:
    """The camera, and the way to film with a phone; `count` films are there already."""
    if not name:
        st.caption("Filming can begin once it has a name.")
        return
    with st.container(key="film"):
        _script()(data={"name": f"film {count + 1}"}, key="film_of_the_page")
    with st.expander("Film with a phone instead", icon=":material/smartphone:"):
        _draw_phone(name)


def _draw_phone(name: str) -> None:
    import segno

    if not is_open():
        st.markdown(
            "A phone can film for this page once the dashboard lets the network in: set a password "
            "(`python -m guide.ui.password`), then start it with `--server.address 0.0.0.0`."
        )
        return
    address = phone_address(str(st.context.url), name)
    st.html(html.phone(address, segno.make(address, error="l", micro=False).svg_data_uri(scale=4, border=2)))
    st.caption(
        "Its films come into the list below by themselves. Keep the phone still, hands and parts in the picture."
    )


def phone_address(page: str, name: str) -> str:
    """The address of this page for a phone: a browser on this machine may know only its local name.

    >>> phone_address("http://bench.example:8501/learn?x=1", "fit lamp")
    'http://bench.example:8501/learn?film=fit+lamp'
    """
    parts = urlsplit(page)
    place = parts.netloc
    if parts.hostname in LOCAL:
        from guide.serve.tls import address_on_the_network  # here: only who films with a phone needs it

        place = f"{address_on_the_network()}:{parts.port}" if parts.port else address_on_the_network()
    return urlunsplit((parts.scheme, place, "/learn", urlencode({FILMED: name}), ""))


def await_films(folder: Path, known: tuple[str, ...]) -> None:
    """Draws the page anew once a phone has sent a film."""
    st.fragment(_look, run_every=LOOK_S)(folder, known)


def _look(folder: Path, known: tuple[str, ...]) -> None:
    films = {one.name for one in folder.iterdir() if one.suffix.lower()[1:] in SUFFIXES} if folder.is_dir() else set()
    if {name for name in films if not name.startswith(".")} - {*known}:
        st.rerun(scope="app")


@functools.cache
def _script() -> Any:
    html_, css, js = (path.read_text(encoding="utf-8") for path in PARTS)
    return st.components.v2.component("guide_film", html=html_, css=css, js=js)

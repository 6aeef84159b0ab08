"""What all pages share: style sheet, login where a password is set, links, menu and step badges."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import streamlit as st

from guide.errors import InputError
from guide.ui.login import COOKIE
from guide.ui.password import HOW, current_login
from guide.ui.state.folders import HOW_TO_MAKE_ONE, HOW_TO_SEE_THE_DEMO, plain

LOCAL = ("localhost", "127.0.0.1", "::1")
STYLE = Path(__file__).with_name("shell.css")
MENU = Path(__file__).with_name("menu.js")


def require_login() -> None:
    """Stops a page whose login is over, for `LoginGuard` asks only when it is opened; says so where none is needed."""
    st.html(STYLE)
    try:
        login = current_login(os.environ)
    except InputError as error:
        st.error(plain(str(error)), icon=":material/lock:")
        st.stop()
    if login is None and is_open():
        st.warning(
            f"Anybody on this network can use this page: set a password, {plain(HOW)}", icon=":material/lock_open:"
        )
    if login is not None and not login.is_valid(st.context.cookies.get(COOKIE)):
        st.warning("Your login is over: reload the page to log in again.", icon=":material/lock:")
        st.stop()


def close_menu(page: str) -> None:
    """Closes the list of pages on a phone once one of them was chosen."""
    with st.container(key="menu"):
        _menu()(data={"page": page}, key="menu_of_the_page")


def page_link(name: str, words: str, icon: str) -> None:
    """A link to another page; `name` is its address, empty for the first page."""
    st.page_link(_linked(name), label=words, icon=icon)


def go_to(name: str, query: Mapping[str, str] | None = None, **chosen: object) -> None:
    """Opens another page, with what is `chosen` there; `name` is its address, empty for the first page."""
    for key, value in chosen.items():
        st.session_state[key] = value
    st.switch_page(_linked(name), query_params=query)


def tell_no_procedure(exported: Path, is_damaged: bool = False) -> None:
    """That nothing has been learned yet, or nothing that can be used, and how to come by a procedure."""
    lack = "no other procedure in {}" if is_damaged else "no procedure in {} yet"
    st.info(f"There is {lack.format(plain(str(exported)))}.")
    page_link("learn", "Learn from recordings of your own task", ":material/school:")
    st.markdown(HOW_TO_SEE_THE_DEMO)
    st.code(HOW_TO_MAKE_ONE, language=None)
    st.button("Look again", icon=":material/refresh:")


def badge(label: str, colour: str) -> str:
    """A step as a badge in its own colour, as HTML; `label` is escaped, `colour` must be one of ours.

    >>> badge("1 <b>fold</b>", "#5ea2ed")
    '<span class="guide-badge" style="background: #5ea2ed">1 &lt;b&gt;fold&lt;/b&gt;</span>'
    """
    return f'<span class="guide-badge" style="background: {colour}">{escape(" ".join(label.split()))}</span>'


def is_open() -> bool:
    """Whether the dashboard listens on more than this machine."""
    return (st.get_option("server.address") or "") not in LOCAL


def _linked(name: str) -> Any:
    return st.Page(_nothing, title=name or "Live", url_path=name, default=not name)


def _nothing() -> None:
    """In place of a page that is only linked to: its address identifies it."""


@functools.cache
def _menu() -> Any:
    return st.components.v2.component("guide_menu", js=MENU.read_text(encoding="utf-8"))

"""What all pages share: style sheet, login where a password is set, links, menu and step badges."""

from __future__ import annotations

import functools
import os
from html import escape
from pathlib import Path
from typing import Any

import streamlit as st

from guide.errors import InputError
from guide.ui.password import HOW, Login, PasswordHash, kept_line
from guide.ui.state.folders import HOW_LONG, HOW_TO_MAKE_ONE, plain

LOCAL = ("localhost", "127.0.0.1", "::1")
COOKIE = "guide_pass"
STYLE = Path(__file__).with_name("shell.css")
SCRIPT = Path(__file__).with_name("login.js")
MENU = Path(__file__).with_name("menu.js")


def require_login() -> None:
    """Stops the page for anybody who is not logged in; without a password everybody is let in."""
    st.html(STYLE)
    try:
        line = kept_line(os.environ)
        login = _login(line) if line else None
    except InputError as error:
        st.error(plain(str(error)), icon=":material/lock:")
        st.stop()
    if login is None:
        if is_open():
            st.warning(
                f"Anybody on this network can use this page: set a password, {plain(HOW)}", icon=":material/lock_open:"
            )
        return
    if st.session_state.get("pass") is None and login.is_valid(st.context.cookies.get(COOKIE)):
        st.session_state["pass"] = st.context.cookies[COOKIE]
    if not login.is_valid(st.session_state.get("pass")):
        _ask(login)
        st.stop()
    if st.context.cookies.get(COOKIE) != st.session_state["pass"]:  # else the browser keeps it already
        with st.container(key="login"):
            _keep()(data={"handed": st.session_state["pass"]}, key="login_of_the_page")


def close_menu(page: str) -> None:
    """Closes the list of pages on a phone once one of them was chosen."""
    with st.container(key="menu"):
        _menu()(data={"page": page}, key="menu_of_the_page")


def page_link(name: str, words: str, icon: str) -> None:
    """A link to another page; `name` is its address, empty for the first page."""
    page = st.Page(_nothing, title=words, icon=icon, url_path=name, default=not name)
    st.page_link(page, label=words, icon=icon)


def tell_no_procedure(exported: Path) -> None:
    """That nothing has been learned yet, and how to come by a procedure."""
    st.info(f"There is no procedure in {plain(str(exported))} yet. To see one, run this in a terminal:")
    st.code(HOW_TO_MAKE_ONE, language="bash")
    st.markdown(HOW_LONG)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Look again", icon=":material/refresh:")
        page_link("learn", "Learn from recordings of your own task", ":material/school:")


def badge(label: str, colour: str) -> str:
    """A step as a badge in its own colour, as HTML; `label` is escaped, `colour` must be one of ours.

    >>> badge("1 <b>fold</b>", "#5ea2ed")
    '<span class="guide-badge" style="background: #5ea2ed">1 &lt;b&gt;fold&lt;/b&gt;</span>'
    """
    return f'<span class="guide-badge" style="background: {colour}">{escape(" ".join(label.split()))}</span>'


def is_open() -> bool:
    """Whether the dashboard listens on more than this machine."""
    return (st.get_option("server.address") or "") not in LOCAL


def _ask(login: Login) -> None:
    st.header("CnC Guide")
    with st.form("login_form"):
        given = st.text_input("Password", type="password", autocomplete="current-password")
        if st.form_submit_button("Log in", type="primary"):
            handed = login.log_in(given or "", st.context.ip_address or "")
            if handed is not None:
                st.session_state["pass"] = handed
                st.rerun()
            st.error("Wrong password.")


def _nothing() -> None:
    """In place of a page that is only linked to: its address identifies it."""


@st.cache_resource(show_spinner=False)
def _login(line: str) -> Login:
    return Login(PasswordHash.read(line))


@functools.cache
def _keep() -> Any:
    return st.components.v2.component("guide_login", js=SCRIPT.read_text(encoding="utf-8"))


@functools.cache
def _menu() -> Any:
    return st.components.v2.component("guide_menu", js=MENU.read_text(encoding="utf-8"))

"""What all pages share before they are drawn: the password, if one is set, and a word on who can reach them."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any

import streamlit as st

from guide.errors import InputError
from guide.ui.password import HOW, Door, PasswordHash, kept_line
from guide.ui.state.folders import plain

LOCAL = ("localhost", "127.0.0.1", "::1")
COOKIE = "guide_pass"
STYLE = Path(__file__).with_name("shell.css")
SCRIPT = Path(__file__).with_name("door.js")
MENU = Path(__file__).with_name("menu.js")


def enter() -> None:
    """Goes on only for who may come in; without a password everybody who reaches the page may."""
    st.html(STYLE)
    try:
        line = kept_line(os.environ)
        door = _door(line) if line else None
    except InputError as error:
        st.error(plain(str(error)), icon=":material/lock:")
        st.stop()
    if door is None:
        if is_open():
            st.warning(
                f"Anybody on this network can use this page: set a password, {plain(HOW)}", icon=":material/lock_open:"
            )
        return
    if st.session_state.get("pass") is None and door.knows(st.context.cookies.get(COOKIE)):
        st.session_state["pass"] = st.context.cookies[COOKIE]
    if not door.knows(st.session_state.get("pass")):
        _ask(door)
        st.stop()
    if st.context.cookies.get(COOKIE) != st.session_state["pass"]:  # else the browser keeps it already
        with st.container(key="door"):
            _keep()(data={"handed": st.session_state["pass"]}, key="door_of_the_page")


def close_menu(page: str) -> None:
    """On a phone the list of pages goes away once one of them was chosen."""
    with st.container(key="menu"):
        _menu()(data={"page": page}, key="menu_of_the_page")


def lead_to(name: str, words: str, icon: str) -> None:
    """A link to another page: `name` is its address, and nothing is the first page's."""
    page = st.Page(_nothing, title=words, icon=icon, url_path=name, default=not name)
    st.page_link(page, label=words, icon=icon)


def is_open() -> bool:
    """Whether the dashboard listens on more than this machine."""
    return (st.get_option("server.address") or "") not in LOCAL


def _ask(door: Door) -> None:
    st.header("CnC Guide")
    with st.form("door_form"):
        given = st.text_input("Password", type="password", autocomplete="current-password")
        if st.form_submit_button("Come in", type="primary"):
            handed = door.enter(given or "", st.context.ip_address or "")
            if handed is not None:
                st.session_state["pass"] = handed
                st.rerun()
            st.error("That was not it.")


def _nothing() -> None:
    """In place of a page that is only led to: its address is what tells it."""


@st.cache_resource(show_spinner=False)
def _door(line: str) -> Door:
    return Door(PasswordHash.read(line))


@functools.cache
def _keep() -> Any:
    return st.components.v2.component("guide_door", js=SCRIPT.read_text(encoding="utf-8"))


@functools.cache
def _menu() -> Any:
    return st.components.v2.component("guide_menu", js=MENU.read_text(encoding="utf-8"))

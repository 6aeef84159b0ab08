"""The page of the recorded sessions: find one, replay it, compare two, count over many, export, keep, delete."""

from __future__ import annotations

import os
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import streamlit as st

from guide.errors import GuideError
from guide.record.keeping import Keeping, read_keeping
from guide.record.page import clock
from guide.record.values import STATE_WORDS
from guide.ui import sessions_many, sessions_replay
from guide.ui.server import data_folder
from guide.ui.shell import page_link
from guide.ui.state import sessions as state
from guide.ui.state.folders import plain
from guide.ui.state.sessions import SessionListFilter, SessionRow
from guide.words import count_of

ANY = "any"
PERIODS = {"any time": 0, "today": 1, "last 7 days": 7, "last 30 days": 30}
CUSTOM = "between two days"
ALERTS = {ANY: None, "with alerts": True, "without alerts": False}
LIST, REPLAY, COMPARE, COUNT, KEEP = "List", "Replay", "Compare two", "Over many", "Keep and delete"
VIEWS = (LIST, REPLAY, COMPARE, COUNT, KEEP)
MOST_DAYS = 3650
MOST_ROWS, HEIGHT_PX, ROW_PX = 8, 520, 56
MOST_PICTURES = 200  # of the newest sessions
VERDICT_PX = 220  # in two lines, and seen whole beside the picture on a phone


def page() -> None:
    """Draws the page for the folder that the environment names."""
    draw(data_folder(os.environ))


def draw(folder: Path) -> None:
    """Draws the sessions that lie in `folder`."""
    st.header("Sessions")
    try:
        rows = state.list_sessions(folder)
    except GuideError as error:
        st.error(plain(str(error)), icon=":material/error:")
        st.button("Look again", icon=":material/refresh:")
        return
    if not rows:
        _tell_empty(folder)
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        view = _ask_view()
        words = st.text_input(
            "Search", key="sessions_words", placeholder="Search", label_visibility="collapsed", width=200,
            help="Words of the procedure, person, source, day, verdict or kind of alert.",
        )  # fmt: skip
        with st.popover("Filter", icon=":material/filter_alt:", help="By procedure, person, day and kind of alert."):
            wanted = replace(_ask_filter(rows), words=words or "")
        found = tuple(row for row in rows if wanted.fits(row))
        st.caption(f"{len(found)} of {count_of(len(rows), 'session')}", width="content")
    if not found:
        st.info(
            "No session matches: search for less, or choose *any* in one of the filter's fields.",
            icon=":material/filter_alt_off:",
        )
        return
    try:
        if view == COMPARE:
            sessions_many.draw_comparison(folder, found)
        elif view == COUNT:
            sessions_many.draw_counts(folder, found)
        elif view == KEEP:
            _draw_keeping(folder, found, rows)
        elif view == REPLAY:
            sessions_replay.draw(folder, found)
        else:
            _draw_list(folder, found)
    except GuideError as error:
        st.error(plain(str(error)), icon=":material/error:")


def _tell_empty(folder: Path) -> None:
    st.info(
        f"Nothing was recorded in {plain(str(folder))} yet. Play the demo on the page Live, or guide somebody there: "
        "every session is kept here. Or record in a terminal:",
        icon=":material/videocam_off:",
    )
    st.code(state.HOW_TO_RECORD, language=None, wrap_lines=True)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Look again", icon=":material/refresh:")
        page_link("", "Go to Live", ":material/play_circle:")


def _ask_view() -> str:
    """The view to draw; a click on a row of the list asks for the replay."""
    wanted = st.session_state.pop("sessions_next", None)
    if wanted is not None or "sessions_view" not in st.session_state:
        st.session_state["sessions_view"] = wanted or LIST
    return st.segmented_control("View", VIEWS, label_visibility="collapsed", required=True, key="sessions_view") or LIST


def _ask_filter(rows: Sequence[SessionRow]) -> SessionListFilter:
    people, bundles = sorted({row.who for row in rows}), sorted({row.bundle_name for row in rows})
    who = st.selectbox("Person", [ANY, *people], key="sessions_person")
    what = st.selectbox("Procedure", [ANY, *bundles], key="sessions_bundle")
    when = st.selectbox("When", [*PERIODS, CUSTOM], key="sessions_period")
    since, until = _ask_days(rows) if when == CUSTOM else (_since(PERIODS[when]), None)
    has = st.selectbox("Alerts", list(ALERTS), key="sessions_alerts")
    how = st.selectbox(
        "State", [ANY, *state.STATES], format_func=lambda name: STATE_WORDS.get(name, name), key="sessions_state"
    )
    return SessionListFilter(
        None if who == ANY else who,
        None if what == ANY else what,
        since,
        until,
        ALERTS[has],
        next((one for one in state.STATES if one == how), None),
    )


def _since(days: int) -> date | None:
    return state.since_days(days, date.today()) if days else None


def _ask_days(rows: Sequence[SessionRow]) -> tuple[date, date]:
    first, last = st.columns(2)
    oldest = date.fromtimestamp(rows[-1].started)
    return first.date_input("From", oldest, key="sessions_since"), last.date_input("To", "today", key="sessions_until")


@st.cache_data(max_entries=MOST_PICTURES, show_spinner=False)
def _picture(folder: Path, session: str, changed_ns: int) -> str | None:
    """The thumbnail as an address, made anew when pictures came or went."""
    data = state.thumbnail(folder, session)
    return None if data is None else f"data:image/jpeg;base64,{b64encode(data).decode()}"


def _changed_ns(folder: Path) -> int:
    try:
        return folder.stat().st_mtime_ns
    except OSError:  # its files are gone
        return 0


def _draw_list(folder: Path, found: Sequence[SessionRow]) -> None:
    """The table; a click on a row replays the session."""
    st.caption("Click a session to replay it.")
    chosen = st.dataframe(
        [
            {
                "picture": _picture(folder, row.id, _changed_ns(folder / row.id)) if place < MOST_PICTURES else None,
                "verdict": row.ended,
                "began": row.when,
                "alerts": f"{row.alerts}: {', '.join(row.kinds)}" if row.alerts else "none",
                "person": row.who,
                "procedure": row.bundle_name,
                "watched": row.source_name,
                "length": clock(row.length_s),
            }
            for place, row in enumerate(found)
        ],
        hide_index=True,
        row_height=ROW_PX,
        column_config={
            "picture": st.column_config.ImageColumn("", width=80),
            "verdict": st.column_config.TextColumn(width=VERDICT_PX),
        },
        height="content" if len(found) <= MOST_ROWS else HEIGHT_PX,
        on_select="rerun",
        selection_mode=["single-row", "single-cell"],  # a row is chosen by its box alone, a cell anywhere
        key="sessions_table",
    )
    rows = chosen.selection.rows or [row for row, _ in chosen.selection.cells]
    if rows and rows[0] < len(found):
        st.session_state["sessions_chosen"] = found[rows[0]].id
        st.session_state["sessions_next"] = REPLAY
        st.rerun()


def _draw_keeping(folder: Path, found: Sequence[SessionRow], rows: Sequence[SessionRow]) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        _draw_retention(folder, rows)
    with right:
        _draw_delete(folder, found)


def _draw_retention(folder: Path, rows: Sequence[SessionRow]) -> None:
    st.markdown("##### What is kept")
    st.caption("Video, stills and replay data go after these days, or when all sessions take more room; 0 is no limit.")
    now = read_keeping(folder) or Keeping()
    with st.container(horizontal=True):
        days = int(st.number_input("Days", 0, MOST_DAYS, int(now.keep_days), key="sessions_days", width=160))
        room = float(st.number_input("Gigabytes", 0.0, 1e5, now.keep_gb, 1.0, "%g", key="sessions_gb", width=160))
    pictures = st.toggle("Store pictures of new sessions", now.pictures, key="sessions_pictures")
    lost = state.count_over(rows, days, time.time())
    if lost:
        words = f"{lost} session{'s are' if lost > 1 else ' is'} older than that: their pictures go at once."
        st.warning(words, icon=":material/warning:")
    hint = "From now on; what is older or too much goes at once."
    if st.button("Keep it so", icon=":material/auto_delete:", help=hint):
        gone = state.set_keeping(folder, Keeping(days, room, pictures))
        words = f"of {gone} session{'' if gone == 1 else 's'} were deleted" if gone else "of no session were deleted"
        new = "Sessions that begin from now on are kept so" if pictures else "From now on no session stores pictures"
        st.success(f"Pictures {words}. {new}.")


def _draw_delete(folder: Path, found: Sequence[SessionRow]) -> None:
    st.markdown("##### Delete sessions")
    ended = [row for row in found if row.state != "open"]
    alike = Counter(row.title for row in ended)  # a field knows its choices by their words alone
    titles = {row.id: f"{row.title}, {row.id[-4:]}" if alike[row.title] > 1 else row.title for row in ended}
    replayed = st.session_state.get("sessions_replayed")
    if "sessions_delete" not in st.session_state:
        st.session_state["sessions_delete"] = [replayed] if replayed in titles else []
    st.session_state["sessions_delete"] = [name for name in st.session_state["sessions_delete"] if name in titles]
    names = st.multiselect("Sessions", list(titles), format_func=titles.__getitem__, key="sessions_delete")
    with st.container(horizontal=True):
        st.button(f"Choose all found ({len(titles)})", icon=":material/select_all:", disabled=len(names) == len(titles),
                  on_click=_choose_all, args=(list(titles),))  # fmt: skip
        if st.button("Delete …", icon=":material/delete:", disabled=not names, help="You are asked once more."):
            st.session_state["sessions_doomed"] = names
    if not names or st.session_state.get("sessions_doomed") != names:
        return
    what = count_of(len(names), "session")
    st.warning(f"Video, stills, steps, alerts and actions of {what} will be gone for good.", icon=":material/warning:")
    with st.container(horizontal=True):
        if st.button(f"Yes, delete {what}", type="primary", icon=":material/delete_forever:"):
            st.session_state.pop("sessions_doomed")
            state.delete(folder, *names)
            st.rerun()
        if st.button("Keep them"):
            st.session_state.pop("sessions_doomed")
            st.rerun()


def _choose_all(names: list[str]) -> None:
    st.session_state["sessions_delete"] = names

"""The page of the fleet: every running session with its replica, and the alerts of all workplaces in one list."""

from __future__ import annotations

import os
from pathlib import Path

import streamlit as st

from guide.errors import GuideError
from guide.procedure.wording import ANSWERS
from guide.ui.client import Client, NoSessionError
from guide.ui.server import data_folder, read_note
from guide.ui.state.fleet import FleetAlert, FleetFilter, FleetRow, fleet_alerts, fleet_rows, open_sessions
from guide.ui.state.folders import plain

VARIABLE = "CNC_FLEET"
EVERY_S = 2.0
MOST_ALERTS = 50
SIGNS = {"alarm": ":material/error: alarm", "warning": ":material/warning: warning", "info": ":material/info: note"}


def page() -> None:
    """Draws the fleet whose gateway wrote the file that CNC_FLEET names."""
    draw(Path(os.environ[VARIABLE]), data_folder(os.environ))


def draw(note: Path, folder: Path) -> None:
    """Draws the fleet, and anew every few seconds."""
    st.header("Fleet")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        searched = "headset, person, procedure, step, replica"
        words = st.text_input("Search", key="fleet_words", placeholder=searched, width=340)
        has_alerts = st.toggle("With alerts", key="fleet_alerts")
        is_troubled = st.toggle("In trouble", key="fleet_troubled")
    _show(note, folder, FleetFilter(words, has_alerts, is_troubled))


@st.fragment(run_every=EVERY_S)
def _show(note: Path, folder: Path, wanted: FleetFilter) -> None:
    client = read_note(note)
    if client is None:
        st.error(f"No fleet answers: start one with `python -m guide serve --fleet --note {plain(str(note))}`.")
        return
    try:
        sessions, replicas = client.sessions(), _replicas(client)
    except GuideError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return
    rows = fleet_rows(sessions, replicas, open_sessions(folder))
    answering = sum(bool(one["answers"]) for one in replicas)
    troubled = sum(row.health != "ok" for row in rows)
    st.caption(f"{len(rows)} sessions, {troubled} in trouble; {answering} of {len(replicas)} replicas answer")
    _draw_alerts(client, fleet_alerts(sessions))
    _draw_rows([row for row in rows if wanted.fits(row)], bool(rows))


def _replicas(client: Client) -> list[dict[str, object]]:
    try:
        return client.replicas()
    except NoSessionError:  # one plain server
        return [{"name": "this server", "answers": True}]


def _draw_alerts(client: Client, alerts: list[FleetAlert]) -> None:
    st.subheader(f"Alerts ({sum(not one.is_acknowledged for one in alerts)} to be dealt with)")
    if not alerts:
        st.caption("No alert stands anywhere.")
    words, meaning = ANSWERS["acknowledge"]
    for one in alerts[:MOST_ALERTS]:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"{SIGNS[one.severity]}: **{plain(one.title)}**, {plain(one.source)}", width="stretch")
            if one.is_acknowledged:
                st.caption("acknowledged", width="content")
            elif st.button(words, key=f"acknowledge_{one.session}_{one.id}", help=meaning):
                _acknowledge(client, one)
    if len(alerts) > MOST_ALERTS:
        st.caption(f"{len(alerts) - MOST_ALERTS} more.")


def _acknowledge(client: Client, alert: FleetAlert) -> None:
    try:
        client.act(alert.session, {"kind": "acknowledge", "target": alert.id})
    except GuideError as error:
        st.error(plain(str(error)), icon=":material/error:")
    else:
        st.rerun(scope="fragment")


def _draw_rows(rows: list[FleetRow], are_there_any: bool) -> None:
    st.subheader("Sessions")
    if not rows:
        words = "No session matches: search for less." if are_there_any else "No session runs: connect a headset."
        st.info(words, icon=":material/videocam_off:")
        return
    table = [
        {"Headset": row.source, "State": row.health, "Step": row.step, "Done": row.share, "Alerts": row.alerts,
         "Last picture": row.age_s, "Replica": row.replica, "Procedure": row.bundle, "Person": row.person,
         "Session": row.session}
        for row in rows
    ]  # fmt: skip
    st.dataframe(
        table, hide_index=True,
        column_config={
            "Done": st.column_config.ProgressColumn(format="percent"),
            "Last picture": st.column_config.NumberColumn(format="%.1f s ago"),
        },
    )  # fmt: skip

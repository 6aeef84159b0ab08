"""The fleet's sessions and alerts as its page shows them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from guide.domain import Alert
from guide.record.store import Store
from guide.record.values import SessionFacts
from guide.ui.state.fleet import FleetFilter, fleet_alerts, fleet_rows, open_sessions

LOST = "20300102-030405-00ff"


def session(name: str, **facts: Any) -> dict[str, Any]:
    """A session in brief, as a gateway tells of it."""
    return {"session": name, "state": "running", "source": f"headset:{name}", "person": "", "bundle": "demo",
            "step": {"name": "open case"}, "progress": {"share": 0.5}, "alerts": len(facts.get("standing", ())),
            "standing": [], "age_s": 0.2, "replica": "replica-1", **facts}  # fmt: skip


def alert(number: int, severity: str = "alarm", is_done: bool = False) -> dict[str, Any]:
    return {"id": number, "at": 4.0, "title": f"{severity} {number}", "severity": severity, "acknowledged": is_done}


SESSIONS = [
    session("calm"),
    session("alerted", standing=[alert(2, "warning"), alert(1)], replica="replica-2"),
    session("silent", age_s=7.0, standing=[alert(1, is_done=True)], person="shift 2"),
    session("cut off", replica="replica-3"),
    session("over", state="finished", standing=[alert(1)]),
]
REPLICAS = [{"name": f"replica-{number}", "answers": number < 3} for number in (1, 2, 3)]


def test_sessions_in_trouble_come_first_and_what_is_over_not_at_all() -> None:
    rows = fleet_rows(SESSIONS, REPLICAS)
    assert [(row.source, row.health) for row in rows] == [
        ("silent", "no pictures"),
        ("cut off", "replica does not answer"),
        ("alerted", "ok"),
        ("calm", "ok"),
    ]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (FleetFilter(), {"silent", "cut off", "alerted", "calm"}),
        (FleetFilter(words="SHIFT case"), {"silent"}),
        (FleetFilter(words="replica-2"), {"alerted"}),
        (FleetFilter(has_alerts=True), {"alerted", "silent"}),
        (FleetFilter(is_troubled=True), {"silent", "cut off"}),
        (FleetFilter(has_alerts=True, is_troubled=True), {"silent"}),
    ],
)
def test_filters(wanted: FleetFilter, found: set[str]) -> None:
    assert {row.source for row in fleet_rows(SESSIONS, REPLICAS) if wanted.fits(row)} == found


def test_alerts_of_all_sessions_are_one_list_the_gravest_first() -> None:
    told = [(one.source, one.title, one.is_acknowledged) for one in fleet_alerts(SESSIONS)]
    assert told == [("alerted", "alarm 1", False), ("alerted", "warning 2", False), ("silent", "alarm 1", True)]


def test_an_open_session_that_no_replica_runs_is_told(
    tmp_path: Path, records: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if records is not None:
        monkeypatch.setenv("CNC_RECORDS", records)
    with Store(tmp_path, records=records) as store:
        store.begin(SessionFacts(LOST, 1e9, source="headset:lost", bundle="/srv/demo"))
        store.write(LOST, [Alert(1, 4.0, "missed", 2, None, "alarm", "")], 1, 4.0, 1e9)
    (stored,) = open_sessions(tmp_path)
    rows = fleet_rows(SESSIONS, REPLICAS, [stored])
    (lost,) = [row for row in rows if row.health == "no replica"]
    assert (lost.session, lost.source, lost.bundle, lost.alerts, lost.age_s) == (LOST, "lost", "demo", 1, None)
    assert fleet_rows([session(LOST)], REPLICAS, [stored])[0].health == "ok", "it runs: the records are behind"


def test_without_records_nothing_is_told_of_them(tmp_path: Path) -> None:
    assert open_sessions(tmp_path) == ()

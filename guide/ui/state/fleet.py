"""What the page of the fleet shows: every running session with its replica, and all standing alerts in one list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from guide.errors import GuideError
from guide.record.shipping import find_address
from guide.record.sqlite import DATABASE
from guide.record.store import Store
from guide.record.values import SessionFilter, StoredSession
from guide.ui.state.folders import source_words

QUIET_S = 5.0
"""A session whose newest frame is older is named: its headset does not send."""

Plain = dict[str, Any]
Health = Literal["ok", "no pictures", "replica does not answer", "no replica"]


@dataclass(frozen=True, slots=True)
class FleetRow:
    """A session that runs, or should."""

    session: str
    source: str
    person: str
    bundle: str
    replica: str
    health: Health
    step: str
    share: float
    """Of the required steps that are done."""
    alerts: int
    age_s: float | None
    """Of the newest frame; None where nobody knows."""


@dataclass(frozen=True, slots=True)
class FleetAlert:
    """An alert that stands somewhere."""

    session: str
    id: int
    title: str
    source: str
    severity: str
    at: float
    is_acknowledged: bool


@dataclass(frozen=True, slots=True)
class FleetFilter:
    """Which sessions are wanted.

    >>> FleetFilter(words="Helmet").fits(FleetRow("s", "helmet 2", "", "demo", "replica-1", "ok", "", 0.0, 0, 0.1))
    True
    """

    words: str = ""
    has_alerts: bool = False
    is_troubled: bool = False

    def fits(self, row: FleetRow) -> bool:
        text = f"{row.source} {row.person} {row.bundle} {row.step} {row.replica} {row.session}".casefold()
        return (
            all(word in text for word in self.words.casefold().split())
            and (row.alerts > 0 or not self.has_alerts)
            and (row.health != "ok" or not self.is_troubled)
        )


def fleet_rows(
    sessions: Sequence[Plain], replicas: Sequence[Plain], stored: Sequence[StoredSession] = ()
) -> list[FleetRow]:
    """The running sessions, those in trouble first; open ones of the records that no replica runs are among them."""
    answering = {one["name"]: bool(one["answers"]) for one in replicas}
    running = [one for one in sessions if one["state"] == "running"]
    rows = [_row(one, answering) for one in running]
    known = {one["session"] for one in sessions}
    rows += [_left(one) for one in stored if one.id not in known]
    return sorted(rows, key=lambda row: (row.health == "ok", -row.alerts, row.source, row.session))


def fleet_alerts(sessions: Sequence[Plain]) -> list[FleetAlert]:
    """The alerts that stand in running sessions: those nobody acknowledged first, then the gravest."""
    found = [
        FleetAlert(
            one["session"], alert["id"], alert["title"], source_words(one["source"]), alert["severity"], alert["at"],
            alert["acknowledged"],
        )
        for one in sessions
        if one["state"] == "running"
        for alert in one["standing"]
    ]  # fmt: skip
    order = ("alarm", "warning", "info")
    return sorted(found, key=lambda one: (one.is_acknowledged, order.index(one.severity), one.source, one.id))


def open_sessions(folder: Path) -> tuple[StoredSession, ...]:
    """The sessions that the records hold for open, in either database; none where these cannot be read."""
    try:
        records = find_address(None)
        if records is None and not (folder / DATABASE).is_file():
            return ()
        with Store(folder, is_new=False, records=records) as store:
            return store.sessions(SessionFilter(state="open"))
    except GuideError:  # what runs is shown all the same
        return ()


def _row(one: Plain, answering: dict[str, bool]) -> FleetRow:
    replica, age_s = str(one.get("replica", "this server")), float(one["age_s"])
    health: Health = "ok"
    if not answering.get(replica, True):
        health = "replica does not answer"
    elif age_s > QUIET_S:
        health = "no pictures"
    step = one["step"]["name"] if one["step"] else ""
    return FleetRow(
        one["session"], source_words(one["source"]), one["person"], one["bundle"], replica, health, step,
        float(one["progress"]["share"]), int(one["alerts"]), age_s,
    )  # fmt: skip


def _left(one: StoredSession) -> FleetRow:
    facts, bundle = one.facts, Path(one.facts.bundle).name
    source = source_words(facts.source)
    return FleetRow(one.id, source, facts.person, bundle, "", "no replica", "", 0.0, one.alerts, None)

"""Follows whole recordings whose steps are known: demonstrations left out, and sequences to be checked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from guide.domain import UNKNOWN, Alert, Guidance, Resolution
from guide.procedure.model import Procedure
from guide.procedure.tracker import Tracker
from guide.procedure.visits import Visit


def follow(procedure: Procedure, visits: Iterable[Visit]) -> list[Guidance]:
    """All that is said about a recording; a step the procedure does not know is unknown activity."""
    tracker = Tracker(procedure)
    known = set(procedure.numbers)
    said: list[Guidance] = []
    for visit in visits:
        step = visit.step if visit.step in known else UNKNOWN
        said += tracker.push(step, visit.start)
        said += tracker.end(step, visit.start + visit.busy_s)
    return [*said, *tracker.finish()]


def standing_alerts(said: Iterable[Guidance]) -> list[Alert]:
    """The alerts that were not withdrawn, each once: as grave as it became, of the time when it was first told.

    >>> soft = Alert(1, 4.0, "missed", 2, None, "warning", "step 3 was begun")
    >>> standing_alerts([soft, replace(soft, at=9.0, severity="alarm")])[0].at
    4.0
    """
    alerts: dict[int, Alert] = {}
    for item in said:
        if isinstance(item, Alert):
            alerts[item.id] = replace(item, at=alerts.get(item.id, item).at)
        elif isinstance(item, Resolution) and item.is_withdrawn:
            alerts.pop(item.id, None)
    return list(alerts.values())

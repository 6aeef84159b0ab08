"""A report for other programs: CSV, WebVTT, and tiers for ELAN."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence

from guide.domain import Alert, Question
from guide.record.elan import UNFIT, Annotation, Tier
from guide.record.session_report import SessionReport
from guide.record.values import StoredAction

LEAST_S = 1.0
"""An alert is a moment; subtitles and annotations need a stretch."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def to_csv(report: SessionReport) -> str:
    """Steps, alerts, questions and actions in the order of time, a row each."""
    rows: list[tuple[float, tuple[object, ...]]] = []
    for visit in report.visits:
        rows.append((visit.start, ("step", visit.end, visit.name, "", round(visit.confidence, 3), "", "")))
    for story in report.alerts:
        end = story.resolution.at if story.resolution is not None else None
        rows.append(
            (story.raised_at, ("alert", end, story.name, story.alert.kind, story.outcome, "", story.alert.evidence))
        )
    for question in report.contents.questions:
        rows.append((question.at, ("question", None, report.name(question.step), "", "", "", question.text)))
    for action in report.actions:
        answer = {None: "", True: "yes", False: "no"}[action.answer]
        rows.append(
            (action.at, ("action", None, _step(report, action), action.kind, answer, action.person, action.comment))
        )
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(("start_s", "what", "end_s", "step", "kind", "outcome_or_confidence", "person", "text"))
    for start, row in sorted(rows, key=lambda entry: entry[0]):
        cells = [cell(value) for value in (round(start, 3), *row)]
        writer.writerow(cells)
    return table.getvalue()


def to_vtt(report: SessionReport) -> str:
    """Subtitles for the video: the step being done, and each alert for as long as it stands, at most ten seconds."""
    cues = [(visit.start, visit.end, visit.name) for visit in report.visits]
    for story in report.alerts:
        end = story.resolution.at if story.resolution is not None else report.length_s
        words = f"{story.alert.kind.replace('_', ' ')}: {story.name}"
        cues.append((story.raised_at, min(end, story.raised_at + 10.0), words))
    blocks = [
        f"{_stamp(start)} --> {_stamp(max(end, start + LEAST_S))}\n{_cue(text)}\n" for start, end, text in sorted(cues)
    ]
    return "\n".join(["WEBVTT\n", *blocks])


def to_tiers(report: SessionReport) -> tuple[Tier, ...]:
    """Steps, alerts and actions as tiers of annotations; what overlaps goes to a further tier, as ELAN wants it."""
    alerts = [
        (one.raised_at, one.resolution.at if one.resolution else one.raised_at, f"{one.alert.kind}: {one.name}")
        for one in report.alerts
    ]
    actions = [(one.at, one.at, f"{one.kind}: {one.comment}" if one.comment else one.kind) for one in report.actions]
    steps = [(visit.start, visit.end, visit.name) for visit in report.visits]
    return tuple(
        Tier(name if not number else f"{name} {number + 1}", tuple(lane))
        for name, found in (("steps", steps), ("alerts", alerts), ("actions", actions))
        for number, lane in enumerate(_lanes(found))
    )


def _step(report: SessionReport, action: StoredAction) -> str:
    """The step that an action is about, itself or by way of an alert or a question."""
    words: Sequence[Alert | Question] = (*report.contents.alerts, *report.contents.questions)
    told = [one.step for one in words if one.id == action.target and action.kind != "undo"]
    steps = told if action.step is None else [action.step]
    return report.name(steps[0]) if steps else ""


def _lanes(found: list[tuple[float, float, str]]) -> list[list[Annotation]]:
    """Stretches in as few rows as hold them without overlap, at least one; brief ones are drawn out where room is.

    ELAN lets no two annotations of a tier overlap.
    """
    rows = sorted((start, max(end, start), text) for start, end, text in found)
    starts = [start for start, _, _ in rows]
    lanes: list[list[Annotation]] = [[]]
    for start, end, text in rows:
        following = next((later for later in starts if later > start), math.inf)
        drawn = max(end, min(start + LEAST_S, following))
        lane = next((lane for lane in lanes if not lane or lane[-1].end <= start), None)
        if lane is None:
            lanes.append(lane := [])
        lane.append(Annotation(start, drawn, UNFIT.sub("\N{REPLACEMENT CHARACTER}", text)))
    return lanes


def cell(value: object) -> object:
    """A value for a table: spreadsheets run what begins like a formula, so such a text gets an apostrophe in front.

    >>> cell("=1+1"), cell(0.12345), cell(None)
    ("'=1+1", 0.123, '')
    """
    if isinstance(value, str) and value.startswith(_FORMULA):
        return "'" + value
    return round(value, 3) if isinstance(value, float) else "" if value is None else value


def _stamp(seconds: float) -> str:
    milliseconds = round(seconds * 1000)
    minutes, rest = divmod(milliseconds, 60_000)
    return f"{minutes // 60:02d}:{minutes % 60:02d}:{rest // 1000:02d}.{rest % 1000:03d}"


def _cue(text: str) -> str:
    """A line of a cue: no tags, no arrow, no line ends, which would end the cue."""
    plain = re.sub(r"\s+", " ", text).strip() or "…"
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

"""What the Sessions page shows, as plain values: the list, one session for replay, and its exports."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, get_args

import av

from guide.commands.report import read_report, read_stills
from guide.errors import GuideError
from guide.ingest.files import open_video
from guide.procedure.wording import ACTION_WORDS, ANSWERS, TITLES, title_of
from guide.record import shipping
from guide.record.elan import to_elan
from guide.record.keeping import Keeping, write_keeping
from guide.record.page import MARKS, clock, to_html
from guide.record.retention import drop_old_pictures
from guide.record.session_report import AlertHistory, SessionReport, taken_back, to_plain
from guide.record.sqlite import DATABASE
from guide.record.store import DAY_S, Store
from guide.record.tables import to_csv, to_tiers, to_vtt
from guide.record.timeline import colour
from guide.record.values import STATE_WORDS, SessionState, StoredPicture, StoredSession
from guide.serve.picture import decode
from guide.teach.moments import to_jpeg
from guide.ui.state.folders import source_words
from guide.words import sentence

HOW_TO_RECORD = "python -m guide watch SOURCE --bundle exported/NAME --record"
LEAD_S = 3.0
"""An alert is shown from this long before it was raised."""
LARGEST_VIDEO_BYTES = 1024 * 2**20
"""What a page may load: the server holds the video in memory while it is shown."""
NOBODY = "not given"
USUAL_ASPECT = 4 / 3

ExportKind = Literal["html", "csv", "json", "vtt", "eaf"]
EXPORTS: Mapping[ExportKind, tuple[str, str]] = {
    "html": ("report.html", "text/html"),
    "csv": ("session.csv", "text/csv"),
    "json": ("session.json", "application/json"),
    "vtt": ("session.vtt", "text/vtt"),
    "eaf": ("session.eaf", "application/xml"),
}
STATES: tuple[SessionState, ...] = get_args(SessionState)


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session in the list.

    >>> SessionRow("20300102-030405-00ff", 0.0, "", "exported/demo", "1f2e", 83.0, 2, "finished").bundle_name
    'demo'
    """

    id: str
    started: float
    person: str
    bundle: str
    version: str
    length_s: float
    alerts: int
    state: SessionState
    source: str = ""
    kinds: tuple[str, ...] = ()
    """The kinds of alerts that were raised and not withdrawn, in words."""
    verdict: str = ""
    """How it ended, where that was judged."""

    @property
    def bundle_name(self) -> str:
        return Path(self.bundle).name

    @property
    def source_name(self) -> str:
        """What was watched; of a file only its name."""
        return self.source if "://" in self.source else Path(source_words(self.source)).name

    @property
    def who(self) -> str:
        return self.person or NOBODY

    @property
    def ended(self) -> str:
        """How it ended, in words; of one that was not judged, whether it goes on or was cut off."""
        return self.verdict or STATE_WORDS[self.state]

    @property
    def when(self) -> str:
        return datetime.fromtimestamp(self.started).strftime("%Y-%m-%d %H:%M:%S")

    @property
    def title(self) -> str:
        """The session in a line, for choosing it."""
        alerts = f"{self.alerts} alert{'' if self.alerts == 1 else 's'}"
        parts = [self.bundle_name, "" if self.who == NOBODY else self.who, clock(self.length_s), alerts]
        return f"{self.when}  {', '.join(part for part in parts if part)}"


@dataclass(frozen=True, slots=True)
class SessionListFilter:
    """Which sessions are wanted; what is left out does not matter. Days are those of the place of the machine.

    >>> SessionListFilter(has_alerts=True).fits(SessionRow("20300102-030405-00ff", 0.0, "", "", "", 1.0, 0, "finished"))
    False
    """

    person: str | None = None
    bundle: str | None = None
    since: date | None = None
    until: date | None = None
    has_alerts: bool | None = None
    state: SessionState | None = None
    words: str = ""
    """Words that the session's line holds, in any order."""

    def fits(self, row: SessionRow) -> bool:
        line = " ".join((row.title, row.source_name, row.ended, *row.kinds)).casefold()
        day = datetime.fromtimestamp(row.started).date()
        return (
            self.person in (None, row.who)
            and self.bundle in (None, row.bundle_name)
            and (self.since is None or self.since <= day)
            and (self.until is None or day <= self.until)
            and self.has_alerts in (None, row.alerts > 0)
            and self.state in (None, row.state)
            and all(word in line for word in self.words.casefold().split())
        )


@dataclass(frozen=True, slots=True)
class ClipView:
    """A part of the video: its file, when in the session it begins and ends, and its width over its height."""

    path: Path
    start: float
    end: float
    aspect: float = USUAL_ASPECT


@dataclass(frozen=True, slots=True)
class ReplayView:
    """A session ready to replay; `blocks` and `alerts` are what the track draws, as plain values for the browser."""

    row: SessionRow
    report: SessionReport
    clips: tuple[ClipView, ...]
    blocks: tuple[dict[str, Any], ...]
    alerts: tuple[dict[str, Any], ...]
    stills: Mapping[str, bytes]
    why_no_video: str

    @property
    def standing(self) -> str:
        """How many alerts were raised and how many of them withdrawn, in words."""
        gone = sum(alert["is_gone"] for alert in self.alerts)
        return f"{len(self.alerts)} raised{f', {gone} withdrawn' if gone else ''}"

    @property
    def unanswered(self) -> tuple[str, ...]:
        """The questions that nobody answered, with when they were asked."""
        return tuple(f"{clock(one.at)} {one.text}" for one in self.report.unanswered)

    @property
    def cut_off(self) -> str:
        """How a session ended that was cut off."""
        noted = [one.note.removeprefix("cut_off: ") for one in self.report.notes if one.note.startswith("cut_off: ")]
        words = noted[-1] if noted else "this session was cut off: its end was not judged."
        return f"{words[:1].upper()}{words[1:]} It is left out of Over many."

    def part(self, at: float) -> int:
        """The place of the clip that shows the moment, or of the one nearest to it."""
        return min(range(len(self.clips)), key=lambda place: _distance(self.clips[place], at), default=0)


def opened(folder: Path) -> AbstractContextManager[Store]:
    """The store of `folder`, sessions of dead processes closed; raises InputError where there is none."""
    return shipping.opened(folder, shipping.find_address(None))


def has_sessions(folder: Path) -> bool:
    """Whether anything was ever recorded there, or may lie in the database that the environment names."""
    return (folder / DATABASE).is_file() or shipping.find_address(None) is not None


def list_sessions(folder: Path) -> tuple[SessionRow, ...]:
    """Every session, the newest first; pictures whose days are over are deleted on the way."""
    if not has_sessions(folder):
        return ()
    with opened(folder) as store:
        drop_old_pictures(store, time.time())
        kinds = store.alert_kinds()
        return tuple(_row(one, kinds.get(one.id, set())) for one in reversed(store.sessions()))


def thumbnail(folder: Path, session: str) -> bytes | None:
    """A small JPEG of a session: of its first alert, else of a step in its middle; none where it has no pictures."""
    stills = sorted((folder / session).glob("still-*.jpg"), key=lambda path: (len(path.name.split("-")[1]), path.name))
    chosen = next((path for path in stills if "-alert-" in path.name), stills[len(stills) // 2] if stills else None)
    try:
        return None if chosen is None else to_jpeg(decode(chosen.read_bytes()))
    except (OSError, GuideError):  # it was deleted meanwhile, or is damaged
        return None


def _row(stored: StoredSession, kinds: Collection[str] = ()) -> SessionRow:
    facts = stored.facts
    return SessionRow(
        stored.id,
        facts.started,
        facts.person,
        facts.bundle,
        facts.bundle_hash,
        stored.at,
        stored.alerts,
        stored.state,
        facts.source,
        tuple(words for kind, words in TITLES.items() if kind in kinds),
        stored.verdict,
    )


def read_reports(folder: Path, names: Iterable[str]) -> tuple[SessionReport, ...]:
    """The reports of some sessions, in their order; one that was deleted meanwhile is left out."""
    with opened(folder) as store:
        known = {one.id: one for one in store.sessions()}
        return tuple(read_report(store, known[name]) for name in names if name in known)


def view_replay(folder: Path, name: str) -> ReplayView:
    """One session with its track, alerts and video, as far as there is one; raises InputError where it is gone."""
    with opened(folder) as store:
        stored = store.find(name)
        report = read_report(store, stored)
        place = store.place(stored.id)
        away = store.fetch_pictures(stored.id)
    stills = read_stills(report, place)
    clips, why = _clips(report, place)
    return ReplayView(_row(stored), report, clips, blocks(report), _alerts(report), stills, away or why)


def _clips(report: SessionReport, place: Path) -> tuple[tuple[ClipView, ...], str]:
    """The parts of the video that can be shown, and in words why there is none."""
    starts = [clip.at for clip in report.clips]
    ends = [*starts[1:], report.length_s][: len(starts)]
    found = [
        ClipView(place / clip.file, clip.at, max(end, clip.at), _aspect(place / clip.file))
        for clip, end in zip(report.clips, ends, strict=True)
        if _is_there(clip, place)
    ]
    fitting = tuple(clip for clip in found if clip.path.stat().st_size <= LARGEST_VIDEO_BYTES)
    if fitting:
        return fitting, ""
    if found:
        return (), f"The video is too large for this page: open {found[0].path} in a video player."
    if report.clips:
        return (), "The video of this session is gone: somebody deleted it. Steps, alerts and actions are here."
    return (), (
        "There is no video of this session: it was recorded without one, or the video was deleted after the days set. "
        "Steps, alerts and actions are here."
    )


def _aspect(path: Path) -> float:
    try:
        with open_video(str(path)) as container:
            video = container.streams.video[0]
            return float(video.width / video.height)
    except (av.FFmpegError, OSError, IndexError, ZeroDivisionError):  # it is shown all the same, as far as it plays
        return USUAL_ASPECT


def _is_there(clip: StoredPicture, place: Path) -> bool:
    return Path(clip.file).name == clip.file and (place / clip.file).is_file()


def _distance(clip: ClipView, at: float) -> float:
    return max(clip.start - at, at - clip.end, 0.0)


def blocks(report: SessionReport) -> tuple[dict[str, Any], ...]:
    """The steps that were done, in the order of time: number, name, start, end and colour."""
    return tuple(
        {
            "step": visit.step,
            "name": visit.name,
            "start": round(visit.start, 3),
            "end": round(visit.end, 3),
            "seconds": round(visit.seconds, 1),
            "colour": colour(visit.step),
        }
        for visit in report.visits
    )


def _alerts(report: SessionReport) -> tuple[dict[str, Any], ...]:
    return tuple(_alert(report, story) for story in sorted(report.alerts, key=lambda story: story.raised_at))


def _answers(report: SessionReport, alert: int) -> str:
    """What people said of an alert and did not take back, with their comments, in words."""
    back, said = taken_back(report.actions), dict[str, list[str]]()
    for one in report.actions:
        if one.target == alert and one.kind in ANSWERS and one.number not in back:
            said.setdefault(one.kind, []).extend([f"“{one.comment}”"] if one.comment else [])
    return "; ".join(
        f"{ACTION_WORDS[kind].lower()}{': ' if comments else ''}{', '.join(comments)}"
        for kind, comments in said.items()
    )


def _alert(report: SessionReport, story: AlertHistory) -> dict[str, Any]:
    alert, answers = story.alert, _answers(report, story.alert.id)
    ended = "" if story.resolution is None else f" at {clock(story.resolution.at)}"
    return {
        "id": alert.id,
        "at": round(story.raised_at, 3),
        "clock": clock(story.raised_at),
        "mark": MARKS.get(alert.severity, "●"),
        "severity": alert.severity,
        "words": title_of(alert.kind, story.name),
        "evidence": sentence(alert.evidence),
        "outcome": f"{story.outcome}{ended}{f'; {answers}' if answers else ''}",
        "is_gone": story.outcome == "withdrawn",
        "still": story.still or "",
    }


def export(view: ReplayView, kind: ExportKind) -> bytes:
    """The session as a file for other programs."""
    return export_report(view.report, kind, view.stills)


def export_report(report: SessionReport, kind: ExportKind, stills: Mapping[str, bytes]) -> bytes:
    """A report as HTML, CSV, JSON, WebVTT or ELAN."""
    if kind == "html":
        return to_html(report, stills).encode()
    if kind == "csv":
        return to_csv(report).encode()
    if kind == "vtt":
        return to_vtt(report).encode()
    if kind == "eaf":
        return to_elan(to_tiers(report), report.clips[0].file if report.clips else None).encode()
    return (json.dumps(to_plain(report), ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode()


def delete(folder: Path, *names: str) -> None:
    """Deletes sessions with all that belongs to them; raises InputError at one that is being recorded."""
    with opened(folder) as store:
        for name in names:
            store.delete(store.find(name).id)


def set_keeping(folder: Path, keeping: Keeping) -> int:
    """Remembers what is kept of new sessions, and for how long of those that are there.

    Gives how many of them lost their pictures at once.
    """
    write_keeping(folder, keeping)
    if not has_sessions(folder):
        return 0
    with opened(folder) as store:
        store.keep_pictures(keeping.keep_days or None)
        return len(drop_old_pictures(store, time.time(), keeping.most_bytes))


def count_over(rows: Iterable[SessionRow], days: float, now: float) -> int:
    """How many sessions began more than `days` before `now`: their pictures would go at once."""
    return 0 if not days else sum(row.state != "open" and row.started + days * DAY_S < now for row in rows)


def since_days(days: int, today: date) -> date:
    """The first of the last `days` days.

    >>> since_days(7, date(2030, 1, 8))
    datetime.date(2030, 1, 2)
    """
    return today - timedelta(days=days - 1)

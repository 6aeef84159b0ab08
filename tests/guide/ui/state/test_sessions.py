"""What the Sessions page shows: rows and filters, one session for replay, exports, keeping and deleting."""

from __future__ import annotations

import csv
import io
import json
from datetime import date
from pathlib import Path
from xml.etree import ElementTree

import pytest

from guide.domain import Question, Resolution
from guide.errors import InputError
from guide.record.keeping import Keeping, read_keeping
from guide.record.page import about
from guide.record.store import Store
from guide.record.values import StoredAction
from guide.ui.state import sessions as state
from guide.ui.state.sessions import ExportKind, SessionListFilter, SessionRow
from tests.kept_sessions import ALERT_AT, FIRST, SECOND, keep_session
from tests.postgres import Cluster

HOSTILE = "<img src=x onerror=alert(1)>"
DAY = 86_400.0
STARTED = 1_893_500_000.0


def row(**changes: object) -> SessionRow:
    known = {"id": FIRST, "started": STARTED, "person": "shift 2", "bundle": "exported/box", "version": "1f2e"}
    return SessionRow(**{**known, "length_s": 20.0, "alerts": 1, "state": "finished", **changes})  # type: ignore[arg-type]


def test_nothing_recorded_gives_nothing_and_makes_nothing(tmp_path: Path) -> None:
    assert state.list_sessions(tmp_path / "sessions") == ()
    assert not (tmp_path / "sessions").exists()


def test_sessions_in_postgresql_are_listed_replayed_counted_and_deleted(
    tmp_path: Path, postgres: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CNC_RECORDS", postgres.database())
    assert state.list_sessions(tmp_path) == ()
    keep_session(tmp_path)
    keep_session(tmp_path, SECOND, has_video=False)
    assert [one.id for one in state.list_sessions(tmp_path)] == [SECOND, FIRST]
    view = state.view_replay(tmp_path, FIRST)
    assert (len(view.clips), view.standing) == (1, "2 raised, 1 withdrawn")
    assert [len(one.alerts) for one in state.read_reports(tmp_path, (FIRST, SECOND))] == [2, 2]
    assert state.set_keeping(tmp_path, Keeping(0.0)) == 0
    state.delete(tmp_path, FIRST)
    assert [one.id for one in state.list_sessions(tmp_path)] == [SECOND]
    assert not (tmp_path / FIRST).exists()


def test_the_newest_comes_first(tmp_path: Path) -> None:
    keep_session(tmp_path, FIRST)
    keep_session(tmp_path, SECOND, started=STARTED + DAY, person="", has_video=False)
    newest, oldest = state.list_sessions(tmp_path)
    assert (newest.id, newest.who, oldest.id, oldest.who) == (SECOND, "not given", FIRST, "shift 2")
    assert (oldest.alerts, oldest.bundle_name, oldest.length_s) == (1, "box", 20.0)
    assert "box, shift 2, 0:20, 1 alert" in oldest.title


@pytest.mark.parametrize(
    ("wanted", "is_wanted"),
    [
        (SessionListFilter(), True),
        (SessionListFilter(person="shift 2"), True),
        (SessionListFilter(person="shift 1"), False),
        (SessionListFilter(bundle="box"), True),
        (SessionListFilter(bundle="exported"), False),
        (SessionListFilter(since=date(2030, 1, 1)), True),
        (SessionListFilter(since=date(2031, 1, 1)), False),
        (SessionListFilter(until=date(2029, 1, 1)), False),
        (SessionListFilter(has_alerts=True, state="finished"), True),
        (SessionListFilter(has_alerts=False), False),
        (SessionListFilter(state="open"), False),
    ],
)
def test_filters(wanted: SessionListFilter, is_wanted: bool) -> None:
    assert wanted.fits(row()) is is_wanted


def test_a_session_is_ready_to_replay(tmp_path: Path) -> None:
    keep_session(tmp_path)
    view = state.view_replay(tmp_path, FIRST)
    assert [(block["step"], block["start"], block["end"]) for block in view.blocks] == [
        (1, 0.0, 4.0), (3, 5.0, 9.0), (2, 10.0, 14.0), (4, 15.0, 19.0),
    ]  # fmt: skip
    standing, withdrawn = view.alerts
    assert (standing["at"], standing["words"], standing["is_gone"]) == (ALERT_AT, "Out of order: open case", False)
    assert (withdrawn["outcome"], withdrawn["is_gone"]) == ("withdrawn at 0:17", True)
    assert view.stills[standing["still"]][:2] == b"\xff\xd8"
    assert [clip.path.name for clip in view.clips] == ["video-1.mp4"]
    assert view.part(ALERT_AT) == 0


def test_every_action_says_what_it_was_about(tmp_path: Path) -> None:
    more = (
        StoredAction(2, 17.0, 1e9, 80, "false_alarm", 2),
        StoredAction(3, 18.0, 1e9, 82, "mark_done", step=3),
        StoredAction(4, 19.0, 1e9, 84, "undo", 2),
        StoredAction(5, 19.5, 1e9, 86, "acknowledge", 99),
    )
    keep_session(tmp_path, has_video=False, more=more)
    report = state.view_replay(tmp_path, FIRST).report
    assert [about(report, one) for one in report.actions] == [
        "out of order: open case", "missed: close lid", "fit board", "false alarm, 0:17", "",
    ]  # fmt: skip


def test_without_pictures_it_says_so_and_keeps_the_track(tmp_path: Path) -> None:
    keep_session(tmp_path, has_video=False)
    view = state.view_replay(tmp_path, FIRST)
    assert view.clips == ()
    assert len(view.blocks) == 4
    assert "recorded without" in view.why_no_video


def test_a_video_that_is_gone_or_too_large_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_session(tmp_path)
    monkeypatch.setattr(state, "LARGEST_VIDEO_BYTES", 10)
    assert "too large for this page" in state.view_replay(tmp_path, FIRST).why_no_video
    (tmp_path / FIRST / "video-1.mp4").unlink()
    assert "is gone" in state.view_replay(tmp_path, FIRST).why_no_video


def test_moments_are_found_in_the_parts_of_a_video(tmp_path: Path) -> None:
    keep_session(tmp_path)
    view = state.view_replay(tmp_path, FIRST)
    clips = (state.ClipView(Path("a"), 0.0, 5.0), state.ClipView(Path("b"), 8.0, 20.0))
    parts = state.ReplayView(view.row, view.report, clips, view.blocks, view.alerts, {}, "")
    assert [parts.part(at) for at in (0.0, 5.5, 7.9, 12.0, 30.0)] == [0, 0, 1, 1, 1]


@pytest.mark.parametrize("kind", state.EXPORTS)
def test_every_export_can_be_read_and_holds_no_markup_of_names(tmp_path: Path, kind: ExportKind) -> None:
    keep_session(tmp_path, names=(HOSTILE, "open case", "fit board", "close lid"))
    data = state.export(state.view_replay(tmp_path, FIRST), kind).decode()
    if kind == "html":
        assert "<img src=x" not in data
        assert "&lt;img src=x onerror=alert(1)&gt;" in data
        assert "<b>boss" not in data
    elif kind == "json":
        assert json.loads(data)["steps"][0]["name"] == HOSTILE
    elif kind == "csv":
        assert next(iter(csv.DictReader(io.StringIO(data))))["step"] == HOSTILE
    elif kind == "vtt":
        assert data.startswith("WEBVTT")
        assert "<img" not in data
    else:
        values = [one.text for one in ElementTree.fromstring(data).iter("ANNOTATION_VALUE")]
        assert HOSTILE in values


def test_a_deleted_session_is_gone_with_its_files(tmp_path: Path) -> None:
    keep_session(tmp_path)
    state.delete(tmp_path, FIRST)
    assert state.list_sessions(tmp_path) == ()
    assert not (tmp_path / FIRST).exists()
    with pytest.raises(InputError, match="no session"):
        state.view_replay(tmp_path, FIRST)


def test_keeping_is_remembered_and_applied(tmp_path: Path) -> None:
    assert read_keeping(tmp_path) is None
    keep_session(tmp_path, started=1_700_000_000.0)
    assert (tmp_path / FIRST / "video-1.mp4").exists()
    assert state.count_over(state.list_sessions(tmp_path), 7, 1_700_000_000.0 + 8 * DAY) == 1
    assert state.count_over(state.list_sessions(tmp_path), 0, 1e10) == 0
    state.set_keeping(tmp_path, Keeping(7.0))
    assert read_keeping(tmp_path) == Keeping(7.0)
    assert not (tmp_path / FIRST / "video-1.mp4").exists()
    assert len(state.view_replay(tmp_path, FIRST).blocks) == 4
    state.set_keeping(tmp_path, Keeping(0.0))
    with Store(tmp_path) as store:
        assert store.find(FIRST).facts.keep_days is None
    state.set_keeping(tmp_path, Keeping(0.0, keep_gb=1e-6))
    assert list((tmp_path / FIRST).glob("*.jpg")) == []


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("videos/new.mp4", "new.mp4"),
        ("rtsp://camera.local/stream", "rtsp://camera.local/stream"),
        ("0", "0"),
        ("", ""),
        ("headset:phone", "the phone"),
        ("headset:helmet", "helmet"),
    ],
)
def test_the_list_says_what_was_watched(source: str, name: str) -> None:
    row = SessionRow("20300102-030405-00ff", 0.0, "", "exported/demo", "1f2e", 83.0, 2, "finished", source)
    assert row.source_name == name


def test_what_people_said_of_an_alert_stands_beside_it(tmp_path: Path) -> None:
    said = (
        StoredAction(2, 14.0, 1e9, 61, "acknowledge", 1, comment="the lid was open"),
        StoredAction(3, 17.0, 1e9, 70, "false_alarm", 2),
        StoredAction(4, 18.0, 1e9, 72, "undo", 3),
    )
    keep_session(tmp_path, more=said, has_video=False)
    standing, withdrawn = state.view_replay(tmp_path, FIRST).alerts
    assert standing["outcome"] == "stands; acknowledged: “the lid was open”"
    assert withdrawn["outcome"] == "withdrawn at 0:17"  # what was taken back is not told


def test_questions_that_nobody_answered_are_listed(tmp_path: Path) -> None:
    asked = [Question(number, 10.0 + number, 3, f"Did you do {number}?") for number in (5, 6, 7)]
    closed = (StoredAction(2, 17.0, 1e9, 70, "answer", 5, answer=True), Resolution(6, 18.0, is_withdrawn=True))
    keep_session(tmp_path, more=(*asked, *closed), has_video=False)
    view = state.view_replay(tmp_path, FIRST)
    assert view.unanswered == ("0:17 Did you do 7?",)
    page = state.export(view, "html").decode()
    assert page.count("not answered") == 1
    assert "Did you do 7?" in page

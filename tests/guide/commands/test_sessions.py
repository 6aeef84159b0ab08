"""The commands on stored sessions: list, filter, delete, export, report; one sentence where something is wrong."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from guide.commands import report, sessions
from guide.commands.entry import entry
from guide.commands.report import ReportOptions
from guide.commands.sessions import SessionsOptions
from guide.domain import Alert, Segment, SettledLabel, StepEvent
from guide.procedure.export import to_plain
from guide.procedure.learn import learn_procedure
from guide.record.lock import SessionLock
from guide.record.store import Store
from guide.record.values import SessionFacts, StoredOutcome, StoredPicture

FIRST, SECOND = "20300102-030405-00ff", "20300203-030405-00fe"
PROCEDURE = json.dumps(to_plain(learn_procedure([[Segment(1, 0.0, 2.0), Segment(2, 2.0, 5.0)]] * 3)))


@pytest.fixture
def data(tmp_path: Path, records: str | None, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data"
    if records is not None:
        monkeypatch.setenv("CNC_RECORDS", records)
    with Store(folder, records=records) as store:
        for name, person, bundle in ((FIRST, "shift [bold]2", "exported/demo"), (SECOND, "shift 3", "exported/tent")):
            began = datetime.strptime(name[:15], "%Y%m%d-%H%M%S").timestamp()
            store.begin(SessionFacts(name, began, person, bundle, procedure=PROCEDURE))
            (folder / name).mkdir(parents=True)
            SessionLock(folder / name).release()
            step = StepEvent(1.0, 1, "confirmed", 0.0, None, 0.9)
            store.write(
                name, [SettledLabel(0.0, 1, 0.9), step, StoredPicture(1.0, "step", 1, "gone.jpg")], 5, 1.0, began
            )
        store.write(SECOND, [Alert(1, 1.0, "missed", 2, None, "alarm", "never")], 6, 2.0, began)
        store.end(SECOND, "finished", began + 9)
    return folder


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], data: Path) -> Callable[..., str]:
    def run_sessions(*words: str) -> str:
        entry(SessionsOptions, sessions.main, args=["--data", str(data), *words])
        return capsys.readouterr().out

    return run_sessions


@pytest.fixture
def fail(capsys: pytest.CaptureFixture[str], data: Path) -> Callable[..., str]:
    def run_sessions(*words: str) -> str:
        with pytest.raises(SystemExit) as left:
            entry(SessionsOptions, sessions.main, args=["--data", str(data), *words])
        said = capsys.readouterr()
        assert (left.value.code, said.err.count("\n"), said.out) == (2, 1, "")
        return said.err

    return run_sessions


def names(printed: str) -> list[str]:
    return [json.loads(line)["session"] for line in printed.splitlines()]


def test_names_stay_whole_where_a_terminal_has_room_for_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with Store(tmp_path / "alone") as store:  # of nobody in particular
        store.begin(SessionFacts(FIRST, 9e8, "", "exported/demo", source="live/02_missed.mp4", procedure=PROCEDURE))
    entry(SessionsOptions, sessions.main, args=["--data", str(tmp_path / "alone")])
    heads, row, *_ = capsys.readouterr().out.splitlines()
    assert heads.split() == ["session", "length", "verdict", "source", "bundle", "alerts"]
    assert row.split()[-3:] == ["02_missed.mp4", "demo", "0"]


def test_they_are_listed_and_those_left_open_are_closed(run: Callable[..., str]) -> None:
    said = run("--list")
    assert FIRST in said
    assert "cut off" in said
    assert "finished" in said  # a verdict is not known of it
    assert "shift [bold]2" in said


def test_the_newest_verdict_is_told(run: Callable[..., str], data: Path, records: str | None) -> None:
    words = [("not_complete", "Not complete: step 2 missed"), ("look", "Complete, 1 thing to look at")]
    with Store(data, records=records) as store:
        for kind, verdict in words:  # the second after an answer
            store.write(SECOND, [StoredOutcome(2.0, "[1]", "[]", kind, verdict)], 6, 2.0, 9e8)
    [line] = [line for line in run().splitlines() if line.startswith(SECOND)]
    assert words[1][1] in line
    assert words[0][1] not in line
    assert [json.loads(line)["verdict"] for line in run("--jsonl").splitlines()] == ["", words[1][1]]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ((), [FIRST, SECOND]),
        (("--person", "shift 3"), [SECOND]),
        (("--bundle", "demo"), [FIRST]),
        (("--bundle", "exported/demo"), [FIRST]),
        (("--since", "2030-02-03"), [SECOND]),
        (("--since", "2030-02-04"), []),
        (("--until", "2030-01-02"), [FIRST]),
        (("--until", "2030-01-01"), []),
        (("--alert", "missed"), [SECOND]),
        (("--alert", "stalled"), []),
        (("--state", "interrupted"), [FIRST]),
    ],
)
def test_they_are_filtered(run: Callable[..., str], words: tuple[str, ...], found: list[str]) -> None:
    assert names(run("--jsonl", *words)) == found


def test_none_that_fits_says_what_to_do(run: Callable[..., str]) -> None:
    assert run("--person", "nobody") == "no session fits: leave out a filter.\n"
    for name in names(run("--jsonl")):
        run("--delete", name, "--yes")
    assert run() == "no session yet. Record one with: python -m guide watch SOURCE --record\n"


def test_deleting_needs_a_yes(run: Callable[..., str], fail: Callable[..., str], data: Path) -> None:
    assert "add --yes" in fail("--delete", FIRST)
    assert (data / FIRST).exists()
    run("--delete", FIRST, "--yes")
    assert not (data / FIRST).exists()
    assert names(run("--jsonl")) == [SECOND]


def test_a_session_being_recorded_is_not_deleted(data: Path, fail: Callable[..., str]) -> None:
    lock = SessionLock(data / FIRST)
    assert "still being recorded" in fail("--delete", FIRST, "--yes")
    lock.release()


@pytest.mark.parametrize("words", [("--delete", "../..", "--yes"), ("--delete", "2030", "--yes"), ("--since", "soon"),
                                   ("--person", "nobody", "--export", "out")])  # fmt: skip
def test_nonsense_is_one_sentence(fail: Callable[..., str], words: tuple[str, ...]) -> None:
    assert fail(*words).endswith(".\n")


def test_no_name_is_a_formula_in_the_table(
    run: Callable[..., str], data: Path, tmp_path: Path, records: str | None
) -> None:
    with Store(data, records=records) as store:
        store.begin(SessionFacts("20300104-030405-00ff", started=9e8, person="=cmd()", bundle="@x", source="-1+1"))
        store.end("20300104-030405-00ff", "finished", 9e8)
    run("--export", str(tmp_path / "out"))
    rows = list(csv.DictReader((tmp_path / "out" / "sessions.csv").open(encoding="utf-8")))
    [row] = [row for row in rows if row["session"] == "20300104-030405-00ff"]
    assert (row["person"], row["bundle"], row["source"]) == ("'=cmd()", "'@x", "'-1+1")


def test_all_are_exported(run: Callable[..., str], tmp_path: Path) -> None:
    run("--export", str(tmp_path / "out"))
    rows = list(csv.DictReader((tmp_path / "out" / "sessions.csv").open(encoding="utf-8")))
    assert [(row["session"], row["alerts"]) for row in rows] == [(FIRST, "0"), (SECOND, "1")]
    wanted = {"report.html", "session.csv", "session.json", "session.vtt", "session.eaf"}
    for name in (FIRST, SECOND):
        assert {path.name for path in (tmp_path / "out" / name).iterdir()} == wanted


def test_a_report_is_written_where_asked(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entry(ReportOptions, report.main, args=[SECOND[:9], "--data", str(data), "--out", str(tmp_path / "out")])
    assert "report.html in a browser" in " ".join(capsys.readouterr().out.split())
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "no picture" in page, "the still is gone, the page says so"
    assert "step 2" in page
    assert "2.0 s" in page


def test_a_report_that_cannot_be_made_is_one_sentence(
    data: Path, tmp_path: Path, records: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    for words in (
        ["last" if records is None else "nothing", "--data", str(tmp_path / "empty")],
        ["nothing", "--data", str(data)],
        ["last", "--data", str(data), "--out", str(tmp_path / "file")],
    ):
        with pytest.raises(SystemExit) as left:
            entry(ReportOptions, report.main, args=words)
        said = capsys.readouterr()
        assert (left.value.code, said.err.count("\n"), said.out) == (2, 1, "")

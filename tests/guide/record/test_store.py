"""The store: what goes in comes out, old stores are brought up to date, and troubles are sentences."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from guide.commands import report, sessions
from guide.commands.report import ReportOptions
from guide.commands.sessions import SessionsOptions
from guide.domain import Alert, Question, Resolution, SettledLabel, StepEvent
from guide.errors import InputError, OutputError
from guide.record.lock import SessionLock
from guide.record.schema import NEWEST
from guide.record.store import DATABASE, SessionFilter, Store
from guide.record.values import Contents, HealthSample, Row, SessionFacts, StoredAction, StoredPicture

FIRST, SECOND = "20300102-030405-00ff", "20300103-030405-00ff"

EVERYTHING = Contents(
    labels=(SettledLabel(0.1, 1, 0.5), SettledLabel(0.3, -1, 1.0)),
    steps=(StepEvent(1.0, 1, "confirmed", 0.0, None, 0.8), StepEvent(3.0, 1, "ended", 0.0, 2.5, 0.8)),
    alerts=(
        Alert(1, 4.0, "missed", 2, None, "warning", "not seen"),
        Alert(1, 9.0, "missed", 2, None, "alarm", "never seen"),
        Alert(2, 5.0, "out_of_order", 3, 2, "alarm", 'späte "Schraube"'),
    ),
    resolutions=(Resolution(2, 6.0, is_withdrawn=True), Resolution(3, 7.0, is_withdrawn=False)),
    questions=(Question(3, 6.5, 2, "Did you?"),),
    actions=(
        StoredAction(1, 5.5, 1e9, 20, "answer", 3, None, False, 0.0, "shift 2", "no"),
        StoredAction(2, 6.0, 1e9, 22, "pause"),
    ),
    health=(HealthSample(1.0, 1e9, "locked", "{}"), HealthSample(2.0, 1e9, "", '{"age_s":0.2}')),
    pictures=(StoredPicture(1.0, "step", 1, "step-1.jpg"),),
)
EVERYTHING = replace(EVERYTHING, final=EVERYTHING.resolutions)


def rows(contents: Contents) -> list[object]:
    return [row for field in Contents.__slots__ if field != "final" for row in getattr(contents, field)]


def fill(store: Store, name: str = FIRST, **facts: object) -> None:
    store.begin(SessionFacts(name, **({"started": 1e9, "person": "shift 2", "bundle": "demo"} | facts)))  # type: ignore[arg-type]


def test_what_goes_in_comes_out(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        fill(store)
        store.write(FIRST, rows(EVERYTHING), frames=30, at=9.0, wall=1e9 + 9)  # type: ignore[arg-type]
        assert store.contents(FIRST) == EVERYTHING
        found = store.find(FIRST)
    assert (found.frames, found.at, found.state, found.ended) == (30, 9.0, "open", None)
    assert found.alerts == 1, "alert 2 was withdrawn, alert 1 came twice"


def test_only_its_owner_may_read_it_in_a_folder_open_to_all(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with Store(tmp_path) as store:
        fill(store)
        assert [path.name for path in tmp_path.iterdir() if path.stat().st_mode & 0o077] == []


def test_an_alert_that_comes_again_after_it_was_withdrawn_stands(tmp_path: Path) -> None:
    alert, gone = Alert(1, 4.0, "missed", 2, None, "warning", "not seen"), Resolution(1, 5.0, is_withdrawn=True)
    with Store(tmp_path) as store:
        fill(store)
        histories: list[tuple[list[Row], int]] = [([alert], 1), ([gone], 0), ([alert], 1), ([alert, gone], 0), ([], 0)]
        for said, standing in histories:
            store.write(FIRST, said, 1, 5.0, 1e9)
            assert store.find(FIRST).alerts == standing
            assert len(store.contents(FIRST).final) == 1 - standing


def test_sessions_are_found_by_what_is_known_of_them(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        fill(store)
        fill(store, SECOND, started=2e9, person="shift 3", bundle="tent")
        store.write(SECOND, [Alert(1, 4.0, "stalled", 2, None, "info", "")], 1, 4.0, 2e9)
        store.end(FIRST, "finished", 1e9 + 60)

        def names(wanted: SessionFilter) -> list[str]:
            return [one.id for one in store.sessions(wanted)]

        assert names(SessionFilter()) == [FIRST, SECOND]
        assert names(SessionFilter(person="shift 3")) == [SECOND]
        assert names(SessionFilter(bundle="demo")) == [FIRST]
        assert names(SessionFilter(since=1.5e9)) == [SECOND]
        assert names(SessionFilter(until=1.5e9)) == [FIRST]
        assert names(SessionFilter(alert_kind="stalled")) == [SECOND]
        assert names(SessionFilter(alert_kind="missed")) == []
        assert names(SessionFilter(state="finished", bundle="demo")) == [FIRST]
        assert store.find("last").id == SECOND
        assert store.find("20300102").id == FIRST
        for strange in ("2030", "", "'; DROP TABLE sessions; --", "../.."):
            with pytest.raises(InputError, match="python -m guide sessions"):
                store.find(strange)


def test_a_closed_session_stays_as_it_was_closed(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        fill(store)
        store.end(FIRST, "finished", 1e9 + 60)
        store.end(FIRST, "interrupted", 1e9 + 90)
        assert (store.find(FIRST).state, store.find(FIRST).ended) == ("finished", 1e9 + 60)


def test_open_sessions_of_dead_processes_are_closed_and_those_of_living_ones_are_not(tmp_path: Path) -> None:
    for name in (FIRST, SECOND):
        (tmp_path / name).mkdir()
    lock = SessionLock(tmp_path / SECOND)
    with Store(tmp_path) as store:
        fill(store)
        fill(store, SECOND)
        store.write(FIRST, [], frames=3, at=0.6, wall=1e9 + 7)
        assert store.close_orphans() == (FIRST,)
        assert [(one.state, one.ended) for one in store.sessions()] == [("interrupted", 1e9 + 7), ("open", None)]
        with pytest.raises(InputError, match="still being recorded"):
            store.delete(SECOND)
        lock.release()
        assert store.close_orphans() == (SECOND,)


def test_deleting_leaves_no_trace(tmp_path: Path) -> None:
    with Store(tmp_path), Store(tmp_path) as store:  # somebody else has it open, so the log of writes stays
        fill(store, person="Somebody Unforgettable")
        fill(store, SECOND)
        store.write(FIRST, rows(EVERYTHING), frames=30, at=9.0, wall=1e9 + 9)  # type: ignore[arg-type]
        (tmp_path / FIRST).mkdir()
        (tmp_path / FIRST / "step-1.jpg").write_bytes(b"x")
        store.delete(FIRST)
        assert store.contents(FIRST) == Contents()
        assert [one.id for one in store.sessions()] == [SECOND]
        assert not (tmp_path / FIRST).exists()
        left = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
        assert b"Unforgettable" not in left


def test_an_answer_to_a_deleted_session_gets_a_sentence_of_its_own(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.begin(SessionFacts(FIRST, started=0.0))
        store.end(FIRST, "finished", 1.0)
        store.delete(FIRST)
        with pytest.raises(InputError, match="was deleted"):
            store.write(FIRST, [SettledLabel(0.0, 1, 0.9)], 1, 0.0, 0.0)
        assert store.sessions() == ()


@pytest.mark.parametrize("name", ["..", "/etc", "a/b", "20300102-030405-00ff/..", ""])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    with Store(tmp_path) as store, pytest.raises(InputError, match="named like"):
        store.delete(name)


STORES = Path(__file__).parents[2] / "stores"  # dumps of stores that the programs of those versions wrote
VERSIONS = range(1, NEWEST + 1)


def old_store(version: int, folder: Path) -> Path:
    database = sqlite3.connect(folder / DATABASE)
    database.executescript((STORES / f"version_{version}.sql").read_text(encoding="utf-8"))
    database.close()
    return folder


@pytest.mark.parametrize("version", VERSIONS)
def test_a_store_of_every_version_becomes_the_newest_and_keeps_what_it_holds(tmp_path: Path, version: int) -> None:
    with Store(old_store(version, tmp_path), is_new=False) as store:
        (found,) = store.sessions()
        contents = store.contents(FIRST)
        assert (found.facts.person, found.state, contents.actions[0].kind) == ("shift 1", "finished", "was_done")
        assert [(alert.id, alert.kind, alert.step) for alert in contents.alerts] == [(1, "missed", 2)]
        assert found.facts.keep_days == (None if version == 1 else 30.0)
        assert len(contents.questions) == len(contents.pictures) == (0 if version == 1 else 1)
        assert len(contents.outcomes) == (1 if version >= 3 else 0)
        store.write(FIRST, [Question(3, 3.0, 1, "?"), StoredPicture(1.0, "step", 1, "a.jpg")], 15, 3.0, 1e9)
        assert store.contents(FIRST).questions[-1].id == 3
        store.delete(FIRST)
    again = sqlite3.connect(tmp_path / DATABASE)
    assert again.execute("PRAGMA user_version").fetchone()[0] == NEWEST
    again.close()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_session_of_every_version_can_be_listed_reported_and_resumes_nothing(
    tmp_path: Path, version: int, capsys: pytest.CaptureFixture[str]
) -> None:
    old_store(version, tmp_path)
    sessions.main(SessionsOptions(data=tmp_path))
    assert FIRST in capsys.readouterr().out
    report.main(ReportOptions("last", tmp_path / "out", tmp_path))
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "not seen" in page
    assert ("it was" in page and "step 2" in page) or version == 1
    with Store(tmp_path) as store:
        assert store.killed("a.mp4", since=0.0) is None


@pytest.mark.parametrize("version", VERSIONS)
def test_a_fresh_store_and_a_migrated_one_have_the_same_tables(tmp_path: Path, version: int) -> None:
    old_store(version, tmp_path)
    columns = []
    for folder in (tmp_path, tmp_path / "fresh"):
        Store(folder).close()
        database = sqlite3.connect(folder / DATABASE)
        tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")]
        columns.append({table: database.execute(f"PRAGMA table_info({table})").fetchall() for table in tables})
        database.close()
    assert columns[0] == columns[1]


def test_a_store_of_a_newer_program_is_left_alone(tmp_path: Path) -> None:
    old_store(NEWEST, tmp_path)
    newer = sqlite3.connect(tmp_path / DATABASE)
    newer.execute(f"PRAGMA user_version = {NEWEST + 1}")
    newer.close()
    before = (tmp_path / DATABASE).read_bytes()
    with pytest.raises(InputError, match=rf"written by a newer program \(version {NEWEST + 1}\): update this one\.$"):
        Store(tmp_path)
    assert (tmp_path / DATABASE).read_bytes() == before


def test_what_is_no_store_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no sessions"):
        Store(tmp_path, is_new=False)
    (tmp_path / DATABASE).write_bytes(b"this is no database at all, whatever its name says" * 50)
    with pytest.raises(OutputError, match="damaged or no session store"):
        Store(tmp_path)
    with pytest.raises(OutputError, match="choose a folder"):
        Store(tmp_path / DATABASE / "below")


def test_a_locked_database_is_a_sentence_and_nothing_is_half_written(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        fill(store)
        other = sqlite3.connect(tmp_path / DATABASE, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(OutputError, match="another program holds it"):
            store.write(FIRST, [SettledLabel(0.1, 1, 0.5)], 1, 0.1, 1e9)
        assert store.find(FIRST).frames == 0, "reading goes on meanwhile"
        other.execute("ROLLBACK")
        other.close()
        store.write(FIRST, [SettledLabel(0.1, 1, 0.5)], 1, 0.1, 1e9)
        assert len(store.contents(FIRST).labels) == 1


def test_a_full_disk_is_a_sentence_and_nothing_is_half_written(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        fill(store)
        pages = store._db.execute("PRAGMA page_count").fetchone()[0]
        store._db.execute(f"PRAGMA max_page_count = {pages}").fetchall()
        many = [SettledLabel(float(at), 1, 0.5) for at in range(5000)]
        with pytest.raises(OutputError, match="free some space"):
            store.write(FIRST, many, 5000, 1.0, 1e9)
        assert store.contents(FIRST).labels == ()
        store._db.execute("PRAGMA max_page_count = 100000").fetchall()
        store.write(FIRST, many, 5000, 1.0, 1e9)
        assert len(store.contents(FIRST).labels) == 5000


def test_how_long_pictures_are_kept_is_set_for_all(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        fill(store, FIRST, keep_days=30.0)
        fill(store, SECOND)
        for days in (7.0, None):
            store.keep_pictures(days)
            assert [one.facts.keep_days for one in store.sessions()] == [days, days]

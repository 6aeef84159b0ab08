"""The store: what goes in comes out, old stores are brought up to date, and troubles are sentences."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest

from guide.commands import report, sessions
from guide.commands.report import ReportOptions
from guide.commands.sessions import SessionsOptions
from guide.domain import Alert, Question, Resolution, SettledLabel
from guide.errors import InputError, OutputError
from guide.record.schema import NEWEST
from guide.record.sqlite import DATABASE
from guide.record.store import Store
from guide.record.values import Contents, Row, SessionFacts, StoredPicture
from tests.contracts.test_stores import EVERYTHING, FIRST, SECOND, fill, rows


def test_only_its_owner_may_read_it_in_a_folder_open_to_all(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with Store(tmp_path) as store:
        fill(store)
        assert [path.name for path in tmp_path.iterdir() if path.stat().st_mode & 0o077] == []


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
        assert found.verdict == ("Not complete: step 2 missed" if version >= 7 else "")
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
        pages = store._db.rows("PRAGMA page_count")[0][0]
        store._db.rows(f"PRAGMA max_page_count = {pages}")
        many = [SettledLabel(float(at), 1, 0.5) for at in range(5000)]
        with pytest.raises(OutputError, match="free some space"):
            store.write(FIRST, many, 5000, 1.0, 1e9)
        assert store.contents(FIRST).labels == ()
        store._db.rows("PRAGMA max_page_count = 100000")
        store.write(FIRST, many, 5000, 1.0, 1e9)
        assert len(store.contents(FIRST).labels) == 5000


def test_many_alerts_that_were_withdrawn_hold_up_no_list(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.begin(SessionFacts("20300102-030405-0001", 0.0))
        rows: list[Row] = [Alert(number, 1.0, "missed", 1, None, "alarm", "") for number in range(2_000)]
        rows += [Resolution(number, 2.0, is_withdrawn=True) for number in range(1_999)]
        store.write("20300102-030405-0001", rows, 1, 2.0, 2.0)
        began = time.process_time()
        [found] = store.sessions()
        kinds = store.alert_kinds()
        assert time.process_time() - began < 2.0  # minutes where each alert is held against each resolution
    assert (found.alerts, kinds) == (1, {"20300102-030405-0001": {"missed"}})

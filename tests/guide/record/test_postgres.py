"""Records in PostgreSQL: troubles are sentences without passwords, and many machines share one database."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from guide.commands import sessions
from guide.commands.entry import entry
from guide.commands.sessions import SessionsOptions
from guide.errors import InputError, OutputError
from guide.record import postgres as home
from guide.record.lock import SessionLock
from guide.record.schema import NEWEST
from guide.record.shipping import find_address
from guide.record.spool import Entry, Spool, read_entries, spool_files
from guide.record.store import ABSENT_S, SETTLED_S, Store
from guide.record.values import SessionFacts
from tests.contracts.test_stores import EVERYTHING, FIRST, SECOND, fill, rows
from tests.postgres import PASSWORD, SECRET, Cluster

ROOT = Path(__file__).parents[3]


@pytest.fixture
def address(postgres: Cluster) -> str:
    return postgres.database()


def test_what_the_commands_say_of_a_database_that_cannot_be_used_holds_no_password(
    postgres: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = postgres.database()
    addresses = {
        "nobody listens": f"postgresql://guide:{PASSWORD}@127.0.0.1:1/records",
        "no such host": f"postgresql://guide:{PASSWORD}@no.such.host.invalid/records",
        "no such database": good + "x",
        "another user": good.replace("guide:", "nobody:"),
        "wrong password": good.replace(PASSWORD, PASSWORD + "x"),
        "an odd letter in it": good.replace(PASSWORD, "Geheim!wort@Geheim!wort"),
        "a slash in it": good.replace(PASSWORD, "Geheim!wort/Geheim!wort"),
        "no host": f"postgresql://guide:{PASSWORD}/records",
        "neither host nor database": f"postgresql://guide:{PASSWORD}",
        "no host, and a password of digits": "postgresql://guide:12345/records",
        "neither, and a password of digits": "postgresql://guide:12345",
        "no number for a port": good.replace(str(postgres.port), "many"),
        "an unknown option": f"{good}?password={PASSWORD}&no_such_option={PASSWORD}",
        "no address": f"mysql://guide:{PASSWORD}@127.0.0.1/records",
    }
    for what, address in addresses.items():
        with pytest.raises(SystemExit) as left:
            entry(SessionsOptions, sessions.main, args=["--data", str(tmp_path), "--records", address])
        out, said = capsys.readouterr()
        assert (left.value.code, out, said.count("\n")) == (2, "", 1), f"{what}: {said}"
        assert SECRET not in said, what
        assert PASSWORD not in said, what
        assert "12345" not in said, what


def test_addresses_of_several_hosts_are_taken() -> None:
    for address in (
        "postgresql://guide:p@a.example:5432,b.example/records?sslmode=require",
        "postgres://guide@[::1]:5432/records",
        "postgresql:///records?host=/run/postgresql",
        "postgresql://@db.example:5432/records",
        "postgresql://[::1]/records",
        "postgresql://db.example",
        "postgresql://%2Frun%2Fpostgresql/records",
    ):
        assert find_address(address) == address


def test_an_address_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    assert find_address(None) is None
    monkeypatch.setenv("CNC_RECORDS", address)
    assert find_address(None) == address
    assert find_address("postgresql://other/records") == "postgresql://other/records"


def test_a_missing_driver_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home, "HAS_DRIVER", False)
    with pytest.raises(InputError, match=r"needs a driver that is not installed: pip install -e '\.\[fleet\]'\.$"):
        Store(tmp_path, records="postgresql://127.0.0.1/records")


def test_the_driver_is_not_loaded_where_nobody_asks_for_it() -> None:
    program = "import sys, guide.commands.registry, guide.record.shipping; sys.exit('psycopg' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 0


def test_no_error_repeats_the_password(postgres: Cluster, address: str, tmp_path: Path) -> None:
    """Not even in its cause, which a traceback would print."""
    with pytest.raises(OutputError) as told:
        Store(tmp_path, records=address.replace(PASSWORD, "falschwort"))
    error: BaseException | None = told.value
    while error is not None:
        assert "falschwort" not in f"{error!s}{error!r}"
        error = error.__cause__
    assert f"postgresql://127.0.0.1:{postgres.port}/" in str(told.value)


def test_words_of_the_database_that_are_cut_short_hold_no_piece_of_the_password(address: str, tmp_path: Path) -> None:
    with Store(tmp_path, records=address) as store, pytest.raises(OutputError) as told:
        store._db.run(f"DO $$ BEGIN RAISE EXCEPTION USING MESSAGE = repeat('x', 294) || '{SECRET}'; END $$")
    assert SECRET[:4] not in str(told.value)


def test_many_machines_make_the_tables_at_the_same_time(address: str, tmp_path: Path) -> None:
    troubles: list[Exception] = []

    def open_it() -> None:
        try:
            Store(tmp_path, records=address).close()
        except Exception as error:
            troubles.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30.0)
    assert troubles == []


def test_an_older_database_is_brought_up_to_date_and_a_newer_one_left_alone(
    postgres: Cluster, address: str, tmp_path: Path
) -> None:
    name = address.rpartition("/")[2]
    with Store(tmp_path, records=address) as store:
        fill(store)
        store.write(FIRST, rows(EVERYTHING), 30, 9.0, 1e9)  # type: ignore[arg-type]
    newer = "DROP TABLE spools, deleted, percepts; DROP INDEX sessions_by_source, alerts_by_id, resolutions_by_id"
    newer += "; ALTER TABLE outcomes DROP COLUMN ending, DROP COLUMN verdict"
    postgres.ask(f"{newer}; UPDATE version SET number = 4", name)
    with Store(tmp_path, records=address) as store:
        unjudged = tuple(replace(one, ending="", verdict="") for one in EVERYTHING.outcomes)
        assert store.contents(FIRST) == replace(EVERYTHING, outcomes=unjudged)
        assert not store._db.rows("SELECT * FROM spools")
    postgres.ask(f"UPDATE version SET number = {NEWEST + 1}", name)
    before = postgres.dump(address)
    with pytest.raises(InputError, match=rf"written by a newer program \(version {NEWEST + 1}\): update this one\.$"):
        Store(tmp_path, records=address)
    assert postgres.dump(address) == before


def test_text_that_the_database_cannot_hold_is_stored_as_far_as_it_can(address: str, tmp_path: Path) -> None:
    with Store(tmp_path, records=address) as store:
        fill(store, person="a\0b\udce9")
        assert store.find(FIRST).facts.person == "a\ufffdb?"


def test_a_machine_leaves_the_sessions_of_others_alone_until_they_are_silent_for_a_day(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    (there / FIRST).mkdir(parents=True)
    (here / FIRST / "report").mkdir(parents=True)  # somebody wrote a report there
    with Store(there, records=address) as home_store, Store(here, records=address) as other:
        lock = SessionLock(there / FIRST)
        fill(home_store, started=1e9)
        monkeypatch.setattr("time.time", lambda: 1e9 + ABSENT_S - 1)
        assert other.close_orphans() == ()
        with pytest.raises(InputError, match="still being recorded"):
            other.delete(FIRST)
        lock.release()
        assert other.close_orphans() == ()
        assert home_store.close_orphans() == (FIRST,)
        home_store.reopen(FIRST)
        monkeypatch.setattr("time.time", lambda: 1e9 + ABSENT_S + 1)
        assert other.close_orphans() == (FIRST,)


def test_a_killed_session_is_found_though_another_machine_has_a_newer_one_of_that_source(
    address: str, tmp_path: Path
) -> None:
    (tmp_path / FIRST).mkdir()
    SessionLock(tmp_path / FIRST).release()
    with Store(tmp_path, records=address) as store:
        fill(store, source="headset:a")
        fill(store, SECOND, source="headset:a", started=1e9 + 9)
        store.close_orphans()
        found = store.killed("headset:a", since=0.0)
    assert found is not None
    assert found.id == FIRST


def test_a_machine_that_comes_back_after_days_has_the_last_word_on_its_session(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries: list[Entry] = [["begin", [FIRST, 1e9, "", "", "", "", "{}", "{}", None]], ["write", [], 5, 1.0, 1e9 + 1]]
    with Store(tmp_path, records=address) as store:
        store.ship("a", FIRST, 0, entries)
        with monkeypatch.context() as patch:
            patch.setattr("time.time", lambda: 1e9 + 3 * ABSENT_S)
            assert store.close_orphans() == (FIRST,)
        store.ship("a", FIRST, 2, [["write", [], 9, 2.0, 1e9 + 2], ["end", "finished", 1e9 + 3]])
        found = store.find(FIRST)
    assert (found.state, found.ended, found.frames) == ("finished", 1e9 + 3, 9)


def test_what_is_deleted_on_one_machine_goes_from_the_disk_of_the_other(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    with Store(there, records=address) as home_store, Store(here, records=address) as other:
        fill(home_store)
        (there / FIRST).mkdir(parents=True)
        (there / FIRST / "video-1.mp4").write_bytes(b"x")
        home_store.end(FIRST, "finished", 1e9)
        other.delete(FIRST)
        assert home_store.sessions() == ()
        later = (there / FIRST).stat().st_mtime + SETTLED_S + 1
        monkeypatch.setattr("time.time", lambda: later)
        home_store.close_orphans()
        assert not (there / FIRST).exists()
        assert home_store.sessions() == ()


def test_what_was_deleted_is_not_shipped_again(address: str, tmp_path: Path) -> None:
    with Spool(tmp_path, FIRST) as spool:
        spool.begin(SessionFacts(FIRST, started=1e9))
        spool.end(FIRST, "finished", 1e9)
    (path,) = spool_files(tmp_path)
    entries = [entry for entry, _ in read_entries(path)]
    with Store(tmp_path, records=address) as store:
        assert store.ship("a", FIRST, 0, entries)
        store.delete(FIRST)
        assert not store.ship("a", FIRST, 0, entries)
        assert not store.ship("b", FIRST, 0, entries)
        assert store.sessions() == ()


def test_deleting_leaves_nobody_s_name(postgres: Cluster, address: str, tmp_path: Path) -> None:
    with Store(tmp_path, records=address) as store:
        fill(store, person="Somebody Unforgettable")
        store.write(FIRST, rows(EVERYTHING), 30, 9.0, 1e9)  # type: ignore[arg-type]
        store.end(FIRST, "finished", 1e9)
        assert "Unforgettable" in postgres.dump(address)
        store.delete(FIRST)
    assert "Unforgettable" not in postgres.dump(address)


def test_a_backup_restores_all_of_it(postgres: Cluster, address: str, tmp_path: Path) -> None:
    with Store(tmp_path, records=address) as store:
        fill(store)
        store.write(FIRST, rows(EVERYTHING), 30, 9.0, 1e9)  # type: ignore[arg-type]
    restored = postgres.restore(postgres.dump(address))
    with Store(tmp_path, records=restored) as store:
        assert store.contents(FIRST) == EVERYTHING
        store.write(FIRST, rows(EVERYTHING), 30, 9.0, 1e9)  # type: ignore[arg-type]  # rows are numbered on
        assert store.contents(FIRST).labels == EVERYTHING.labels * 2


@pytest.mark.parametrize("is_within", [False, True])
def test_a_database_that_hangs_is_given_up(
    postgres: Cluster, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_within: bool
) -> None:
    """Its processes stand still and the connection stays: no limit that it keeps itself, nor of the network, counts."""
    monkeypatch.setattr(home, "ANSWER_S", 0.5)
    with Store(tmp_path, records=address) as store:
        fill(store)
        began = time.monotonic()
        with ExitStack() as held:
            held.callback(postgres.thaw)
            held.enter_context(pytest.raises(OutputError, match="no answer for 0 s"))
            if is_within:
                held.enter_context(store._db.transaction())
            postgres.freeze()
            store.sessions()
        assert time.monotonic() - began < 20.0, "the network gives up later"
        with pytest.raises(OutputError, match="cannot be used"):
            store.sessions()


def test_a_log_holds_no_password(address: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    Store(tmp_path, records=address).close()
    assert SECRET not in caplog.text
    assert PASSWORD not in caplog.text

"""Spools and what ships them: a database that goes away at any moment loses nothing, and nothing comes twice."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.domain import Alert, SettledLabel
from guide.errors import OutputError
from guide.record import shipping as module
from guide.record.lock import SessionLock
from guide.record.shipping import Shipper, open_for_writing, opened, shipping
from guide.record.spool import FILE_LINES, FOLDER, Entry, Spool, read_entries, read_rows, spool_files
from guide.record.store import Store
from guide.record.values import SessionFacts, SessionFilter
from guide.record.writer import SessionWriter
from tests.contracts.test_stores import EVERYTHING, FIRST, SECOND, rows
from tests.guide.record.test_writer import QUICK
from tests.postgres import PASSWORD, SECRET, Cluster
from tests.waiting import until


@pytest.fixture
def cluster(postgres: Cluster) -> Iterator[Cluster]:
    """The server of all tests, running again when this one is over."""
    yield postgres
    if not postgres.is_running():
        postgres.start()


def label(number: int) -> SettledLabel:
    return SettledLabel(float(number), 1, 0.9)


def write(spool: Spool, *numbers: int) -> None:
    for number in numbers:
        spool.write(FIRST, [label(number)], number + 1, float(number), 1e9 + number)


def writer(folder: Path, records: str, name: str = FIRST) -> SessionWriter:
    facts = SessionFacts(name, started=time.time())
    return SessionWriter(folder, facts, QUICK, open_store=lambda data: open_for_writing(data, name, records))


def lines(folder: Path) -> list[Entry]:
    return [entry for path in spool_files(folder) for entry, _ in read_entries(path)]


def test_a_spool_gives_back_what_went_in_file_by_file(tmp_path: Path) -> None:
    count = 2 * FILE_LINES + 7
    with Spool(tmp_path, FIRST) as spool:
        for number in range(count):
            spool.write(FIRST, rows(EVERYTHING) if number == 1 else [label(number)], number, 0.0, 0.0)  # type: ignore[arg-type]
    assert [entry[2] for entry in lines(tmp_path)] == list(range(count))
    assert read_rows(lines(tmp_path)[1][1]) == rows(EVERYTHING)
    assert len(spool_files(tmp_path)) == 3
    assert [path for path in (tmp_path / FOLDER).iterdir() if path.stat().st_mode & 0o077] == []


def test_a_spool_that_cannot_be_made_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(OSError, match="No space"):
        Spool(tmp_path, FIRST)
    assert list((tmp_path / FOLDER).iterdir()) == []


def test_a_file_that_was_just_being_made_when_its_process_died_does_not_wait(tmp_path: Path) -> None:
    with Spool(tmp_path, FIRST):
        (path,) = spool_files(tmp_path)
        path.with_name(f".{path.name}").touch()
        assert spool_files(tmp_path) == [path]


@settings(max_examples=50, deadline=None)
@given(cut=st.integers(0, 400), junk=st.binary(max_size=30))
def test_of_a_torn_spool_the_whole_lines_are_read(
    tmp_path_factory: pytest.TempPathFactory, cut: int, junk: bytes
) -> None:
    folder = tmp_path_factory.mktemp("torn")
    with Spool(folder, FIRST) as spool:
        write(spool, *range(5))
    (path,) = spool_files(folder)
    whole = path.read_bytes()
    ends = [place for place, letter in enumerate(whole, start=1) if letter == ord("\n")]
    path.write_bytes(whole[:cut] + b"\0" + junk)
    kept = sum(end <= cut for end in ends)
    assert [entry[2] for entry, _ in read_entries(path)] == list(range(1, kept + 1))


def test_a_session_goes_through_the_spool_to_the_database(cluster: Cluster, tmp_path: Path) -> None:
    records = cluster.database()
    with shipping(tmp_path, records):
        session = writer(tmp_path, records)
        for number in range(400):
            session.put(label(number), frames=number + 1, at=float(number))
        session.close("finished")
    assert spool_files(tmp_path) == []
    with opened(tmp_path, records) as store:
        assert [one.at for one in store.contents(FIRST).labels] == [float(number) for number in range(400)]
        assert (store.find(FIRST).state, store.find(FIRST).frames) == ("finished", 400)


def test_machines_and_several_processes_of_one_ship_side_by_side(cluster: Cluster, tmp_path: Path) -> None:
    records = cluster.database()
    folders = (tmp_path / "a", tmp_path / "b", tmp_path / "a")  # two processes share the first
    names = [f"20300102-030405-{number:08x}" for number in range(9)]
    with ExitStack() as held:
        for folder in folders:
            held.enter_context(shipping(folder, records))
        sessions = [writer(folders[place % 3], records, name) for place, name in enumerate(names)]
        for number in range(60):
            for session in sessions:
                session.put(label(number), frames=number + 1, at=float(number))
            time.sleep(0.005)
        for session in sessions:
            session.close("finished")
    with opened(tmp_path / "a", records) as store:
        assert [one.id for one in store.sessions(SessionFilter(state="finished"))] == sorted(names)
        for name in names:
            assert [one.at for one in store.contents(name).labels] == [float(number) for number in range(60)]


def test_what_another_process_shipped_and_deleted_is_forgotten(cluster: Cluster, tmp_path: Path) -> None:
    """Of a replica that runs for months, its neighbours ship most."""
    records = cluster.database()
    one, other = Shipper(tmp_path, records), Shipper(tmp_path, records)
    with Store(tmp_path, records=records) as store:
        with Spool(tmp_path, FIRST) as spool:
            spool.begin(SessionFacts(FIRST, started=0.0))
            assert one.ship(store)
        assert other.ship(store)
        assert one.ship(store)
    assert one._places == {}


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_a_database_that_is_stopped_for_a_while_loses_nothing(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.setattr(module, "LONGEST_PAUSE_S", 0.3)
    records, told = cluster.database(), list[str]()
    names = [f"20300102-030405-{number:04x}" for number in range(4)]
    with shipping(tmp_path, records, tell=told.append):
        sessions = [writer(tmp_path, records, name) for name in names]
        for number in range(90):
            if number == 30:
                cluster.stop(mode)  # type: ignore[arg-type]
            if number == 60:
                until(lambda: bool(told))
                cluster.start()
            for session in sessions:
                session.put(label(number), frames=number + 1, at=float(number))
                if number % 10 == 0:
                    session.put(Alert(number, float(number), "missed", 1, None, "alarm", "not seen"))
            time.sleep(0.01)
        for session in sessions:
            session.close("finished")
    assert spool_files(tmp_path) == []
    assert "cannot be used" in told[0]
    assert "nothing was lost" in told[-1]
    assert SECRET not in "".join(told)
    assert PASSWORD not in "".join(told)
    with opened(tmp_path, records) as store:
        for name in names:
            contents = store.contents(name)
            assert [one.at for one in contents.labels] == [float(number) for number in range(90)]
            assert [one.id for one in contents.alerts] == list(range(0, 90, 10))
            assert store.find(name).state == "finished"


def test_what_waits_when_the_process_ends_is_shipped_by_the_next_command(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PATIENCE_S", 0.3)
    records, told = cluster.database(), list[str]()
    with shipping(tmp_path, records, tell=told.append):
        session = writer(tmp_path, records)
        session.put(label(0), frames=1, at=0.0)
        until(lambda: session.kept == 0)
        cluster.stop()
        session.put(label(1), frames=2, at=1.0)
        session.close("finished")
    assert "waits in" in told[-1]
    with pytest.raises(OutputError), opened(tmp_path, records):
        pass
    cluster.start()
    with opened(tmp_path, records) as store:
        assert store.contents(FIRST).labels == (label(0), label(1))
        assert (store.find(FIRST).state, store.find(FIRST).frames) == ("finished", 2)
    assert spool_files(tmp_path) == []


class Deaf(Store):
    """A store whose word of success is lost now and then: it was written, and nobody knows."""

    def __init__(self, folder: Path, records: str) -> None:
        super().__init__(folder, records=records)
        self.shipped, self.every = 0, 2

    def ship(self, spool: str, session: str, first: int, entries: Sequence[Entry]) -> bool:
        done = super().ship(spool, session, first, entries)
        self.shipped += 1
        if self.shipped % self.every == 0:
            raise OutputError("the connection was lost.")
        return done


def test_a_success_that_nobody_heard_of_is_not_repeated(cluster: Cluster, tmp_path: Path) -> None:
    records = cluster.database()
    store = Deaf(tmp_path, records)
    with Spool(tmp_path, FIRST) as spool, store:
        spool.begin(SessionFacts(FIRST, started=1e9))
        shipper = Shipper(tmp_path, records)
        for number in range(40):
            write(spool, number)
            try:
                shipper.ship(store)
            except OutputError:
                if number % 3 == 0:  # and the process with it
                    shipper = Shipper(tmp_path, records)
        store.every = 10**9
        shipper.ship(store)
        assert store.contents(FIRST).labels == tuple(label(number) for number in range(40))


def test_a_transaction_left_behind_by_a_lost_connection_is_waited_for(cluster: Cluster, tmp_path: Path) -> None:
    """Its COMMIT may still be under way when the same lines are shipped again."""
    records = cluster.database()
    entries: list[Entry] = [["begin", [FIRST, 1e9, "", "", "", "", "{}", "{}", None]]]
    with Store(tmp_path, records=records) as first, Store(tmp_path, records=records) as second:
        answers: list[bool] = []
        thread = threading.Thread(target=lambda: answers.append(second.ship("a", FIRST, 0, entries)))
        with first._db.transaction():
            first._db.rows("INSERT INTO spools VALUES ('a', ?, 0) RETURNING lines", (FIRST,))
            thread.start()
            thread.join(0.3)
            assert answers == []
            first._begin(SessionFacts(FIRST, started=1e9))
            first._db.run("UPDATE spools SET lines = 1")
        thread.join(10.0)
        assert answers == [True]
        assert [one.id for one in second.sessions()] == [FIRST]


def test_no_session_waits_for_a_database_that_falls_silent_and_nothing_is_lost(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PATIENCE_S", 30.0)
    records = cluster.database()
    with shipping(tmp_path, records):
        session = writer(tmp_path, records)
        session.put(label(0), frames=1, at=0.0)
        until(lambda: session.kept == 0)
        cluster.freeze()
        try:
            for number in range(1, 50):
                began = time.monotonic()
                session.put(label(number), frames=number + 1, at=float(number))
                assert time.monotonic() - began < 0.1, "the loop never waits"
            until(lambda: session.kept == 0)  # it is on the disk
        finally:
            cluster.thaw()
        session.close("finished")
    with opened(tmp_path, records) as store:
        assert [one.at for one in store.contents(FIRST).labels] == [float(number) for number in range(50)]


def test_a_line_that_the_database_refuses_is_kept_aside_and_holds_up_nobody(
    cluster: Cluster, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    records = cluster.database()
    with Spool(tmp_path, FIRST) as bad, Spool(tmp_path, SECOND) as good:
        bad.begin(SessionFacts(FIRST, started=1e9))
        write(bad, 0, 1)
        for step in (2**40, 2**41):
            bad.write(FIRST, [SettledLabel(2.0, step, 0.5)], 3, 2.0, 1e9)
            write(bad, 3)
        good.begin(SessionFacts(SECOND, started=1e9))
        shipper = Shipper(tmp_path, records)
        with Store(tmp_path, records=records) as store:
            shipper.ship(store)
        bad.end(FIRST, "finished", 1e9 + 9)
    with opened(tmp_path, records) as store:  # another process, which begins with the file from its start
        assert [one.id for one in store.sessions()] == [FIRST, SECOND]
        assert [one.at for one in store.contents(FIRST).labels] == [0.0, 1.0, 3.0, 3.0]
        assert store.find(FIRST).state == "finished"
    assert spool_files(tmp_path) == []
    (refused,) = (tmp_path / FOLDER).glob("*.refused")
    assert [json.loads(line)[1][0][2] for line in refused.read_text().splitlines()] == [2**40, 2**41]
    assert refused.stat().st_mode & 0o077 == 0
    assert caplog.text.count("is not stored") == 1


def test_what_another_process_ships_is_no_sign_that_the_database_answers(tmp_path: Path) -> None:
    told: list[str] = []
    with Spool(tmp_path, FIRST) as spool:
        write(spool, 0)
        shipper = Shipper(tmp_path, "unused", told.append)
        with Store(tmp_path) as shipper._store:
            shipper.trouble = "nobody answers"
            other = SessionLock(tmp_path / FOLDER, module.LOCK)
            try:
                shipper._try()
            finally:
                other.release()
    assert (shipper.trouble, told) == ("nobody answers", [])


def test_lines_of_another_version_are_kept_aside(cluster: Cluster, tmp_path: Path) -> None:
    records = cluster.database()
    strange: list[object] = [["write", [["dreams", 1]], 1, 0.0, 0.0], ["begin", [FIRST]], ["dream"], {}]
    for line in strange:
        with Spool(tmp_path, FIRST) as spool:
            spool._file.append(json.dumps(line).encode() + b"\n")
        with opened(tmp_path, records) as store:
            assert store.sessions() == ()
    assert spool_files(tmp_path) == []
    assert len(list((tmp_path / FOLDER).glob("*.refused"))) == 4
    with Store(tmp_path, records=records) as store:
        store.delete(FIRST)
    assert not list((tmp_path / FOLDER).glob("*.refused"))


def test_readers_leave_what_is_being_recorded_to_its_process(cluster: Cluster, tmp_path: Path) -> None:
    records = cluster.database()
    with Spool(tmp_path, FIRST) as spool:
        spool.begin(SessionFacts(FIRST, started=1e9))
        with opened(tmp_path, records) as store:
            assert store.sessions() == ()
    with opened(tmp_path, records) as store:
        assert [one.id for one in store.sessions()] == [FIRST]


def test_an_answer_after_the_end_is_added_once(cluster: Cluster, tmp_path: Path) -> None:
    records = cluster.database()
    for number in range(2):
        with open_for_writing(tmp_path, FIRST, records) as target:
            if number == 0:
                target.begin(SessionFacts(FIRST, started=1e9))
            target.write(FIRST, [EVERYTHING.actions[number]], 1, 1.0, 1e9)
    for _ in range(2):
        with opened(tmp_path, records) as store:
            assert store.contents(FIRST).actions == EVERYTHING.actions

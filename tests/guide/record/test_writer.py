"""The writer under bad conditions: locked, full, refused, killed. The loop goes on and what it gave is not lost."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from guide.domain import Alert, SettledLabel
from guide.errors import OutputError
from guide.record.percepts import PERCEPTS_FILE, read_percepts
from guide.record.private_folder import RESERVED_BYTES
from guide.record.sqlite import DATABASE
from guide.record.store import Store
from guide.record.values import Row, SessionFacts, StoredAction, StoredPercept
from guide.record.writer import SessionWriter, WriterSettings
from tests.waiting import until

ROOT = Path(__file__).parents[3]
NAME = "20300102-030405-00ff"
FACTS = SessionFacts(NAME, started=1e9)
QUICK = WriterSettings(period_s=0.01, longest_pause_s=0.02, patience_s=5.0)


def label(number: int) -> SettledLabel:
    return SettledLabel(0.2 * number, 1, 0.9)


def seen(number: int) -> StoredPercept:
    return StoredPercept(number, 0.2 * number, np.full(8, number, np.float32))


def put(writer: SessionWriter, *numbers: int) -> None:
    for number in numbers:
        writer.put(seen(number), label(number), frames=number + 1, at=0.2 * number)


def stored(folder: Path) -> tuple[list[float], list[int]]:
    """The times of the labels and the numbers of the frames."""
    with Store(folder) as store:
        labels = [one.at for one in store.contents(NAME).labels]
    return labels, [one.number for one in read_percepts(folder / NAME / PERCEPTS_FILE)]


def test_what_belongs_together_is_stored_together(tmp_path: Path) -> None:
    writer = SessionWriter(tmp_path, FACTS, QUICK)
    put(writer, *range(100))
    writer.close("finished")
    labels, frames = stored(tmp_path)
    assert labels == [label(number).at for number in range(100)]
    assert frames == list(range(100))
    with Store(tmp_path) as store:
        assert (store.find(NAME).state, store.find(NAME).frames) == ("finished", 100)


def test_a_locked_database_is_told_of_and_written_later(tmp_path: Path) -> None:
    told: list[str] = []
    writer = SessionWriter(tmp_path, FACTS, QUICK, told.append)
    put(writer, 0)
    until(lambda: writer.kept == 0)
    other = sqlite3.connect(tmp_path / DATABASE, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    put(writer, 1, 2, 3)
    until(lambda: bool(writer.trouble))
    put(writer, 4)
    other.execute("ROLLBACK")
    other.close()
    until(lambda: not writer.trouble)
    put(writer, 5)
    writer.close("finished")
    assert stored(tmp_path) == ([label(number).at for number in range(6)], list(range(6)))
    assert "another program holds it" in told[0]
    assert "nothing was lost" in told[1]
    with Store(tmp_path) as store:
        notes = [one.note for one in store.contents(NAME).health]
    assert "another program holds it" in notes[0]
    assert "written again" in notes[1]


class TightStore(Store):
    """A store on a disk that is full until somebody makes room."""

    has_room = threading.Event()

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        pages = self._db.rows("PRAGMA page_count")[0][0]
        self._db.rows(f"PRAGMA max_page_count = {pages + 1}")

    def write(self, session: str, rows: Sequence[Row], frames: int, at: float, wall: float) -> None:
        if self.has_room.is_set():
            self._db.rows("PRAGMA max_page_count = 100000")
        super().write(session, rows, frames, at, wall)


def test_a_full_disk_is_told_of_and_written_later(tmp_path: Path) -> None:
    told: list[str] = []
    TightStore.has_room.clear()
    writer = SessionWriter(tmp_path, FACTS, QUICK, told.append, open_store=TightStore)
    put(writer, *range(2000))
    until(lambda: bool(writer.trouble))
    put(writer, 2000)
    TightStore.has_room.set()
    writer.close("finished")
    assert stored(tmp_path) == ([label(number).at for number in range(2001)], list(range(2001)))
    assert "free some space" in told[0]
    assert "nothing was lost" in told[1]


def test_a_folder_that_cannot_be_made_is_used_once_it_can(tmp_path: Path) -> None:
    told: list[str] = []
    place = tmp_path / "data"
    place.write_text("a file stands in the way")
    writer = SessionWriter(place, FACTS, QUICK, told.append)
    put(writer, 0, 1)
    until(lambda: bool(writer.trouble))
    place.unlink()
    until(lambda: not writer.trouble)
    put(writer, 2)
    writer.close("finished")
    assert stored(place) == ([label(number).at for number in range(3)], [0, 1, 2])
    assert len(told) == 2


def test_a_folder_that_stays_closed_is_told_of_at_the_end(tmp_path: Path) -> None:
    place = tmp_path / "data"
    place.write_text("a file stands in the way")
    writer = SessionWriter(place, FACTS, WriterSettings(0.01, 0.02, patience_s=0.1), [].append)  # type: ignore[arg-type]
    put(writer, 0, 1)
    with pytest.raises(OutputError, match=r"items of session 20300102-030405-00ff could not be written"):
        writer.close("finished")


def test_what_finds_no_room_is_counted_and_alerts_are_the_last_to_go(tmp_path: Path) -> None:
    told: list[str] = []
    place = tmp_path / "data"
    place.write_text("a file stands in the way")
    tight = WriterSettings(0.01, 0.02, most_rows=20, most_bytes=10 * 32, patience_s=5.0)
    writer = SessionWriter(place, FACTS, tight, told.append)
    put(writer, 0)
    until(lambda: bool(writer.trouble))
    put(writer, *range(1, 50))
    writer.put(Alert(1, 10.0, "missed", 2, None, "warning", "not seen"))
    place.unlink()
    writer.close("finished")
    labels, frames = stored(place)
    assert frames == list(range(10))
    assert len(labels) == 9, "half of the room, less the note on the trouble"
    with Store(place) as store:
        assert len(store.contents(NAME).alerts) == 1
        assert "lost for want of room: 40 frames, 41 labels" in told[-1]


def test_a_session_without_anything_leaves_no_trace(tmp_path: Path) -> None:
    SessionWriter(tmp_path / "data", FACTS, QUICK).close("interrupted")
    assert not (tmp_path / "data").exists()


def test_our_own_fault_reaches_the_loop(tmp_path: Path) -> None:
    def broken(folder: Path) -> Store:
        raise ZeroDivisionError("a fault of ours")

    writer = SessionWriter(tmp_path, FACTS, QUICK, open_store=broken)
    writer.put(label(0))
    until(lambda: not writer._thread.is_alive())
    with pytest.raises(ZeroDivisionError):
        writer.put(label(0))
    with pytest.raises(ZeroDivisionError):
        writer.close("finished")


CHILD = """
import sys, time
from pathlib import Path
import numpy as np
from guide.domain import SettledLabel
from guide.record.shipping import open_for_writing, shipping
from guide.record.values import StoredPercept, SessionFacts
from guide.record.writer import SessionWriter
name, folder, records = "20300102-030405-00ff", Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None
with shipping(folder, records):
    target = lambda data: open_for_writing(data, name, records)
    writer = SessionWriter(folder, SessionFacts(name, started=1e9), open_store=target)
    for number in range(10**6):
        one = StoredPercept(number, float(number), np.zeros(608, np.float32))
        writer.put(one, SettledLabel(float(number), 1, 0.9), frames=number + 1, at=float(number))
        print(number, time.monotonic(), flush=True)
        time.sleep(0.01)
"""


@pytest.mark.parametrize("life_s", [1.1, 1.45])
def test_a_killed_process_loses_at_most_the_last_second_and_is_closed_by_the_next_start(
    tmp_path: Path, life_s: float
) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=ROOT, env={**os.environ}
    )
    assert child.stdout is not None
    given = [child.stdout.readline().split()]
    while float(given[-1][1]) - float(given[0][1]) < life_s:
        given.append(child.stdout.readline().split())
    with Store(tmp_path) as store:
        assert store.close_orphans() == (), "it is alive"
    child.send_signal(signal.SIGKILL)
    killed = time.monotonic()
    child.wait()
    child.stdout.close()
    labels, frames = stored(tmp_path)
    kept = len(labels)
    assert labels == [float(number) for number in range(kept)]
    assert frames[:kept] == list(range(kept)), "no label without its frame"
    due = sum(float(when) < killed - 1.0 for _, when in given)
    assert kept >= due > 0
    with Store(tmp_path) as store:
        assert store.close_orphans() == (NAME,)
        assert (store.find(NAME).state, store.find(NAME).frames) == ("interrupted", kept)


def test_a_session_begins_once_where_old_pictures_cannot_be_dropped_at_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[Store] = []

    def refuse_once(store: Store, now: float, most_bytes: float) -> tuple[str, ...]:
        tries.append(store)
        if len(tries) == 1:
            raise OutputError("another program holds it.")
        return ()

    monkeypatch.setattr("guide.record.writer.drop_old_pictures", refuse_once)
    writer = SessionWriter(tmp_path, FACTS, QUICK, tell=lambda words: None)
    put(writer, 0)
    until(lambda: len(tries) > 1)
    writer.close("finished")
    assert stored(tmp_path) == ([0.0], [0])


def test_the_last_room_of_a_disk_is_for_alerts_and_actions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    writer = SessionWriter(tmp_path, FACTS, QUICK, tell=told.append)
    put(writer, 0, 1)
    until(lambda: writer.kept == 0)
    with monkeypatch.context() as patch:
        patch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=RESERVED_BYTES - 1))
        alert = Alert(1, 0.4, "missed", 2, None, "alarm", "it was left out")
        put(writer, 2, 3)
        writer.put(alert, StoredAction(1, 0.5, 0.0, 4, "acknowledge", target=1))

        def is_stored() -> bool:
            with Store(tmp_path) as store:
                return store.contents(NAME).alerts == (alert,) and len(store.contents(NAME).actions) == 1

        until(is_stored)
        assert stored(tmp_path) == ([0.0, 0.2], [0, 1])  # what replays need waits
        assert "kept for alerts and actions" in told[0]
        put(writer, 4)
    until(lambda: writer.kept == 0)
    writer.close("finished")
    assert stored(tmp_path) == ([0.2 * number for number in range(5)], [0, 1, 2, 3, 4])

"""The fault table, rows of the records: each is survived, said, and loses nothing of what was recorded."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from guide.commands.replay import ReplayOptions, differences, open_replay
from guide.domain import Update
from guide.networks import start_networks
from guide.record.percepts import PERCEPTS_FILE, read_percepts
from guide.record.shipping import Shipper, shipping
from guide.record.sqlite import DATABASE
from guide.record.store import Store
from guide.recording import RecordingOptions, SourceFacts, recorded
from guide.session import Session
from guide.settings import LiveSettings
from tests.guide.record.test_webhook import Target
from tests.guide.record.test_writer import CHILD, NAME
from tests.postgres import PASSWORD, SECRET, Cluster
from tests.tiny import FEATURE_RATE, Learned

ROOT = Path(__file__).parents[2]
KILLED, AT_ONCE = 20, 5


def start(task: Learned) -> Session:
    return Session(task.bundle, start_networks(task.bundle, "cpu", threads=1), LiveSettings(confirm_s=0.3))


def rows(task: Learned) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.asarray(np.load(Path(task.options.inputs[0]) / "a.npy"), np.float32)


def follow(session: Session, task: Learned, halfway: Callable[[], None] = lambda: None) -> Iterator[Update]:
    """All updates of a demonstration; `halfway` is called in its middle."""
    seen = rows(task)
    for number, row in enumerate(seen):
        if number == len(seen) // 2:
            halfway()
        if session.perceiver.is_due(number / FEATURE_RATE):
            yield from session.perceived(session.perceiver.take(row, number / FEATURE_RATE))
    yield from session.finish()


def require_whole(task: Learned, data: Path, live: list[Update], records: str | None = None) -> None:
    """The loop said what it says unrecorded, and all of it is stored and replays."""
    assert live == list(follow(start(task), task))
    replay = open_replay(ReplayOptions("last", data=data, records=records, device="cpu"))
    assert replay.stored.state == "finished"
    assert replay.contents.labels == tuple(update.label for update in live)
    assert differences(replay.contents, replay.updates()) == []


def wait_for(question: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not question():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def test_the_database_is_locked_by_another_process(features_task: Learned, tmp_path: Path) -> None:
    told: list[str] = []
    Store(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / DATABASE, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        session = start(features_task)
        options = RecordingOptions(record=True, data=tmp_path)
        with recorded(session, options, SourceFacts("features"), told.append) as made:
            assert made is not None
            live = list(follow(session, features_task, halfway=lambda: wait_for(lambda: bool(made.trouble))))
            other.execute("ROLLBACK")
    assert "another program holds it" in told[0]
    require_whole(features_task, tmp_path, live)


def test_the_disk_is_full(features_task: Learned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk with room for no further page of the database, until somebody frees some."""
    told: list[str] = []
    freed = threading.Event()
    write = Store.write

    def on_a_full_disk(store: Store, *arguments: object) -> None:
        pages = 10**6 if freed.is_set() else 1
        store._db.rows(f"PRAGMA max_page_count = {pages}")
        if not freed.is_set():  # fill what room there is in the pages at hand
            store._db.run("CREATE TABLE IF NOT EXISTS ballast (x)")
            while True:
                store._db.run("INSERT INTO ballast VALUES (zeroblob(500))")
        store._db.run("DROP TABLE IF EXISTS ballast")
        write(store, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Store, "write", on_a_full_disk)
    session = start(features_task)
    with recorded(session, RecordingOptions(record=True, data=tmp_path), SourceFacts("features"), told.append) as made:
        assert made is not None
        live = list(follow(session, features_task, halfway=lambda: wait_for(lambda: bool(made.trouble))))
        freed.set()
    assert "full" in told[0]
    assert "nothing was lost" in told[-1]
    require_whole(features_task, tmp_path, live)


def test_the_database_of_many_machines_is_stopped(features_task: Learned, tmp_path: Path, postgres: Cluster) -> None:
    told: list[str] = []
    session, records = start(features_task), postgres.database()
    options = RecordingOptions(record=True, data=tmp_path, records=records)

    def halfway() -> None:
        postgres.stop("immediate")
        wait_for(lambda: bool(told))

    with (
        shipping(tmp_path, records, tell=told.append),
        recorded(session, options, SourceFacts("features"), told.append),
    ):
        live = list(follow(session, features_task, halfway))
        postgres.start()
    assert "kept in" in told[0]
    assert "nothing was lost" in told[-1]
    assert not [words for words in told if SECRET in words or PASSWORD in words]
    assert PASSWORD not in repr(options)
    require_whole(features_task, tmp_path, live, records)


def test_the_folder_cannot_be_written(features_task: Learned, tmp_path: Path) -> None:
    told: list[str] = []
    data = tmp_path / "data"
    data.write_text("a file stands in the way")
    session = start(features_task)
    with recorded(session, RecordingOptions(record=True, data=data), SourceFacts("features"), told.append) as made:
        assert made is not None
        live = list(follow(session, features_task, halfway=lambda: wait_for(lambda: bool(made.trouble))))
        data.unlink()
    assert "cannot be written" in told[0]
    require_whole(features_task, data, live)


def test_the_webhook_target_is_down(features_task: Learned, tmp_path: Path) -> None:
    gone = Target()
    gone.close()
    told: list[str] = []
    session = start(features_task)
    options = RecordingOptions(record=True, data=tmp_path, webhook=f"http://127.0.0.1:{gone.port}/secret")
    with recorded(session, options, SourceFacts("features"), told.append) as made:
        assert made is not None
        assert made._webhook is not None
        made._webhook.post({"type": "alert"})
        live = list(follow(session, features_task, halfway=lambda: wait_for(lambda: bool(told))))
    assert "cannot be reached" in told[0]
    assert "could not be delivered" in told[-1]
    assert "secret" not in "".join(told)
    require_whole(features_task, tmp_path, live)


def kill_one(folder: Path, records: str | None, life_s: float, lost_s: list[float]) -> None:
    """Kills a recording process after a while, and adds how much of its life is lost."""
    command = [sys.executable, "-c", CHILD, str(folder), *([] if records is None else [records])]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert child.stdout is not None
    given = [float(child.stdout.readline().split()[1])]
    while given[-1] - given[0] < life_s:
        given.append(float(child.stdout.readline().split()[1]))
    child.send_signal(signal.SIGKILL)
    killed = time.monotonic()
    child.wait()
    child.stdout.close()
    with Store(folder, records=records) as store:
        if records is not None:
            Shipper(folder, records).ship(store, only_left=True)
        gone = store.close_orphans()
        labels = [label.at for label in store.contents(NAME).labels]
        states = [(one.state, one.frames) for one in store.sessions()]
    assert labels == [float(number) for number in range(len(labels))]
    assert (gone, states) == (((NAME,), [("interrupted", len(labels))]) if states else ((), []))
    if labels:
        frames = [one.number for one in read_percepts(folder / NAME / PERCEPTS_FILE)]
        assert frames[: len(labels)] == list(range(len(labels))), "no label without its frame"
    lost_s.append(killed - given[len(labels)] if len(labels) < len(given) else 0.0)


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_kill_9_at_random_moments(tmp_path: Path, database: str, request: pytest.FixtureRequest) -> None:
    cluster: Cluster | None = request.getfixturevalue("postgres") if database == "postgres" else None
    moments = random.Random(9)
    lost_s: list[float] = []
    for batch in range(KILLED // AT_ONCE):
        lives = [moments.uniform(0.1, 1.6) for _ in range(AT_ONCE)]
        threads = [
            threading.Thread(target=kill_one, args=(tmp_path / f"{batch}-{place}", records, life_s, lost_s))
            for place, life_s in enumerate(lives)
            for records in [None if cluster is None else cluster.database()]
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60.0)
    assert len(lost_s) == KILLED, "every one was closed as interrupted, whole up to its last transaction"
    assert max(lost_s) <= 1.0

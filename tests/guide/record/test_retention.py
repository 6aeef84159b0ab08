"""Pictures go when their days are over; everything else stays."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from guide.errors import OutputError
from guide.record import retention
from guide.record.keeping import Keeping, write_keeping
from guide.record.lock import SessionLock
from guide.record.retention import REPORT, drop_old_pictures, tidying
from guide.record.schema import NEWEST
from guide.record.shipping import shipping
from guide.record.spool import Spool
from guide.record.sqlite import DATABASE
from guide.record.store import DAY_S, Store
from guide.record.values import SessionFacts, StoredPicture
from tests.postgres import Cluster
from tests.waiting import until

NAMES = [f"20300102-030405-00{number:02x}" for number in range(4)]


def test_pictures_go_when_their_days_are_over(tmp_path: Path) -> None:
    days = (7.0, 30.0, None, 7.0)
    with Store(tmp_path) as store:
        for name, keep_days in zip(NAMES, days, strict=True):
            store.begin(SessionFacts(name, started=0.0, keep_days=keep_days))
            store.write(name, [StoredPicture(0.0, "video", 1, "video-1.mp4")], 1, 0.0, 0.0)
            (tmp_path / name).mkdir()
            for file in ("video-1.mp4", "still-1-step-1.jpg", "seen.bin", "lock"):
                (tmp_path / name / file).write_bytes(b"x")
            if name != NAMES[3]:  # the last one is still open
                store.end(name, "finished", 1.0)
        assert drop_old_pictures(store, now=6 * DAY_S) == ()
        assert drop_old_pictures(store, now=8 * DAY_S) == (NAMES[0],)
        assert drop_old_pictures(store, now=8 * DAY_S) == ()
        assert store.contents(NAMES[0]).pictures == ()
        assert len(store.contents(NAMES[1]).pictures) == 1
    assert sorted(path.name for path in (tmp_path / NAMES[0]).iterdir()) == ["lock"]
    assert all(len(list((tmp_path / name).iterdir())) == 4 for name in NAMES[1:])


def test_a_report_beside_them_goes_with_its_stills(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.begin(SessionFacts(NAMES[0], started=0.0, keep_days=7.0))
        store.end(NAMES[0], "finished", 1.0)
        report = tmp_path / NAMES[0] / REPORT
        report.mkdir(parents=True)
        for file in ("report.html", ".0123.part.html", "session.csv", "session.vtt"):
            (report / file).write_text("x")
        assert drop_old_pictures(store, now=8 * DAY_S) == ()
        assert drop_old_pictures(store, now=9 * DAY_S) == (NAMES[0],)
    assert sorted(path.name for path in report.iterdir()) == ["session.csv", "session.vtt"]


def record(store: Store, name: str, started: float, size: int = 1, keep_days: float | None = 30.0) -> None:
    """A closed session with a video of so many bytes and as much for a replay."""
    store.begin(SessionFacts(name, started=started, keep_days=keep_days))
    store.write(name, [StoredPicture(0.0, "video", 1, "video-1.mp4")], 1, 0.0, started)
    store.end(name, "finished", started)
    store.place(name).mkdir()
    for file in ("video-1.mp4", "seen.bin"):
        (store.place(name) / file).write_bytes(bytes(size))


def left(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.glob("*/*"))


def test_a_clock_that_leaps_ahead_for_an_hour_deletes_nothing(tmp_path: Path) -> None:
    now = 1_000 * DAY_S
    with Store(tmp_path) as store:
        record(store, NAMES[0], now - 3_600)
        record(store, NAMES[1], now - 29.5 * DAY_S)
        assert drop_old_pictures(store, now) == ()
        for hour in range(3):  # the clock is forty days ahead, and starts anew see it so
            assert drop_old_pictures(store, now + 40 * DAY_S + hour * 3_600) == ()
        assert drop_old_pictures(store, now + 3_600) == ()
        assert drop_old_pictures(store, now + 0.6 * DAY_S) == (NAMES[1],)


def test_what_a_clock_that_had_lost_the_date_recorded_keeps_its_days(tmp_path: Path) -> None:
    """A battery was empty: the machine thinks it is 1970 until the network tells it better, hours later."""
    now = 20_000 * DAY_S
    with Store(tmp_path) as store:
        record(store, NAMES[0], now)
        assert drop_old_pictures(store, now) == ()
        assert drop_old_pictures(store, 30.0) == ()
        record(store, NAMES[1], 60.0)
        for hours in range(3, 30 * 24, 20):
            assert drop_old_pictures(store, now + hours * 3_600) == ()
        assert drop_old_pictures(store, now + 30.2 * DAY_S) == (NAMES[1], NAMES[0])


def test_what_a_clock_that_had_lost_the_date_recorded_outlives_a_change_of_the_days(tmp_path: Path) -> None:
    now = 22_000 * DAY_S
    with Store(tmp_path) as store:
        record(store, NAMES[0], now)
        assert drop_old_pictures(store, now) == ()
        record(store, NAMES[1], 60.0)
        store.keep_pictures(7.0)
        for hours in range(1, 7 * 24, 20):
            assert drop_old_pictures(store, now + hours * 3_600) == ()
        assert drop_old_pictures(store, now + 7.2 * DAY_S) == (NAMES[1], NAMES[0])
        record(store, NAMES[2], now + 7.2 * DAY_S)
        store.keep_pictures(None)
        assert {one.facts.keep_days for one in store.sessions()} == {None}


def test_a_clock_that_leaps_about_is_believed_on_no_side(tmp_path: Path) -> None:
    now = 20_000 * DAY_S
    with Store(tmp_path) as store:
        record(store, NAMES[0], now - 3_600)
        assert drop_old_pictures(store, now) == ()
        assert drop_old_pictures(store, 30.0) == ()
        assert drop_old_pictures(store, now + 40 * DAY_S) == (), "it was in the past a moment ago"
        assert drop_old_pictures(store, now + 3_600) == ()


def test_a_clock_that_was_ahead_for_days_deletes_nothing_once_it_is_right(tmp_path: Path) -> None:
    now = 20_000 * DAY_S
    with Store(tmp_path) as store:
        for hours in (-2, -1, 0, 26):
            drop_old_pictures(store, now + 40 * DAY_S + hours * 3_600)
        record(store, NAMES[0], now)
        assert drop_old_pictures(store, now + 3_600) == ()
        for days in range(1, 30):
            assert drop_old_pictures(store, now + days * DAY_S) == ()


def test_a_machine_that_was_off_for_weeks_deletes_a_day_later(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        record(store, NAMES[0], 0.0)
        assert drop_old_pictures(store, 60) == ()
        assert drop_old_pictures(store, 40 * DAY_S) == ()
        assert drop_old_pictures(store, 40.9 * DAY_S) == ()
        assert drop_old_pictures(store, 41.1 * DAY_S) == (NAMES[0],)
        assert left(tmp_path) == []  # what replays need goes as well
        assert len(store.sessions()) == 1


def test_what_takes_too_much_room_goes_oldest_first_and_pictures_before_replays(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        for number, name in enumerate(NAMES[:3]):
            record(store, name, float(number), size=10_000_000, keep_days=None)
        assert drop_old_pictures(store, 10.0, most_bytes=0) == ()
        assert drop_old_pictures(store, 10.0, most_bytes=61e6) == ()
        assert drop_old_pictures(store, 10.0, most_bytes=51e6) == (NAMES[0],)
        assert left(tmp_path) == [
            f"{NAMES[0]}/seen.bin", *(f"{name}/{file}" for name in NAMES[1:3] for file in ("seen.bin", "video-1.mp4")),
        ]  # fmt: skip
        assert drop_old_pictures(store, 10.0, most_bytes=21e6) == (NAMES[1], NAMES[2])
        assert left(tmp_path) == [f"{NAMES[1]}/seen.bin", f"{NAMES[2]}/seen.bin"]
        assert len(store.sessions()) == 3
        assert store.contents(NAMES[1]).pictures == ()


def test_files_of_a_session_that_was_never_entered_are_listed_and_age(tmp_path: Path) -> None:
    folder = tmp_path / NAMES[0]
    folder.mkdir()
    (folder / "still-1-step-1.jpg").write_bytes(b"x")
    with Store(tmp_path) as store:
        store.close_orphans()
        assert store.sessions() == ()  # it may just be beginning
        os.utime(folder, (1_000.0, 1_000.0))
        lock = SessionLock(folder)
        os.utime(folder, (1_000.0, 1_000.0))
        store.close_orphans()
        assert store.sessions() == ()  # its process lives
        lock.release()
        store.close_orphans()
        [found] = store.sessions()
        assert (found.id, found.state, found.facts.started) == (NAMES[0], "interrupted", 1_000.0)
        assert drop_old_pictures(store, 1_000.0) == ()
        for day in (40, 42):
            drop_old_pictures(store, day * DAY_S)
        assert left(tmp_path) == [f"{NAMES[0]}/lock"]
        store.begin(SessionFacts(NAMES[0], started=2_000.0, source="0"))  # it lived after all
        assert [one.facts.source for one in store.sessions()] == ["0"]
        store.end(NAMES[0], "finished", 3_000.0)
        store.delete(NAMES[0])
    assert not folder.exists()


def test_a_folder_that_changes_its_kind_of_store_loses_nothing(postgres: Cluster, tmp_path: Path) -> None:
    records, (local, shared, found) = postgres.database(), NAMES[:3]
    with Store(tmp_path) as store:
        record(store, local, 1_000.0, keep_days=None)
    (tmp_path / shared).mkdir()
    (tmp_path / shared / "video-1.mp4").write_bytes(b"x")
    with Spool(tmp_path, shared) as spool:
        spool.begin(SessionFacts(shared, started=1_000.0))
        spool.end(shared, "finished", 1_000.0)
    for name in (local, shared):
        os.utime(tmp_path / name, (1_000.0, 1_000.0))
    with shipping(tmp_path, records), Store(tmp_path, records=records) as store:
        store.close_orphans()
        drop_old_pictures(store, time.time())
        assert [one.id for one in store.sessions()] == [shared]
    with Store(tmp_path) as store:
        store.close_orphans()
        drop_old_pictures(store, time.time())
        assert [one.id for one in store.sessions()] == [local]
    kept = (f"{local}/seen.bin", f"{local}/video-1.mp4", f"{shared}/video-1.mp4")
    assert [one for one in kept if not (tmp_path / one).is_file()] == []
    (tmp_path / found).mkdir()
    os.utime(tmp_path / found, (1_000.0, 1_000.0))
    with Store(tmp_path, records=records) as store:
        store.close_orphans()
        assert [one.id for one in store.sessions()] == [shared, found], "nobody knows it"
    (tmp_path / DATABASE).write_bytes(b"no database at all" * 100)
    with Store(tmp_path, records=postgres.database()) as store:
        store.close_orphans()
        assert store.sessions() == (), "who knows what it knew"


def test_a_store_that_a_newer_program_brought_up_to_date_does_not_end_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(retention, "PERIOD_S", 0.01)
    with Store(tmp_path) as store, tidying(tmp_path, most_bytes=1.0):
        store._db.run(f"PRAGMA user_version = {NEWEST + 1}")
        until(lambda: "old pictures cannot be deleted" in caplog.text)
        record(store, NAMES[0], time.time())
        store._db.run(f"PRAGMA user_version = {NEWEST}")
        until(lambda: not (tmp_path / NAMES[0] / "video-1.mp4").exists())


@pytest.mark.parametrize("error", [FileNotFoundError(2, "No such file or directory", "a"), ZeroDivisionError()])
def test_a_folder_that_goes_while_it_is_looked_at_or_our_own_fault_does_not_end_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    def tidy_up(*given: Any) -> None:
        if not caplog.text:
            raise error
        tidy_up_for_good(*given)

    tidy_up_for_good = retention._tidy_up
    monkeypatch.setattr(retention, "PERIOD_S", 0.01)
    with Store(tmp_path) as store, tidying(tmp_path, most_bytes=1.0):
        monkeypatch.setattr(retention, "_tidy_up", tidy_up)
        until(lambda: "old pictures c" in caplog.text)
        record(store, NAMES[0], time.time())
        until(lambda: not (tmp_path / NAMES[0] / "video-1.mp4").exists())


def test_what_the_dashboard_was_told_counts_for_a_server_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "PERIOD_S", 0.01)
    with Store(tmp_path) as store, tidying(tmp_path):
        record(store, NAMES[0], time.time(), size=2_000_000, keep_days=None)
        time.sleep(0.1)
        assert (tmp_path / NAMES[0] / "video-1.mp4").exists()
        write_keeping(tmp_path, Keeping(0.0, keep_gb=0.003))
        end = time.monotonic() + 20.0
        while (tmp_path / NAMES[0] / "video-1.mp4").exists():
            assert time.monotonic() < end
            time.sleep(0.01)
        assert (tmp_path / NAMES[0] / "seen.bin").exists()


def test_it_is_done_again_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "PERIOD_S", 0.01)
    with Store(tmp_path) as store, tidying(tmp_path, most_bytes=1.0):
        record(store, NAMES[0], time.time())
        end = time.monotonic() + 20.0
        while (tmp_path / NAMES[0] / "video-1.mp4").exists():
            assert time.monotonic() < end
            time.sleep(0.01)


def test_a_full_disk_at_the_start_is_told_of_and_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object) -> None:
        raise OutputError("the disk is full: free some space.")

    monkeypatch.setattr(Store, "close_orphans", refuse)
    with pytest.raises(OutputError), tidying(tmp_path):
        pass
    monkeypatch.setattr(retention, "is_nearly_full", lambda _: True)
    with tidying(tmp_path):
        assert "recorded once there is room" in caplog.text

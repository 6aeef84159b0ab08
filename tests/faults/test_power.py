"""The fault table, power cuts: a disk that loses or tears what was not flushed, at any moment of a session."""

from __future__ import annotations

import os
import random
from pathlib import Path

import numpy as np
import pytest

from guide.domain import Alert, SettledLabel
from guide.record import spool
from guide.record.percepts import PERCEPTS_FILE, PerceptWriter, read_percepts
from guide.record.spool import Spool, read_entries, spool_files
from guide.record.sqlite import DATABASE
from guide.record.store import Store
from guide.record.values import SessionFacts, StoredPercept
from tests.power_cut import Disk, is_sound, noted_disk

SESSION = "20300102-030405-00ff"
TRANSACTIONS = 60
CUTS = 30


def record(folder: Path) -> Disk:
    """A session on a disk that is watched: labels in every transaction, an alert with every fourth, large now and then,
    so that the log of writes goes into the database several times."""
    with noted_disk(folder) as disk:
        with Store(folder) as store:
            store.begin(SessionFacts(SESSION, started=1.0))
            (folder / SESSION).mkdir()
            with PerceptWriter(folder / SESSION / PERCEPTS_FILE) as seen:
                for number in range(TRANSACTIONS):
                    seen.append([StoredPercept(number, number / 5, np.full(200, number, np.float32))])
                    rows: list[SettledLabel | Alert] = [SettledLabel(number / 5, 1, 0.9)]
                    if number % 4 == 0:
                        rows.append(Alert(number, number / 5, "missed", 1, None, "alarm", "x" * 250_000))
                        seen.flush()
                    store.write(SESSION, rows, number + 1, number / 5, 1.0 + number)
                    if number % 4 == 0:
                        disk.promise(number)
            store.end(SESSION, "finished", 99.0)
            disk.promise(TRANSACTIONS)
        return disk


def test_a_power_cut_leaves_all_that_was_promised_in_the_spool(tmp_path: Path) -> None:
    chance = random.Random(1)
    with noted_disk(tmp_path / "before") as disk, Spool(tmp_path / "before", SESSION) as written:
        for number in range(TRANSACTIONS):
            rows: list[SettledLabel | Alert] = [SettledLabel(float(number), 1, 0.9)]
            if number % 4 == 0:
                rows.append(Alert(number, 0.0, "missed", 1, None, "alarm", "x" * 2_000))
            written.write(SESSION, rows, number, 0.0, 0.0)
            if number % 4 == 0:
                disk.promise(number)
    for number in range(CUTS):
        folder = tmp_path / f"cut-{number}"
        promised = disk.cut(chance.randint(1, len(disk.noted)), chance, folder)
        kept = [entry[2] for path in spool_files(folder) for entry, _ in read_entries(path)]
        assert kept == list(range(len(kept))), "whole lines, in their order"
        assert len(kept) > promised


def test_the_names_of_a_spool_are_flushed_before_anything_is_promised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is flushed and whose name is not may be gone: that is the folder's to keep."""
    monkeypatch.setattr(spool, "FILE_LINES", 5)
    named: set[str] = set()
    flush = os.fsync

    def note(file: int) -> None:
        flush(file)
        named.update(os.listdir(file))

    monkeypatch.setattr(os, "fsync", note)
    with Spool(tmp_path, SESSION) as written:
        for number in range(20):
            written.write(SESSION, [Alert(number, 0.0, "missed", 1, None, "alarm", "x")], number, 0.0, 0.0)
            assert {path.name for path in spool_files(tmp_path)} <= named
        assert len(spool_files(tmp_path)) > 2


def test_a_power_cut_at_any_moment_loses_nothing_that_was_promised(tmp_path: Path) -> None:
    disk, chance = record(tmp_path / "before"), random.Random(0)
    assert sum(one.what == "sync" and one.file.endswith(DATABASE) for one in disk.noted) >= 2  # it was checkpointed
    begun = next(place for place, one in enumerate(disk.noted) if one.what == "promise")
    for number in range(CUTS):
        folder = tmp_path / f"cut-{number}"
        promised = disk.cut(chance.randint(begun + 1, len(disk.noted)), chance, folder)
        with Store(folder) as store:
            (kept,) = store.sessions()
            contents = store.contents(SESSION)
        assert is_sound(folder / DATABASE)
        assert [one.at for one in contents.labels] == [count / 5 for count in range(kept.frames)]  # whole transactions
        assert kept.frames > min(promised, TRANSACTIONS - 1)
        assert [one.id for one in contents.alerts] == list(range(0, kept.frames, 4))
        seen = [one.number for one in read_percepts(folder / SESSION / PERCEPTS_FILE)]
        assert seen == list(range(len(seen)))
        assert len(seen) > min(promised, TRANSACTIONS - 4)
        assert (kept.state == "finished") or promised < TRANSACTIONS

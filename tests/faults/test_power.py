"""The fault table, power cuts: a disk that loses or tears what was not flushed, at any moment of a session."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np

from guide.domain import Alert, SettledLabel
from guide.record.percepts import PERCEPTS_FILE, PerceptWriter, read_percepts
from guide.record.store import DATABASE, Store
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

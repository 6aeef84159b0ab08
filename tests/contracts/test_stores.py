"""The contract of the session store, on every database that it knows: what goes in comes out, once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from guide.domain import Alert, Question, Resolution, SettledLabel, StepEvent
from guide.errors import GuideError, InputError, OutputError
from guide.record.lock import SessionLock
from guide.record.percepts import PERCEPTS_FILE, PerceptWriter, pack, read_percepts
from guide.record.spool import Entry
from guide.record.store import Store
from guide.record.values import (
    Contents,
    HealthSample,
    Row,
    SessionFacts,
    SessionFilter,
    StoredAction,
    StoredOutcome,
    StoredPercept,
    StoredPicture,
)
from tests.postgres import Cluster

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
    outcomes=(StoredOutcome(9.0, "[1]", "[]", "look", "Complete, 1 thing to look at"),),
)
EVERYTHING = replace(EVERYTHING, final=EVERYTHING.resolutions)


def rows(contents: Contents) -> list[object]:
    return [row for field in Contents.__slots__ if field != "final" for row in getattr(contents, field)]


def fill(store: Store, name: str = FIRST, **facts: object) -> None:
    store.begin(SessionFacts(name, **({"started": 1e9, "person": "shift 2", "bundle": "demo"} | facts)))  # type: ignore[arg-type]


def test_what_goes_in_comes_out(tmp_path: Path, records: str | None) -> None:
    with Store(tmp_path, records=records) as store:
        fill(store)
        store.write(FIRST, rows(EVERYTHING), frames=30, at=9.0, wall=1e9 + 9)  # type: ignore[arg-type]
        assert store.contents(FIRST) == EVERYTHING
        found = store.find(FIRST)
    assert (found.frames, found.at, found.state, found.ended) == (30, 9.0, "open", None)
    assert found.alerts == 1, "alert 2 was withdrawn, alert 1 came twice"
    assert found.verdict == "Complete, 1 thing to look at"


def test_an_alert_that_comes_again_after_it_was_withdrawn_stands(tmp_path: Path, records: str | None) -> None:
    alert, gone = Alert(1, 4.0, "missed", 2, None, "warning", "not seen"), Resolution(1, 5.0, is_withdrawn=True)
    with Store(tmp_path, records=records) as store:
        fill(store)
        histories: list[tuple[list[Row], int]] = [([alert], 1), ([gone], 0), ([alert], 1), ([alert, gone], 0), ([], 0)]
        for said, standing in histories:
            store.write(FIRST, said, 1, 5.0, 1e9)
            assert store.find(FIRST).alerts == standing
            assert len(store.contents(FIRST).final) == 1 - standing


def test_sessions_are_found_by_what_is_known_of_them(tmp_path: Path, records: str | None) -> None:
    with Store(tmp_path, records=records) as store:
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
        assert store.alert_kinds() == {SECOND: {"stalled"}}
        store.write(SECOND, [Alert(2, 5.0, kind, 2, None, "info", "") for kind in ("missed", "stalled")], 2, 5.0, 2e9)
        assert store.alert_kinds() == {SECOND: {"missed", "stalled"}}
        store.write(SECOND, [Resolution(1, 6.0, is_withdrawn=True), Resolution(2, 6.0, is_withdrawn=True)], 2, 6.0, 2e9)
        assert store.alert_kinds() == {}
        store.write(SECOND, [Alert(2, 7.0, "missed", 2, None, "alarm", "")], 2, 7.0, 2e9)
        assert store.alert_kinds() == {SECOND: {"missed", "stalled"}}  # alert 2 was of both kinds
        assert names(SessionFilter(state="finished", bundle="demo")) == [FIRST]
        assert store.find("last").id == SECOND
        assert store.find("20300102").id == FIRST
        for strange in ("2030", "", "'; DROP TABLE sessions; --", "../.."):
            with pytest.raises(InputError, match="python -m guide sessions"):
                store.find(strange)


def test_a_closed_session_stays_as_it_was_closed(tmp_path: Path, records: str | None) -> None:
    with Store(tmp_path, records=records) as store:
        fill(store)
        store.end(FIRST, "finished", 1e9 + 60)
        store.end(FIRST, "interrupted", 1e9 + 90)
        assert (store.find(FIRST).state, store.find(FIRST).ended) == ("finished", 1e9 + 60)


def test_open_sessions_of_dead_processes_are_closed_and_those_of_living_ones_are_not(
    tmp_path: Path, records: str | None
) -> None:
    for name in (FIRST, SECOND):
        (tmp_path / name).mkdir()
    SessionLock(tmp_path / FIRST).release()
    lock = SessionLock(tmp_path / SECOND)
    with Store(tmp_path, records=records) as store:
        fill(store)
        fill(store, SECOND)
        store.write(FIRST, [], frames=3, at=0.6, wall=1e9 + 7)
        assert store.close_orphans() == (FIRST,)
        assert [(one.state, one.ended) for one in store.sessions()] == [("interrupted", 1e9 + 7), ("open", None)]
        with pytest.raises(InputError, match="still being recorded"):
            store.delete(SECOND)
        lock.release()
        assert store.close_orphans() == (SECOND,)


def test_an_answer_to_a_deleted_session_gets_a_sentence_of_its_own(tmp_path: Path, records: str | None) -> None:
    with Store(tmp_path, records=records) as store:
        store.begin(SessionFacts(FIRST, started=0.0))
        store.end(FIRST, "finished", 1.0)
        store.delete(FIRST)
        with pytest.raises(InputError, match="was deleted"):
            store.write(FIRST, [SettledLabel(0.0, 1, 0.9)], 1, 0.0, 0.0)
        assert store.sessions() == ()


@pytest.mark.parametrize("name", ["..", "/etc", "a/b", "20300102-030405-00ff/..", ""])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, records: str | None, name: str) -> None:
    with Store(tmp_path, records=records) as store, pytest.raises(InputError, match="named like"):
        store.delete(name)


def test_how_long_pictures_are_kept_is_set_for_all(tmp_path: Path, records: str | None) -> None:
    with Store(tmp_path, records=records) as store:
        fill(store, FIRST, keep_days=30.0)
        fill(store, SECOND)
        for days in (7.0, None):
            store.keep_pictures(days)
            assert [one.facts.keep_days for one in store.sessions()] == [days, days]


def test_days_of_what_a_clock_without_the_date_began_count_from_when_they_are_set(
    tmp_path: Path, records: str | None
) -> None:
    with Store(tmp_path, records=records) as store:
        store.trusted_time(1.8e9)
        fill(store, FIRST, started=60.0)
        fill(store, SECOND, started=1.8e9)
        store.keep_pictures(7.0)
        ends = [one.facts.started + 86_400 * (one.facts.keep_days or 0.0) for one in store.sessions()]
    assert ends == pytest.approx([1.8e9 + 7 * 86_400] * 2)


def test_numbers_come_back_exactly_and_text_as_far_as_it_can_be_shown(tmp_path: Path, records: str | None) -> None:
    exact = SettledLabel(1893500000.123457, -1, 0.1 + 0.2)
    said = StoredAction(1, 0.1, 0.2, 3, "answer", comment="a \" ' ; -- % ? \\ ü 🔧")
    with Store(tmp_path, records=records) as store:
        fill(store, keep_days=0.1)
        store.write(FIRST, [exact, said], 1, 1e-17, 1.7e9)
        found, contents = store.find(FIRST), store.contents(FIRST)
    assert (contents.labels, contents.actions) == ((exact,), (said,))
    assert (found.at, found.facts.keep_days) == (1e-17, 0.1)


def test_a_write_is_stored_as_a_whole_or_not_at_all(tmp_path: Path, records: str | None) -> None:
    with Store(tmp_path, records=records) as store:
        fill(store)
        broken = replace(EVERYTHING.actions[0], comment=None)  # type: ignore[arg-type]
        with pytest.raises(GuideError):
            store.write(FIRST, [SettledLabel(0.1, 1, 0.5), broken], 1, 0.1, 1e9)
        assert (store.contents(FIRST), store.find(FIRST).frames) == (Contents(), 0)


def test_a_killed_session_is_found_by_its_source_and_goes_on(tmp_path: Path, records: str | None) -> None:
    (tmp_path / FIRST).mkdir()
    SessionLock(tmp_path / FIRST).release()
    with Store(tmp_path, records=records) as store:
        fill(store, source="headset:a")
        store.write(FIRST, [], 3, 0.6, 1e9 + 7)
        assert store.killed("headset:a", since=0.0) is None, "it is open"
        store.close_orphans()
        assert store.killed("headset:b", since=0.0) is None
        assert store.killed("headset:a", since=1e9 + 8) is None
        found = store.killed("headset:a", since=1e9)
        assert found is not None
        assert found.id == FIRST
        store.reopen(FIRST)
        assert (store.find(FIRST).state, store.find(FIRST).ended) == ("open", None)


def test_many_sessions_write_at_once_and_each_keeps_its_order(tmp_path: Path, records: str | None) -> None:
    names = [f"20300102-030405-{number:04x}" for number in range(8)]
    Store(tmp_path, records=records).close()

    def record(name: str) -> None:
        with Store(tmp_path, records=records) as store:
            attempt(lambda: fill(store, name))
            for number in range(20):
                attempt(partial(store.write, name, [SettledLabel(number, 1, 0.5)] * 2, 1, number, number))

    def attempt(what: Callable[[], None]) -> None:
        """Again while another one is writing, as the writer does it."""
        until = time.monotonic() + 30.0
        while True:
            try:
                return what()
            except OutputError:
                assert time.monotonic() < until

    threads = [threading.Thread(target=record, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    with Store(tmp_path, records=records) as store:
        assert [one.id for one in store.sessions()] == names
        for name in names:
            assert [one.at for one in store.contents(name).labels] == [float(n) for n in range(20) for _ in range(2)]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tries=st.lists(st.tuples(st.integers(0, 6), st.integers(1, 7)), max_size=12))
def test_lines_that_are_shipped_again_count_once(
    tmp_path: Path, records: str | None, tries: list[tuple[int, int]]
) -> None:
    """A shipper that did not hear of its success ships from any earlier line again."""
    entries: list[Entry] = [["begin", [FIRST, 1e9, "", "", "", "", "{}", "{}", None]]]
    entries += [["write", [["labels", float(at), 1, 0.5]], at, float(at), 1e9] for at in range(6)]
    entries += [["end", "finished", 1e9 + 6]]
    done = 0
    with Store(tmp_path, records=records) as store:
        for table in ("sessions", "spools"):  # of the example before
            store._db.run(f"DELETE FROM {table}")
        for back, count in [*tries, (0, len(entries))]:
            first = max(0, done - back)
            assert store.ship("a", FIRST, first, entries[first : first + count])
            done = max(done, min(len(entries), first + count))
            found = store.sessions()
            stored = [one.at for one in store.contents(FIRST).labels]
            assert stored == [float(at) for at in range(min(6, max(0, done - 1)))]
            assert [one.state for one in found] == ["finished" if done == len(entries) else "open"]


def test_a_session_that_another_machine_takes_over_is_heard_of_from_there_alone(
    tmp_path: Path, postgres: Cluster
) -> None:
    """What was seen comes along; what the first machine still says, a ghost by then, is not stored."""
    records, seen = (
        postgres.database(),
        [StoredPercept(number, number / 5, np.full(3, number, np.float32)) for number in range(4)],
    )
    here, there = tmp_path / "here", tmp_path / "there"
    facts = [FIRST, 1e9, "", "", "", "headset:helmet", "{}", "{}", None]
    entries: list[Entry] = [["begin", facts]]
    entries += [["write", [["labels", at, 1, 0.5], ["percepts", pack(some)]], 4, at, 1e9 + at]
                for at, some in ((1.0, seen[:3]), (2.0, seen[3:]))]  # fmt: skip
    ghost: list[Entry] = [["write", [["labels", 3.0, 1, 0.5]], 5, 3.0, 1e9 + 3], ["end", "finished", 1e9 + 4]]
    with Store(here, records=records) as store:
        assert store.ship("a", FIRST, 0, entries)
        (here / FIRST).mkdir(parents=True)
        lock = SessionLock(here / FIRST)
        assert store.take_over("headset:helmet", since=1e9) is None, "it is recorded here"
        lock.release()
    with Store(there, records=records) as store:
        assert store.take_over("headset:other", since=1e9) is None
        assert store.take_over("headset:helmet", since=1e9 + 60) is None, "silent for too long"
        taken = store.take_over("headset:helmet", since=1e9)
        assert taken is not None
        assert (taken.id, taken.frames, taken.ended) == (FIRST, 4, 1e9 + 2)
        found = list(read_percepts(there / FIRST / PERCEPTS_FILE))
        assert [(one.number, one.at, one.embedding.tolist()) for one in found] == [
            (one.number, one.at, one.embedding.tolist()) for one in seen
        ]
    with Store(here, records=records) as store:
        assert store.ship("a", FIRST, len(entries), ghost)
        assert [one.at for one in store.contents(FIRST).labels] == [1.0, 2.0]
        assert store.ship("b", FIRST, 0, [["reopen"], ghost[0], ghost[1]])
        assert [one.at for one in store.contents(FIRST).labels] == [1.0, 2.0, 3.0]
        assert store.find(FIRST).state == "finished"
        assert not store._db.rows("SELECT * FROM percepts"), "nobody goes on with it any more"


def test_a_session_gone_on_with_where_it_began_is_closed_when_nobody_records_it_there(
    tmp_path: Path, postgres: Cluster
) -> None:
    (tmp_path / FIRST).mkdir()
    SessionLock(tmp_path / FIRST).release()
    now = time.time()
    with Store(tmp_path, records=postgres.database()) as store:
        store.ship("a", FIRST, 0, [["begin", [FIRST, now, "", "", "", "headset:helmet", "{}", "{}", None]]])
        assert store.take_over("headset:helmet", since=now) is not None
        store.ship("b", FIRST, 0, [["reopen"], ["write", [], 0, 0.0, now]])
        assert store.find(FIRST).state == "open"
        assert store.close_orphans() == (FIRST,)


def test_a_session_goes_to_another_machine_and_back_with_all_that_was_seen(tmp_path: Path, postgres: Cluster) -> None:
    """The first machine has a lock and some percepts of it all the while, which say nothing of what came later."""
    records, now = postgres.database(), time.time()
    seen = [StoredPercept(number, number / 5, np.full(3, number, np.float32)) for number in range(4)]
    here, there = tmp_path / "here", tmp_path / "there"
    for machine in (here, there):
        (machine / FIRST).mkdir(parents=True)
    with Store(here, records=records) as store, PerceptWriter(here / FIRST / PERCEPTS_FILE) as writer:
        SessionLock(here / FIRST).release()
        writer.append(seen[:2])
        begin: Entry = ["begin", [FIRST, now, "", "", "", "headset:helmet", "{}", "{}", None]]
        store.ship("a", FIRST, 0, [begin, ["write", [["percepts", pack(seen[:2])]], 2, 0.2, now]])
    with Store(there, records=records) as store:
        assert store.take_over("headset:helmet", since=now) is not None
        lock = SessionLock(there / FIRST)
        store.ship("b", FIRST, 0, [["reopen"], ["write", [["percepts", pack(seen[2:])]], 4, 0.6, now + 1]])
    with Store(here, records=records) as store:
        assert store.close_orphans() == (), "it is recorded there"
        with pytest.raises(InputError, match="still being recorded"):
            store.delete(FIRST)
        lock.release()
        taken = store.take_over("headset:helmet", since=now)
        assert taken is not None
        assert (taken.frames, taken.state) == (4, "interrupted")
    assert [one.number for one in read_percepts(here / FIRST / PERCEPTS_FILE)] == [0, 1, 2, 3]

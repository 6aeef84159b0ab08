"""A recorded session: what is kept, what a replay gives, and that no picture is kept where none is wanted."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from guide.bundle import Bundle, fingerprint, read_bundle, write_manifest
from guide.commands import report, sessions, watch
from guide.commands.entry import entry, run
from guide.commands.replay import DIFFERS, ReplayOptions, differences, main, open_replay
from guide.domain import Alert, Frame, Guidance, KeyStep, Segment, Update
from guide.errors import InputError
from guide.ingest.files import VideoFile
from guide.networks import start_networks
from guide.procedure.actions import Action
from guide.procedure.attended import AttendedTracker
from guide.procedure.ending import judge
from guide.procedure.export import to_plain
from guide.procedure.learn import learn_procedure
from guide.procedure.model import Procedure
from guide.record.percepts import PERCEPTS_FILE, read_percepts
from guide.record.sqlite import DATABASE
from guide.record.store import Store
from guide.record.values import Contents, StoredSession
from guide.record.webhook import Webhook
from guide.recording import ClosedRecording, Recording, RecordingOptions, SourceFacts, recorded
from guide.session import Session, follow, follow_features
from guide.settings import LiveSettings
from tests.guide.record.test_webhook import Target
from tests.postgres import PASSWORD, SECRET, Cluster
from tests.synth import steady
from tests.tiny import FEATURE_RATE, STEP_S, Learned, altered, write_steps

ROOT = Path(__file__).parents[2]
QUICK = LiveSettings(confirm_s=0.3, bridge_s=0.3)
FILE = SourceFacts("a file")


def strict(task: Learned, place: Path, orders: tuple[tuple[int, ...], ...] = ((1, 2, 3, 4),)) -> Bundle:
    """The bundle with a procedure in which every step is needed, in that order."""
    forged = altered(task.bundle, place)
    steps = [[Segment(step, 3.0 * n, 3.0 * n + 2) for n, step in enumerate(order)] for order in orders * 6]
    (place / "procedure.json").write_text(json.dumps(to_plain(learn_procedure(steps))), encoding="utf-8")
    write_manifest(place, {key: value for key, value in forged.facts.items() if key != "files"})
    return read_bundle(place)


def start(bundle: Bundle) -> Session:
    return Session(bundle, start_networks(bundle, "cpu", threads=1), QUICK)


@contextmanager
def recording(session: Session, folder: Path, **options: Any) -> Iterator[Recording]:
    with recorded(session, RecordingOptions(record=True, data=folder, **options), FILE) as made:
        assert made is not None
        yield made


def read(folder: Path, name: str = "last") -> tuple[StoredSession, Contents]:
    with Store(folder, is_new=False) as store:
        store.close_orphans()
        stored = store.find(name)
        return stored, store.contents(stored.id)


@pytest.fixture
def video(tmp_path: Path) -> Path:
    """Steps out of their order, one left out, one twice."""
    order = (1, 3, 1, 2, 0)
    return write_steps(tmp_path / "faulty.mp4", order, steady(int(len(order) * STEP_S * 10), 10))


@pytest.fixture
def bundle(frames_task: Learned, tmp_path: Path) -> Bundle:
    return strict(frames_task, tmp_path / "strict")


def replayed(folder: Path, **options: Any) -> tuple[Contents, list[Update]]:
    replay = open_replay(ReplayOptions("last", data=folder, device="cpu", **options))
    return replay.contents, list(replay.updates())


def alerts(updates: list[Update]) -> list[Alert]:
    return [one for update in updates for one in update.guidance if isinstance(one, Alert)]


def test_everything_is_kept_and_a_replay_gives_the_same(bundle: Bundle, video: Path, tmp_path: Path) -> None:
    session = start(bundle)
    with recording(session, tmp_path / "data", person="shift 2") as made:
        live = list(follow(VideoFile(video), session))
    stored, contents = read(tmp_path / "data")
    assert (stored.id, stored.state, stored.facts.person) == (made.name, "finished", "shift 2")
    assert stored.facts.bundle_hash == fingerprint(bundle)
    assert contents.labels == tuple(update.label for update in live)
    assert contents.steps == tuple(event for update in live for event in update.events)
    assert list(contents.alerts) == alerts(live)
    assert len(contents.alerts) >= 1
    assert stored.frames == len(list(read_percepts(tmp_path / "data" / stored.id / PERCEPTS_FILE))) == len(live)
    then, now = replayed(tmp_path / "data")
    assert now == live
    assert differences(then, now) == []


def test_the_end_is_kept_as_the_tracker_held_it(bundle: Bundle, video: Path, tmp_path: Path) -> None:
    session = start(bundle)
    with recording(session, tmp_path / "data", pictures=False):
        list(follow(VideoFile(video), session))
    (outcome,) = read(tmp_path / "data")[1].outcomes
    state = session.tracker.state
    assert json.loads(outcome.visits) == [
        [one.step, round(one.start, 3), round(one.end, 3), round(one.busy_s, 3)] for one in state.visits
    ]
    assert set(json.loads(outcome.done)) == {one.step for one in state.visits}
    ending = judge(session.tracker)
    assert (outcome.ending, outcome.verdict) == (ending.kind, ending.words)
    assert read(tmp_path / "data")[0].verdict == ending.words


def test_a_turn_at_a_step_that_was_called_not_done_is_not_kept_as_done(
    bundle: Bundle, video: Path, tmp_path: Path
) -> None:
    session = start(bundle)
    with recording(session, tmp_path / "data", pictures=False):
        for frame in VideoFile(video):
            session.push(frame)
        session.act(Action("not_yet", session.tracker.state.at, step=2))
        session.finish()
    (outcome,) = read(tmp_path / "data")[1].outcomes
    assert 2 in {one.step for one in session.tracker.state.visits}
    assert 2 not in [*json.loads(outcome.done), *(step for step, *_ in json.loads(outcome.visits))]


def act(session: Session, frame: int, at: float) -> tuple[Guidance, ...]:
    """An operator who meddles at fixed moments, with what stands then."""
    standing = [one.id for one in session.tracker.standing]
    if frame == 12:
        return session.act(Action("mark_done", at, step=2, person="shift 2", comment="off camera"))
    if frame == 20 and standing:
        return session.act(Action("false_alarm", at, target=standing[0], person="lead"))
    if frame == 25:
        return session.act(Action("undo", at, target=1))
    if frame in (30, 34):
        return session.act(Action("pause" if frame == 30 else "resume", at))
    if frame == 40:
        return session.act(Action("restart", at))
    return ()


def test_a_replay_with_actions_gives_the_same(bundle: Bundle, video: Path, tmp_path: Path) -> None:
    session = start(bundle)
    said: list[Guidance] = []
    with recording(session, tmp_path / "data"):
        for number, frame in enumerate(VideoFile(video).frames(session.perceiver.is_due)):
            said += [one for update in session.see(frame) for one in update.guidance]
            said += act(session, number, frame.at)
        said += [one for update in session.finish() for one in update.guidance]
        standing = [one for one in session.tracker.standing if isinstance(one, Alert)]
        said += session.act(Action("was_done", 99.0, target=standing[0].id))
    then, now = replayed(tmp_path / "data")
    assert [action.kind for action in then.actions][-1] == "was_done"
    assert len(then.actions) >= 5
    assert [one for update in now for one in update.guidance] == said
    assert differences(then, now) == []


def test_features_are_recorded_and_replayed(features_task: Learned, tmp_path: Path) -> None:
    bundle = strict(features_task, tmp_path / "strict", ((4, 3, 2, 1),))
    rows = np.load(Path(features_task.options.inputs[0]) / "a.npy")
    session = start(bundle)
    with recording(session, tmp_path / "data"):
        live = list(follow_features(rows, FEATURE_RATE, session))
    assert alerts(live)
    assert replayed(tmp_path / "data")[1] == live


def test_pictures_are_kept_where_wanted_and_nowhere_else(bundle: Bundle, video: Path, tmp_path: Path) -> None:
    for folder, is_wanted in (("with", True), ("without", False)):
        session = start(bundle)
        with recording(session, tmp_path / folder, pictures=is_wanted):
            list(follow(VideoFile(video), session))
        stored, contents = read(tmp_path / folder)
        files = {path.suffix for path in (tmp_path / folder / stored.id).iterdir()}
        assert files == ({".mp4", ".jpg", ".bin", ""} if is_wanted else {".bin", ""})
        assert bool(contents.pictures) == is_wanted
        if is_wanted:
            (clip,) = (one for one in contents.pictures if one.of == "video")
            times = [frame.at for frame in VideoFile(tmp_path / folder / stored.id / clip.file)]
            seen = [one.at for one in read_percepts(tmp_path / folder / stored.id / PERCEPTS_FILE)]
            assert times == pytest.approx(seen, abs=1e-4), "every processed frame with its true time"
            steps = [one.number for one in contents.pictures if one.of == "step"]
            assert steps == [event.step for event in contents.steps if event.state == "confirmed"]
            assert {one.number for one in contents.pictures if one.of == "alert"} == {a.id for a in contents.alerts}


def test_a_source_that_fails_at_once_leaves_no_session(bundle: Bundle, tmp_path: Path) -> None:
    session = start(bundle)
    with pytest.raises(InputError), recording(session, tmp_path / "data"):
        list(follow(VideoFile(tmp_path / "missing.mp4"), session))
    assert not (tmp_path / "data").exists()
    assert session.listener is None


def test_a_session_broken_off_is_interrupted_and_replays_as_far_as_it_came(
    bundle: Bundle, video: Path, tmp_path: Path
) -> None:
    session = start(bundle)

    def broken() -> Iterator[Frame]:
        for number, frame in enumerate(VideoFile(video)):
            if number == 70:
                raise KeyboardInterrupt
            yield frame

    with pytest.raises(KeyboardInterrupt), recording(session, tmp_path / "data"):
        list(follow(broken(), session))
    stored, contents = read(tmp_path / "data")
    assert stored.state == "interrupted"
    then, now = replayed(tmp_path / "data")
    assert [update.label for update in now] == list(contents.labels)
    assert differences(then, now) == []


CHILD = """
import os, sys
from pathlib import Path
from guide.bundle import read_bundle
from guide.ingest.files import VideoFile
from guide.recording import RecordingOptions, SourceFacts, recorded
from guide.networks import start_networks
from guide.session import Session
from guide.settings import LiveSettings
import time
bundle = read_bundle(Path(sys.argv[1]))
session = Session(bundle, start_networks(bundle, "cpu", 1), LiveSettings(confirm_s=0.3, bridge_s=0.3))
with recorded(session, RecordingOptions(record=True, data=Path(sys.argv[3])), SourceFacts("a file")):
    for frame in VideoFile(sys.argv[2]).frames(session.perceiver.is_due):
        session.see(frame)
        time.sleep(0.03)
    os.kill(os.getpid(), 9)
"""


def test_a_killed_session_replays_exactly_what_was_stored(bundle: Bundle, video: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(bundle.folder), str(video), str(tmp_path / "data")], cwd=ROOT, check=False
    )
    assert done.returncode == -9
    stored, contents = read(tmp_path / "data")
    assert stored.state == "interrupted"
    assert stored.frames >= 15
    then, now = replayed(tmp_path / "data")
    assert [update.label for update in now] == list(contents.labels), "a transaction holds whole frames"
    assert differences(then, now) == []


def test_another_bundle_can_be_tried_and_the_same_is_asked_for(
    bundle: Bundle, frames_task: Learned, video: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = start(bundle)
    with recording(session, tmp_path / "data"):
        list(follow(VideoFile(video), session))
    main(ReplayOptions("last", data=tmp_path / "data", device="cpu"))
    assert "the same alerts as recorded" in " ".join(capsys.readouterr().out.split())
    other = strict(frames_task, tmp_path / "other", ((1, 3, 2, 4), (3, 1, 2, 4)))
    main(ReplayOptions("last", data=tmp_path / "data", bundle=other.folder, device="cpu", jsonl=True))
    said = capsys.readouterr()
    assert "it differs from the recording with" in " ".join(said.err.split())
    assert all(json.loads(line)["type"] for line in said.out.splitlines())
    (bundle.folder / "procedure.json").write_bytes((other.folder / "procedure.json").read_bytes())
    write_manifest(bundle.folder, {key: value for key, value in bundle.facts.items() if key != "files"})
    with pytest.raises(InputError, match="is not the bundle that session"):
        open_replay(ReplayOptions("last", data=tmp_path / "data"))


def test_a_bundle_that_sees_otherwise_cannot_replay_it(
    bundle: Bundle, features_task: Learned, video: Path, tmp_path: Path
) -> None:
    session = start(bundle)
    with recording(session, tmp_path / "data"):
        list(follow(VideoFile(video), session))
    with pytest.raises(InputError, match="sees with another network"):
        replayed(tmp_path / "data", bundle=features_task.folder)


def test_a_replay_that_differs_is_said_and_exits_with_1(
    bundle: Bundle, video: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = start(bundle)
    with recording(session, tmp_path / "data"):
        list(follow(VideoFile(video), session))
    with Store(tmp_path / "data") as store:
        one = store.find("last")
        store.write(one.id, [Alert(99, 1.0, "stalled", 1, None, "info", "forged")], one.frames, one.at, 0.0)
    with pytest.raises(SystemExit) as left:
        run(lambda: main(ReplayOptions("last", data=tmp_path / "data", device="cpu")))
    assert left.value.code == DIFFERS
    assert "- Alert(id=99" in capsys.readouterr().out


def test_alerts_and_their_end_reach_the_webhook_without_a_recording(
    bundle: Bundle, video: Path, tmp_path: Path
) -> None:
    target = Target()
    session = start(bundle)
    options = RecordingOptions(webhook=f"http://127.0.0.1:{target.port}/", person="shift 2", data=tmp_path / "data")
    with recorded(session, options, FILE):
        live = list(follow(VideoFile(video), session))
    target.close()
    assert [one["id"] for one in target.got if one["type"] == "alert"] == [alert.id for alert in alerts(live)]
    assert {(one["person"], one["source"]) for one in target.got} == {("shift 2", "a file")}
    assert not (tmp_path / "data").exists()


def test_a_name_that_is_no_text_spoils_neither_recording_nor_webhook(
    bundle: Bundle, video: Path, tmp_path: Path
) -> None:
    odd, target = "vid\udce9o.mp4", Target()  # how Python shows a file's name in another encoding
    session, hook = start(bundle), f"http://127.0.0.1:{target.port}/"
    options = RecordingOptions(record=True, data=tmp_path / "s", person=odd, pictures=False, webhook=hook)
    with recorded(session, options, SourceFacts(odd)):
        assert alerts(list(follow(VideoFile(video), session)))
    target.close()
    stored, _ = read(tmp_path / "s")
    assert (stored.facts.source, stored.facts.person, stored.state) == ("vid?o.mp4", "vid?o.mp4", "finished")
    assert {one["source"] for one in target.got} == {"vid?o.mp4"}


def test_health_is_sampled(bundle: Bundle, tmp_path: Path) -> None:
    session = start(bundle)
    source = SourceFacts("camera 0", is_live=True, gauge=lambda: {"dropped": 3})
    with recorded(session, RecordingOptions(record=True, data=tmp_path), source) as made:
        assert made is not None
        for number in range(130):
            session.push(Frame(number, 0.2 * number, np.zeros((8, 8, 3), np.uint8)))
        made.note(26.0, "lost: camera 0 was lost")
    _, contents = read(tmp_path)
    samples = [json.loads(one.values) for one in contents.health if not one.note]
    assert [one["dropped"] for one in samples] == [3, 3]
    assert samples[0]["frames"] == 51
    assert [one.note for one in contents.health if one.note] == ["lost: camera 0 was lost"]


def test_watch_records_and_says_where(
    bundle: Bundle, video: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [str(video), "--bundle", str(bundle.folder), "--device", "cpu", "--jsonl"]
    entry(watch.WatchOptions, watch.main, args=words)
    plain = capsys.readouterr()
    kept = ["--record", "--data", str(tmp_path / "data"), "--person", "shift 2", "--no-pictures"]
    entry(watch.WatchOptions, watch.main, args=[*words, *kept])
    said = capsys.readouterr()
    assert said.out == plain.out, "a recording changes nothing of what is said"
    stored, _ = read(tmp_path / "data")
    assert f"python -m guide report {stored.id} --data {tmp_path / 'data'}" in said.err
    assert (stored.facts.person, stored.facts.source) == ("shift 2", str(video))
    (tmp_path / "file").write_text("")
    nowhere = ["--record", "--data", str(tmp_path / "file")]
    for wrong in (["--keep-days", "-1"], ["--webhook", "ftp://example.org"], nowhere):
        with pytest.raises(SystemExit) as left:
            entry(watch.WatchOptions, watch.main, args=[*words, *wrong])
        said = capsys.readouterr()
        assert (left.value.code, said.err.count("\n"), said.out) == (2, 1, ""), "told before the work begins"


def test_watch_records_in_postgresql_and_every_command_reads_it(
    bundle: Bundle, video: Path, tmp_path: Path, postgres: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--data", str(tmp_path / "data"), "--records", postgres.database()]
    words = [str(video), "--bundle", str(bundle.folder), "--device", "cpu"]
    entry(watch.WatchOptions, watch.main, args=[*words, "--record", *where])
    assert "--records ADDRESS" in capsys.readouterr().out
    assert not (tmp_path / "data" / DATABASE).exists()
    entry(sessions.SessionsOptions, sessions.main, args=[*where, "--jsonl"])
    (stored,) = capsys.readouterr().out.splitlines()
    assert '"state": "finished"' in stored
    entry(report.ReportOptions, report.main, args=["last", *where])
    entry(ReplayOptions, main, args=["last", *where, "--device", "cpu"])  # it would exit with 1 where it differs
    pages = b"".join(path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file())
    assert SECRET.encode() not in pages
    assert PASSWORD.encode() not in pages


def test_a_person_whose_name_is_no_text_may_act(bundle: Bundle, video: Path, tmp_path: Path) -> None:
    options = RecordingOptions(record=True, data=tmp_path, person="caf\udce9", pictures=False)
    session = start(bundle)
    with recorded(session, options, FILE):
        for update in follow(VideoFile(video), session):
            if not session.tracker.actions and update.events:
                session.act(Action("pause", person=options.person))
    stored, contents = read(tmp_path)
    assert (stored.state, [one.person for one in contents.actions]) == ("finished", ["caf?"])


def test_the_store_is_closed_before_a_webhook_that_is_down_is_waited_for(
    bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = []
    monkeypatch.setattr(Webhook, "close", lambda hook: states.append(read(tmp_path)[0].state))
    session = start(bundle)
    options = RecordingOptions(record=True, data=tmp_path, pictures=False, webhook="http://127.0.0.1:9/")
    with recorded(session, options, FILE):
        session.push(Frame(0, 0.0, np.zeros((8, 8, 3), np.uint8)))
        session.finish()
    assert states == ["finished"]


def test_an_answer_to_a_session_whose_folder_is_gone_makes_no_new_one(tmp_path: Path) -> None:
    tracker = AttendedTracker(Procedure((KeyStep(1, "cut"),), 4))
    closed = ClosedRecording(tmp_path / "gone", "20300102-030405-00ff", frames=1, at=1.0, why_not="")
    with pytest.raises(InputError, match="holds no sessions"):
        closed.add(Action("pause", 1.0), (), tracker)
    assert not (tmp_path / "gone").exists()


def test_senseless_days_are_refused() -> None:
    with pytest.raises(InputError, match="number of days"):
        replace(RecordingOptions(), keep_days=-1.0)

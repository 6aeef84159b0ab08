"""All sessions of the server: what is left of one when it is over."""

from __future__ import annotations

import gc
import time
import weakref
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from guide.commands.steps import write_list_bundle
from guide.errors import InputError, OutputError
from guide.ingest.pushed import PushedFrames
from guide.procedure.written_list import read_list
from guide.recording import RecordingOptions, SourceFacts
from guide.resuming import Earlier
from guide.serve.library import Library
from guide.serve.metrics import Metrics
from guide.serve.picture import decode
from guide.serve.run import Run
from guide.serve.runs import Runs, TakenError, _Notes
from guide.serve.schemas import SessionRequest
from guide.serve.tokens import Identity
from guide.session import Session
from tests.server import QUICK, step_picture
from tests.tiny import Learned, write_steps


@pytest.fixture
def runs(frames_task: Learned, tmp_path: Path) -> Iterator[Runs]:
    metrics = Metrics()
    library = Library(frames_task.folder, metrics, "cpu", threads=1)
    made = Runs(library, QUICK, RecordingOptions(data=tmp_path), metrics, most=3)
    yield made
    made.close()
    library.close()


def test_names_of_headsets_do_not_pile_up(runs: Runs) -> None:
    for number in range(5):
        run = runs.start(SessionRequest(f"headset:phone-{number}"))
        run.end()
        run.join()
        assert run.state == "finished"
    assert runs._headsets._sources == {}


def test_a_name_is_taken_while_its_session_runs_and_free_afterwards(runs: Runs) -> None:
    run = runs.start(SessionRequest("headset: helmet"))
    assert run.facts.client == "helmet"
    with pytest.raises(TakenError, match="already"):
        runs.start(SessionRequest("headset:helmet"))
    run.end()
    run.join()
    assert runs.start(SessionRequest("headset:helmet")).facts.id != run.facts.id


def test_a_headset_without_a_name_is_refused_and_leaves_nothing(runs: Runs) -> None:
    with pytest.raises(InputError, match="headset's name"):
        runs.start(SessionRequest("headset:  "))
    assert runs.all() == ()


def test_a_finished_session_is_shown_without_being_held(runs: Runs) -> None:
    """Many are shown for a while, and each holds megabytes of what it saw."""
    run = runs.start(SessionRequest("headset:helmet"))
    held = weakref.ref(run._session)
    stills = {one["step"]: one["stills"] for one in run.steps}
    kept = run.show()["health"]["recording"]
    run.end()
    run.join()
    gc.collect()
    assert held() is None
    assert (run.show()["state"], run.show()["health"]["recording"]) == ("finished", kept)
    assert [run.still(step, 1) is not None for step in stills] == [bool(count) for count in stills.values()]
    with pytest.raises(InputError, match="over"):
        run.act({"kind": "next"}, Identity("admin"))


def test_actions_do_not_pile_up(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("guide.serve.run.MOST_ACTIONS", 3)
    run = runs.start(SessionRequest("headset:helmet"))
    for kind in ("pause", "resume", "pause"):
        run.act({"kind": kind}, Identity("camera"))
    with pytest.raises(InputError, match="3 actions were taken"):
        run.act({"kind": "resume"}, Identity("camera"))


def test_the_newest_frame_ages_while_none_comes(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    run = runs.start(SessionRequest("headset:helmet"))
    assert isinstance(run.source, PushedFrames)
    run.source.push(decode(step_picture(1, 0, 5)), 0.0)
    assert run.begun.wait(20)
    now = time.monotonic()
    monkeypatch.setattr("guide.serve.run.time.monotonic", lambda: now + 90.0)
    assert 90.0 <= run.show()["health"]["age_s"] < 120.0
    monkeypatch.undo()
    run.end()
    run.join()
    assert run.show()["health"]["age_s"] < 30.0  # of the time since it was over nothing is told


def test_the_last_picture_stays_but_not_the_frame(runs: Runs) -> None:
    run = runs.start(SessionRequest("headset:helmet"))
    source = run.source
    assert isinstance(source, PushedFrames)
    source.push(decode(step_picture(1, 0, 5)), 0.0)
    assert run.begun.wait(20.0)
    run.end()
    run.join()
    assert run._frame is None
    for has_words in (True, False):
        shown = run.picture(has_words)
        assert shown is not None
        assert decode(shown[1]).ndim == 3


def test_a_session_made_while_all_others_are_ended_ends_with_them(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    make = Runs._make

    def make_late(them: Runs, wish: SessionRequest, machine: str | None) -> Run:
        run = make(them, wish, machine)
        them.close()
        return run

    monkeypatch.setattr(Runs, "_make", make_late)
    run = runs.start(SessionRequest("headset:helmet"))
    run.join()
    assert run.state == "finished"


def test_a_session_that_cannot_be_made_gives_back_what_it_took(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OutputError("no room for a recording.")

    monkeypatch.setattr(Runs, "_record", refuse)
    for _ in range(2):
        with pytest.raises(OutputError):
            runs.start(SessionRequest("headset:helmet"))
    assert runs._headsets._sources == {}
    assert runs.library._uses.total() == 0


def test_a_session_that_comes_back_to_where_it_ended_keeps_its_name(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It went on at another replica meanwhile; this one still shows how it ended here."""
    run = runs.start(SessionRequest("headset:helmet"))
    run.end()
    run.join()
    monkeypatch.setattr("guide.serve.runs.recorded", lambda *_: nullcontext(SimpleNamespace(name=run.facts.id)))
    about, earlier, session = SourceFacts("headset:helmet"), cast(Earlier, SimpleNamespace()), cast(Session, None)
    _, _, name = runs._record(session, RecordingOptions(), about, _Notes(), earlier)
    assert name == run.facts.id


def test_networks_are_given_back_when_a_session_is_over(runs: Runs) -> None:
    run = runs.start(SessionRequest("headset:helmet"))
    assert runs.library._uses.total() == 1
    run.end()
    run.join()
    assert runs.library._uses.total() == 0


def _still_at(run: Run) -> int:
    """How many frames were looked at when no more came for a while: on a busy machine the last one takes its time."""
    deadline = time.monotonic() + 20.0
    while time.monotonic() < deadline:
        before = run.processed
        time.sleep(0.6)
        if run.processed == before:
            return before
    raise AssertionError(f"frames go on: {run.processed} by now")


def test_a_recording_that_is_played_stands_still_while_it_is_paused(runs: Runs, tmp_path: Path) -> None:
    video = write_steps(tmp_path / "new.mp4", (1, 3), [number / 10 for number in range(600)])
    run = runs.start(SessionRequest(str(video)))
    assert run.begun.wait(20.0)
    run.act({"kind": "pause"}, Identity("admin"))
    before = _still_at(run)
    time.sleep(0.6)
    assert run.processed == before
    run.act({"kind": "resume"}, Identity("admin"))
    deadline = time.monotonic() + 20.0
    while run.processed < before + 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert run.processed >= before + 2
    run.act({"kind": "pause"}, Identity("admin"))
    run.end()  # a pause does not hold up the end
    run.join()
    assert run.state == "finished"


def test_a_list_of_steps_guides_without_a_camera(tmp_path: Path) -> None:
    """Next, missed and out of order by what an operator marks as done; the server's own way to act is taken."""
    write_list_bundle(read_list("cut\nfold\nglue\ndry (optional)", "a list"), tmp_path / "exported" / "kite")
    library = Library(tmp_path / "exported" / "kite", Metrics(), "cpu", threads=1)
    made = Runs(library, QUICK, RecordingOptions(data=tmp_path / "data"), Metrics())
    run = made.start(SessionRequest("none"))
    operator = Identity("operate", "shift 2")

    def done(step: int) -> dict[str, Any]:
        run.act({"kind": "mark_done", "step": step}, operator)
        return run.show()

    try:
        assert [one["name"] for one in run.show()["next"]] == ["cut", "fold", "glue", "dry"]
        first = done(1)
        assert (first["next"][0]["name"], first["next"][0]["total"]) == ("fold", 0)
        early = done(3)
        assert [(one["kind"], one["name"]) for one in early["alerts"]] == [("missed", "fold")]
        assert "by a rule that was given" in early["alerts"][0]["evidence"]
        assert early["next"][0]["missed"]
        late = done(2)
        assert [(one["kind"], one["name"], one["before"]) for one in late["alerts"]] == [("out_of_order", "glue", 2)]
        assert late["progress"]["lacking"] == []
        assert late["health"]["provider"] == "nothing: steps are marked by hand"
        assert run.begun.wait(5)
        run.end()
        run.join()
        assert (run.state, run.problem) == ("finished", "")
        assert run.picture() is not None
    finally:
        made.close()
        library.close()


def test_a_learned_procedure_can_be_followed_by_hand_too(runs: Runs) -> None:
    run = runs.start(SessionRequest("none"))
    first = run.show()["next"][0]["step"]
    run.act({"kind": "mark_done", "step": first}, Identity("operate", "shift 2"))
    assert run.show()["progress"]["done"] == [first]
    run.end()
    run.join()
    assert run.state == "finished"

"""What the Learn page shows: stages read from the log, the curve, plain words for every end, and doubts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from guide.domain import KeyStep, Segment
from guide.procedure.learn import learn_procedure
from guide.procedure.model import Procedure
from guide.ui.state import learn as state
from guide.ui.state.bundles import DamagedBundle
from guide.ui.state.learn import ResultView, ScoreView
from guide.ui.training import SCORES, JobState, TrainingJob, TrainingRequest
from tests.guide.ui.conftest import write_bundle
from tests.synth import grey_levels, steady, write_video

LOG = """2 recordings, 0.3 minutes
features: 50 %, 3 s left working rate 5 a second
features: 100 % working rate 5 a second
run {run}
training (tc3i): 33 %, 2 min 3 s left loss 1.5000, held out 1.7500, 30.5 a second
training ended after 6 iterations: did its 6 iterations
finding key-steps ...
finding key-steps: took 1 s
writing the bundle ...
"""


def job(folder: Path, said: str = "", state: JobState = "running", code: int | None = None) -> TrainingJob:
    return TrainingJob(folder, TrainingRequest("box", ("videos",)), state, 0.0, None, code, said)


@pytest.mark.parametrize(
    ("lines", "stage", "share", "left", "words"),
    [
        (0, 0, None, "", ""),
        (1, 1, None, "", "2 recordings, 0.3 minutes in all"),
        (2, 1, 0.5, "3 s", "5 frames of every second of video"),
        (4, 2, None, "", ""),
        (5, 2, 0.33, "2 min 3 s", "30.5 rounds a second"),
        (7, 3, None, "", "this takes a while"),
        (9, 4, None, "", ""),
    ],
)
def test_the_stage_is_read_from_what_was_said(
    tmp_path: Path, lines: int, stage: int, share: float | None, left: str, words: str
) -> None:
    said = "\n".join(LOG.format(run=tmp_path).splitlines()[:lines])
    view = state.view_progress(job(tmp_path, said))
    assert (view.stage, view.share, view.left, view.words) == (stage, share, left, words)


def test_the_curve_is_read_as_far_as_it_is_whole(tmp_path: Path) -> None:
    point = {"iteration": 20, "loss": 1.5, "held_out": 1.75, "iterations_per_second": 30.0}
    bad = [json.dumps({**point, "loss": "x"}), json.dumps({**point, "loss": float("nan")}), "[]", '{"itera']
    (tmp_path / "head-1").mkdir()
    (tmp_path / "head-1" / "metrics.jsonl").write_text("\n".join([json.dumps(point), *bad]))
    view = state.view_progress(job(tmp_path, LOG.format(run=tmp_path)))
    assert [(one.iteration, one.training, one.held_out) for one in view.points] == [(20, 1.5, 1.75)]


@pytest.mark.parametrize(
    ("how", "code", "said", "words"),
    [
        ("cancelled", None, "", "was stopped"),
        ("interrupted", None, "", "was interrupted"),
        ("failed", 2, "reading\nno video was found: add some.\n", "No video was found: add some."),
        ("failed", -9, "", "memory ran out"),
        ("failed", 1, "Traceback ...\nValueError: x\n", "Learning failed"),
    ],
)
def test_every_end_has_its_words(tmp_path: Path, how: JobState, code: int | None, said: str, words: str) -> None:
    assert words in state.why_it_ended(job(tmp_path, said, how, code))


def procedure(orders: list[tuple[int, ...]], count: int = 3, length_s: float = 4.0) -> Procedure:
    recordings = [[Segment(step, 5.0 * at, 5.0 * at + length_s) for at, step in enumerate(order)] for order in orders]
    return learn_procedure(recordings, [KeyStep(number, f"step {number}") for number in range(1, count + 1)])


def test_a_rare_step_is_named() -> None:
    said = state.warnings(procedure([(1, 2)] * 6 + [(1, 2, 3)] * 2))
    assert said == ("Only 2 of 8 recordings contain step 3: check whether it is a step at all.",)


def test_few_recordings_a_step_never_seen_and_a_brief_one() -> None:
    assert "Only 2 recordings" in state.warnings(procedure([(1, 2)] * 2, count=2))[0]
    assert state.warnings(procedure([(1, 2)] * 8))[-1].startswith("No recording contains step 3")
    assert "lasts less than a second" in state.warnings(procedure([(1, 2, 3)] * 8, length_s=0.5))[0]
    assert state.warnings(procedure([(1, 2, 3)] * 8)) == ()


def test_the_result_has_pictures_and_doubts(tmp_path: Path) -> None:
    view = state.view_result(write_bundle(tmp_path / "box"))
    assert isinstance(view, ResultView)
    assert view.bundle.name == "box"
    assert view.pictures == ()
    assert isinstance(state.view_result(tmp_path / "none"), DamagedBundle)


def test_scores_of_every_kind(tmp_path: Path) -> None:
    assert state.view_scores(job(tmp_path)) is None
    rows = {"ours": {"f1": 0.3}, "equal": {"f1": 0.4}, "random": {"f1": 0.1}}
    (tmp_path / SCORES).write_text(json.dumps({"recordings": 1, **rows}))
    view = state.view_scores(job(tmp_path))
    assert isinstance(view, ScoreView)
    assert not view.is_good
    assert "the labels of 1 recording no better" in view.words
    (tmp_path / SCORES).write_text(json.dumps({"problem": "no label file fits."}))
    assert state.view_scores(job(tmp_path)) == "no label file fits."


def test_recordings_are_listed_with_their_length(tmp_path: Path) -> None:
    write_video(tmp_path / "one.mp4", grey_levels(10), steady(10, 5))
    (tmp_path / "two.mp4").write_text("no video")
    (tmp_path / ".part.mp4").write_text("half")
    (tmp_path / "notes.txt").write_text("notes")
    found = state.list_recordings(tmp_path)
    assert [(one.path.name, one.seconds is not None) for one in found] == [("one.mp4", True), ("two.mp4", False)]
    assert state.list_recordings(tmp_path / "none") == ()
    assert state.count_videos(tmp_path) == 2


def test_features_and_folders_of_stills_count_as_recordings(tmp_path: Path) -> None:
    for name in ("a.npy", "b.npz", "stills-1/1.jpg", "stills-1/2.jpg", "stills-2/1.png", "notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    assert state.count_other_recordings(tmp_path) == 4
    assert state.count_other_recordings(tmp_path / "none") == 0


def test_how_long_it_takes_is_told_by_what_was_learned_before(tmp_path: Path) -> None:
    said = "4 recordings, 8.0 minutes"
    old = [
        replace(job(tmp_path, said, "finished", 0), started=100.0, ended=100.0 + took) for took in (80.0, 240.0, 160.0)
    ]
    assert state.expected_s(4.0, "default", old) == 80.0  # the middle one took 20 s a minute
    assert state.expected_s(4.0, "paper", old) is None
    assert state.measured_rate("default", [replace(old[0], state="failed")]) is None
    assert state.expected_s(4.0, "default", ()) == 4.0 * state.MINUTE_S["default"]  # a first guess
    running = replace(job(tmp_path, said), started=1000.0)
    assert state.left_s(running, old, 1040.0) == 120.0
    assert state.left_s(running, old, 1500.0) is None  # it is late: nobody can tell
    assert state.left_s(running, (), 1001.0) == 8.0 * state.MINUTE_S["default"] - 1.0


def test_a_recording_has_a_picture_and_a_length(tmp_path: Path) -> None:
    write_video(tmp_path / "one.mp4", grey_levels(10), steady(10, 5))
    (tmp_path / "two.mp4").write_text("no video")
    assert (state.thumbnail(tmp_path / "one.mp4") or b"")[:2] == b"\xff\xd8"
    assert state.thumbnail(tmp_path / "two.mp4") is None
    assert 1.5 < 60 * state.count_minutes(tmp_path) < 2.5

"""Watching a recording: lines as agreed, the same bytes each time, and a sentence or a warning for what is bad."""

from __future__ import annotations

import io
import json
import logging
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from rich.console import Console

from guide.bundle import write_manifest
from guide.commands import watch
from guide.commands.entry import entry
from guide.commands.watch import JsonLines, Terminal, WatchOptions
from guide.domain import Alert, Question, Resolution, Segment, SettledLabel, StepEvent, Update
from guide.networks import start_networks
from guide.procedure.export import to_plain
from guide.procedure.learn import learn_procedure
from guide.session import Session
from guide.settings import LiveSettings
from tests.synth import grey_levels, steady, write_video
from tests.tiny import FEATURE_RATE, STEP_S, Learned, altered, varying, write_steps

Lines = list[dict[str, Any]]
KEYS = {
    "step": ["type", "at", "step", "name", "state", "start", "end", "confidence"],
    "alert": ["type", "id", "at", "kind", "step", "name", "before", "severity", "evidence"],
    "resolve": ["type", "id", "at", "withdrawn"],
    "question": ["type", "id", "at", "step", "text"],
    "label": ["type", "at", "step", "confidence"],
    "summary": ["type", "frames", "steps", "alerts", "rate"],
}
QUICK = ("--confirm-s", "0.3", "--bridge-s", "0.3")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs the command and gives what it printed."""

    def run_watch(source: Path, task: Learned, *more: str) -> str:
        words = [str(source), "--bundle", str(task.folder), "--device", "cpu", *QUICK, *more]
        entry(WatchOptions, watch.main, args=words)
        return capsys.readouterr().out

    return run_watch


@pytest.fixture
def fail(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs a command that must exit with code 2, and gives its one sentence."""

    def run_watch(source: Path, folder: Path, *more: str) -> str:
        with pytest.raises(SystemExit) as left:
            entry(WatchOptions, watch.main, args=[str(source), "--bundle", str(folder), "--device", "cpu", *more])
        said = capsys.readouterr()
        assert left.value.code == 2
        assert said.err.count("\n") == 1
        assert said.out == ""
        return said.err

    return run_watch


def parse(printed: str) -> Lines:
    return [json.loads(line) for line in printed.splitlines()]


def demonstration(task: Learned, name: str = "02.mp4") -> Path:
    return Path(task.options.inputs[0]) / name


def test_lines_are_as_agreed_and_the_summary_is_last(frames_task: Learned, run: Callable[..., str]) -> None:
    lines = parse(run(demonstration(frames_task), frames_task, "--jsonl", "--emit-labels"))
    for line in lines:
        assert list(line) == KEYS[line["type"]]
    kinds = [line["type"] for line in lines]
    assert kinds.index("summary") == len(lines) - 1
    labels = [line for line in lines if line["type"] == "label"]
    confirmed = [line for line in lines if line["type"] == "step" and line["state"] == "confirmed"]
    assert lines[-1]["frames"] == len(labels) == len(frames_task.bundle.arrays("demonstrations.npz")["times_1"])
    assert len({line["at"] for line in labels}) == len(labels)
    assert lines[-1]["steps"] == len(confirmed) > 0
    assert lines[-1]["rate"] == 5.0


def test_labels_are_told_only_where_wanted(frames_task: Learned, run: Callable[..., str]) -> None:
    lines = parse(run(demonstration(frames_task), frames_task, "--jsonl"))
    assert "label" not in {line["type"] for line in lines}
    assert "step" in {line["type"] for line in lines}


def test_the_same_recording_gives_the_same_bytes(frames_task: Learned, run: Callable[..., str]) -> None:
    words = ("--jsonl", "--emit-labels")
    here = run(demonstration(frames_task), frames_task, *words)
    assert run(demonstration(frames_task), frames_task, *words) == here
    command = [sys.executable, "-m", "guide", "watch", str(demonstration(frames_task)), "--device", "cpu", *QUICK]
    there = subprocess.run(
        [*command, "--bundle", str(frames_task.folder), *words], capture_output=True, check=False, timeout=60
    )
    assert there.returncode == 0, there.stderr
    assert there.stdout == here.encode()


def with_strict_rules(task: Learned, place: Path) -> Learned:
    """The bundle with a procedure in which all four steps always came, one after the other."""
    forged = altered(task.bundle, place)
    steps = [Segment(step, 4.0 * step, 4.0 * step + 2) for step in range(1, 5)]
    (place / "procedure.json").write_text(json.dumps(to_plain(learn_procedure([steps] * 6))), encoding="utf-8")
    write_manifest(place, {key: value for key, value in forged.facts.items() if key != "files"})
    return replace(task, bundle=forged)


def test_a_step_left_out_is_told_of_and_counted(frames_task: Learned, run: Callable[..., str], tmp_path: Path) -> None:
    video = write_steps(tmp_path / "faulty.mp4", (1, 0), steady(int(2 * STEP_S * 10), 10))
    lines = parse(run(video, with_strict_rules(frames_task, tmp_path / "strict"), "--jsonl"))
    alerts = {line["id"]: line["kind"] for line in lines if line["type"] == "alert"}
    assert "missed" in alerts.values()
    assert lines[-1]["alerts"] == {kind: list(alerts.values()).count(kind) for kind in sorted(set(alerts.values()))}


def test_features_are_watched(features_task: Learned, run: Callable[..., str]) -> None:
    lines = parse(run(demonstration(features_task, "a.npy"), features_task, "--jsonl", "--rate", str(FEATURE_RATE)))
    rows = np.load(demonstration(features_task, "a.npy"))
    assert lines[-1]["frames"] == len(rows)
    assert lines[-1]["steps"] >= 3


def test_features_that_say_their_rate_need_no_other(
    features_task: Learned, run: Callable[..., str], tmp_path: Path
) -> None:
    plain = demonstration(features_task, "a.npy")
    np.savez(tmp_path / "a.npz", features=np.load(plain), rate=FEATURE_RATE)
    wanted = run(plain, features_task, "--jsonl", "--rate", str(FEATURE_RATE))
    assert run(tmp_path / "a.npz", features_task, "--jsonl") == wanted


@pytest.mark.parametrize("name", ["bad.npy", "bad.npz"])
@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"rows": np.ones((5, 6)), "rate": 4.0}, "the keys features and rate"),
        ({"features": np.ones((5, 6))}, "the keys features and rate"),
        ({"features": np.ones((5, 6)), "rate": -4.0}, "rows a second"),
        ({"features": np.ones((5, 6)), "rate": np.ones(2)}, "cannot be read"),
        ({"features": np.ones(5), "rate": 4.0}, "finite numbers"),
    ],
    ids=["no features", "no rate", "rate below 0", "two rates", "one row"],
)
def test_a_bad_archive_of_features_is_refused(
    features_task: Learned, fail: Callable[..., str], tmp_path: Path, name: str, arrays: dict[str, Any], words: str
) -> None:
    with (tmp_path / name).open("wb") as stream:
        np.savez(stream, **arrays)
    assert words in fail(tmp_path / name, features_task.folder)


def test_a_damaged_archive_of_features_is_refused(
    features_task: Learned, fail: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "bad.npy").write_bytes(b"PK\x03\x04 and no more of it")
    assert "cannot be read" in fail(tmp_path / "bad.npy", features_task.folder, "--rate", "4")


def own_sleeps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long this thread would have slept; threads that other tests left running sleep as ever."""
    slept: list[float] = []
    really, own = time.sleep, threading.get_ident()
    monkeypatch.setattr(
        "guide.commands.watch.time.sleep", lambda s: slept.append(s) if threading.get_ident() == own else really(s)
    )
    return slept


def test_realtime_keeps_the_pace_of_features(
    features_task: Learned, run: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept = own_sleeps(monkeypatch)
    np.save(tmp_path / "few.npy", np.load(demonstration(features_task, "a.npy"))[:4])
    run(tmp_path / "few.npy", features_task, "--realtime", "--rate", str(FEATURE_RATE))
    assert len(slept) == 4
    assert 0.5 < slept[-1] <= 3 / FEATURE_RATE


def test_realtime_keeps_the_pace_of_videos(
    frames_task: Learned, run: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept = own_sleeps(monkeypatch)
    write_video(tmp_path / "slow.mp4", grey_levels(4), [0.0, 20.0, 40.0, 60.0])
    run(tmp_path / "slow.mp4", frames_task, "--realtime")
    assert [round(pause / 20) for pause in slept] == [0, 1, 2, 3]


@pytest.mark.parametrize(("side", "warnings"), [(1, 1), (watch.LEAST_SIDE, 0)])
def test_pictures_of_one_pixel_are_watched_with_a_warning(
    frames_task: Learned, run: Callable[..., str], tmp_path: Path, side: int, warnings: int
) -> None:
    for number in range(6):
        cv2.imwrite(str(tmp_path / f"{number}.png"), np.full((side, 40, 3), 40 * number, np.uint8))
    lines = parse(run(tmp_path, frames_task, "--jsonl", "--rate", "5"))
    assert lines[-1]["frames"] == 6
    told = " ".join(run(tmp_path, frames_task, "--rate", "5").split())
    assert told.count(f"has 40 x {side}: nothing can be recognised in them") == warnings


def test_a_varying_rate_is_watched(frames_task: Learned, run: Callable[..., str], tmp_path: Path) -> None:
    video = write_steps(tmp_path / "v.mp4", (1, 2), varying(60, 15, seed=3))
    times = [
        line["at"] for line in parse(run(video, frames_task, "--jsonl", "--emit-labels")) if line["type"] == "label"
    ]
    assert times == sorted(set(times))


def test_a_video_that_ends_in_the_middle_is_watched_with_a_warning(
    frames_task: Learned, run: Callable[..., str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    whole = write_steps(tmp_path / "whole.mkv", (1, 2, 3), steady(60, 10))
    cut = tmp_path / "cut.mkv"
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size * 6 // 10])
    with caplog.at_level(logging.WARNING):
        lines = parse(run(cut, frames_task, "--jsonl"))
    assert 0 < lines[-1]["frames"] < 30
    assert "cut off" in caplog.text
    assert not [line for line in lines if line["type"] == "alert" and line["severity"] == "alarm"]
    assert "Not judged: the recording ends early" in run(cut, frames_task)


@pytest.mark.parametrize("content", [b"", b"no video at all" * 50], ids=["empty", "corrupt"])
def test_a_bad_video_is_refused(frames_task: Learned, fail: Callable[..., str], tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad.mp4").write_bytes(content)
    assert "a video was expected, but" in fail(tmp_path / "bad.mp4", frames_task.folder, "--jsonl")


def test_a_missing_video_is_refused(frames_task: Learned, fail: Callable[..., str], tmp_path: Path) -> None:
    assert "does not exist" in fail(tmp_path / "none.mp4", frames_task.folder)


def test_a_missing_bundle_is_refused(frames_task: Learned, fail: Callable[..., str], tmp_path: Path) -> None:
    assert "is no bundle" in fail(demonstration(frames_task), tmp_path)


def test_a_video_is_refused_where_features_were_learned(
    frames_task: Learned, features_task: Learned, fail: Callable[..., str]
) -> None:
    assert "learned from features" in fail(demonstration(frames_task), features_task.folder, "--jsonl")


def test_features_are_refused_where_pictures_were_learned(
    frames_task: Learned, features_task: Learned, fail: Callable[..., str]
) -> None:
    said = fail(demonstration(features_task, "a.npy"), frames_task.folder, "--rate", "4")
    assert "learned from pictures" in said


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (np.zeros((5, 9), np.float32), "9 came"),
        (np.full((5, 6), np.nan), "finite numbers"),
        (np.zeros((0, 6)), "finite numbers"),
        (np.zeros(6), "finite numbers"),
        (np.array([["a"]]), "finite numbers"),
    ],
    ids=str,
)
def test_bad_features_are_refused(
    features_task: Learned, fail: Callable[..., str], tmp_path: Path, table: Any, words: str
) -> None:
    np.save(tmp_path / "bad.npy", table)
    assert words in fail(tmp_path / "bad.npy", features_task.folder, "--rate", "4")


@pytest.mark.parametrize("rate", [(), ("--rate", "0"), ("--rate", "nan"), ("--rate", "inf")], ids=str)
def test_features_need_a_rate(features_task: Learned, fail: Callable[..., str], rate: tuple[str, ...]) -> None:
    assert "with --rate" in fail(demonstration(features_task, "a.npy"), features_task.folder, *rate)


def test_senseless_settings_are_refused(frames_task: Learned, fail: Callable[..., str]) -> None:
    assert "0 s or more" in fail(demonstration(frames_task), frames_task.folder, "--lag-s", "-1")


ESCALATED = (
    Alert(1, 2.0, "missed", 2, None, "warning", "has not been seen"),
    Alert(2, 2.0, "repeated", 1, None, "warning", "done twice"),
    Alert(1, 9.0, "missed", 2, None, "alarm", "not seen by the end"),
    Resolution(2, 9.0, True),
    Question(3, 9.0, 1, "Did you [really] do it?"),
)


@pytest.fixture
def live(frames_task: Learned) -> Session:
    made = Session(frames_task.bundle, start_networks(frames_task.bundle, "cpu", 1), LiveSettings())
    made.rename({1: "fit [red] :bug: board"})
    return made


def test_an_alert_that_grows_graver_counts_once(live: Session) -> None:
    said = io.StringIO()
    view = JsonLines(Console(file=said), live, False)
    for guidance in ESCALATED:
        view.show(Update(SettledLabel(1.0, 1, 1.0), (), (guidance,)))
    view.end()
    assert json.loads(said.getvalue().splitlines()[-1])["alerts"] == {"missed": 1, "repeated": 1}


def test_the_terminal_view_shows_names_as_they_are_and_counts_what_stands(live: Session) -> None:
    said = io.StringIO()
    view = Terminal(Console(file=said, width=200), live)
    event = StepEvent(1.0, 1, "confirmed", 0.0, None, 1.0)
    view.show(Update(SettledLabel(1.0, 1, 1.0), (event,), ESCALATED))
    view.end()
    assert "▶ fit [red] :bug: board" in said.getvalue()
    assert "Did you [really] do it?" in said.getvalue()
    assert "1 alert stands" in said.getvalue()


@pytest.mark.parametrize(("confidence", "words"), [(0.42, "board (unsure, 42 %)"), (0.5, "board")])
def test_a_step_that_is_wrong_more_often_than_right_is_called_unsure(
    live: Session, confidence: float, words: str
) -> None:
    said = io.StringIO()
    view = Terminal(Console(file=said, width=200), live)
    view.show(Update(SettledLabel(1.0, 1, 1.0), (StepEvent(1.0, 1, "confirmed", 0.0, None, confidence),)))
    assert words in said.getvalue()
    assert ("unsure" in said.getvalue()) == ("unsure" in words)


def test_an_alert_that_was_settled_stands_no_more(live: Session) -> None:
    said = io.StringIO()
    view = Terminal(Console(file=said, width=200), live)
    view.show(Update(SettledLabel(9.0, 1, 1.0), (), (*ESCALATED, Resolution(1, 9.5, False))))
    view.end()
    assert "no alert stands" in said.getvalue()
    assert "missed" not in said.getvalue().splitlines()[-2]


def test_the_terminal_view_ends_with_a_timeline(live: Session) -> None:
    live.rename({1: "fit [red] :bug: board", 2: "close lid"})
    said = io.StringIO()
    view = Terminal(Console(file=said, width=30), live)
    events = (
        StepEvent(1.0, 3, "started", 0.0, None, 1.0),
        StepEvent(1.5, 3, "ended", 0.0, 1.0, 1.0),  # never confirmed
        StepEvent(2.0, 1, "confirmed", 1.2, None, 1.0),
        StepEvent(9.0, 1, "ended", 1.2, 8.4, 1.0),
        StepEvent(9.0, 2, "confirmed", 8.4, None, 1.0),
        StepEvent(11.0, 2, "ended", 8.4, 10.0, 1.0),
    )
    graver = (Alert(4, 9.5, "out_of_order", 1, 2, "warning", "came too early"),)
    view.show(Update(SettledLabel(11.0, 1, 1.0), events, (*ESCALATED, *graver)))
    view.end()
    assert said.getvalue().splitlines()[-2:] == [
        "  timeline: fit [red] :bug: board 1-8 | ✖ missed close lid | close lid 8-10 "
        "| ▲ out of order fit [red] :bug: board",
        "  Nothing was seen: no picture came; 2 alerts stand",
    ]


def test_a_terminal_breaks_lines_between_words_and_its_time_never_goes_back(live: Session) -> None:
    said = io.StringIO()
    view = Terminal(Console(file=said, width=60, force_terminal=True, no_color=True), live)
    alert = Alert(1, 19.2, "missed", 2, None, "warning", "it came first in 12 of 12 demonstrations of all kinds")
    later = StepEvent(19.0, 1, "confirmed", 18.0, None, 1.0)  # it settled only now
    view.show(Update(SettledLabel(18.8, 1, 1.0), (), (alert, Question(2, 19.2, 1, "Did you do it?"))))
    view.show(Update(SettledLabel(19.0, 1, 1.0), (later,), (Resolution(1, 19.2, True), Resolution(2, 19.4, False))))
    plain = re.sub(r"\x1b\[[0-9;]*m", "", said.getvalue())
    assert max(map(len, plain.splitlines())) <= 60
    assert " ".join(plain.split()).startswith(
        "19.2 s ▲ 1 Missed: step 2 (it came first in 12 of 12 demonstrations of all kinds) "
        "19.2 s ? 2 Did you do it? 19.2 s ▶ "
    )
    assert "demonstrations" in plain  # no word is broken
    assert "✔ 1 withdrawn: Missed: step 2" in plain
    assert "✔ 2 resolved: Did you do it?" in plain


def test_a_timeline_without_steps_says_so(live: Session) -> None:
    said = io.StringIO()
    Terminal(Console(file=said), live).end()
    assert "timeline: no step was confirmed" in said.getvalue()

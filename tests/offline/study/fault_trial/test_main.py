"""The command: parts are chosen, bad options get one sentence and code 2, and features travel without the trunk."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from guide.commands.entry import entry
from offline.demo.recording import Recording
from offline.study.fault_trial.__main__ import _leaving, main
from offline.study.fault_trial.leaving import LeavingOut
from offline.study.fault_trial.options import FaultTrialOptions, make_plan
from offline.study.fault_trial.sources import read_clean, write_features
from offline.study.flags import Planted
from offline.study.trial.worlds import Drawn, Entry, Worlds
from tests.faulty_task import USUAL, make_recording, make_task

ROOT = Path(__file__).parents[4]
SMALL = ("--labelled", "all", "--each", "1", "--shuffles", "1", "--priors", "on")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_features([make_task([USUAL] * 3)], tmp_path / "made")
    return tmp_path / "made" / "toy"


def options_of(folder: Path, **more: object) -> FaultTrialOptions:
    return FaultTrialOptions(videos=folder, **more)  # type: ignore[arg-type]


def test_features_that_were_kept_are_read_as_they_were(folder: Path) -> None:
    task = make_task([USUAL] * 3)
    (read,) = read_clean(options_of(folder), Console(quiet=True))
    assert [one.id for one in read.recordings] == [one.id for one in task.recordings]
    assert dict(read.steps) == dict(task.steps)
    for one, other in zip(read.recordings, task.recordings, strict=True):
        np.testing.assert_allclose(one.pooled, other.pooled, rtol=1e-3, atol=1e-2)
        assert one.rate == other.rate
    assert [labels.tolist() for labels in read.truth] == [labels.tolist() for labels in task.truth]


def test_which_columns_are_means_travels_with_them(tmp_path: Path) -> None:
    task = make_task([USUAL] * 3)
    write_features([replace(task, recordings=tuple(replace(one, mean_width=5) for one in task.recordings))], tmp_path)
    (read,) = read_clean(options_of(tmp_path / "toy"), Console(quiet=True))
    assert [one.means.shape[1] for one in read.recordings] == [5] * 3


def test_the_command_prints_its_tables_and_goes_on_where_it_was(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    args = ["--videos", str(folder), "--only", "counterfactual,agreement", "--cache", str(tmp_path / "cache"), *SMALL]
    entry(FaultTrialOptions, main, args)
    first = capsys.readouterr().out
    assert re.search(r"3 of 3, [\d.]+ a minute: toy: r2 left out, all labelled", first)
    assert "flags on faults made in recordings left out" in first
    assert "agreement of unaries" in first
    assert "missed steps in recordings with mistakes" not in first
    entry(FaultTrialOptions, main, [*args, "--minutes", "0"])
    again = capsys.readouterr().out
    assert again.startswith("3 of 3 parts were done before")
    assert again.splitlines()[1:] == [line for line in first.splitlines() if not line.startswith("trial: ")]


def test_demonstrations_of_a_drawn_world_are_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    def entries(self: Worlds, recordings: Sequence[Recording]) -> list[Entry]:
        assert {(one.seed, one.kind) for one in recordings} == {(7, "train")}
        return [Entry(one, str(one.number)) for one in recordings]

    def draw(self: Worlds, entries: Sequence[Entry], console: Console) -> None:
        drawn.extend(one.key for one in entries)

    def read(self: Worlds, entry: Entry) -> Drawn:
        assert self.kept.folder == Path("somewhere/drawn")
        assert entry.key in drawn
        return Drawn(*make_recording(USUAL, int(entry.key)), Planted("none", None, None, None))

    drawn = list[str]()
    monkeypatch.setattr(Worlds, "entries", entries)
    monkeypatch.setattr(Worlds, "draw", draw)
    monkeypatch.setattr(Worlds, "read", read)
    (task,) = read_clean(FaultTrialOptions(drawn="7", cache=Path("somewhere")), Console(quiet=True))
    assert (task.title, len(task.recordings), task.k) == ("drawn-7", 12, 4)


def plan_jobs(**more: object) -> list[LeavingOut]:
    plan = make_plan(FaultTrialOptions(features=Path("somewhere"), **more))  # type: ignore[arg-type]
    return _leaving(plan, [make_task([USUAL] * 4)], 2)


def test_parts_decide_what_is_done() -> None:
    assert len(plan_jobs(labelled="0,1,all")) == 4 * (1 + 2 + 1)
    assert plan_jobs(only="errors") == []
    agreement, followed = plan_jobs(only="agreement", labelled="all"), plan_jobs(only="counterfactual", labelled="9")
    assert [(job.is_followed, job.is_shuffled) for job in agreement] == [(False, True)] * 4
    assert [(job.is_followed, job.is_shuffled) for job in followed] == [(True, False)] * 4, "nine of three are all"


def test_numbers_come_as_they_were_asked_for_and_first_choices_before_second_ones() -> None:
    plan = make_plan(options_of(Path("somewhere"), labelled="all,1,0,9"))
    jobs = _leaving(plan, [make_task([USUAL] * 4)], choices=2)
    assert [job.way.count for job in jobs] == ["all"] * 4 + ["1"] * 8 + ["0"] * 4
    assert [job.number for job in jobs if job.way.count == "1"] == [0, 1, 2, 3] * 2


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ([], "none came"),
        (["--features", "a", "--videos", "b"], "--features and --videos came"),
        (["--drawn", "one"], "--drawn takes at most 1000 worlds, whole numbers"),
        (["--drawn", ","], "--drawn takes at most 1000 worlds"),
        (["--drawn", "1", "--videos", "b"], "--videos and --drawn came"),
        (["--videos", "b", "--only", "everything"], "parts (--only)"),
        (["--videos", "b", "--only", "errors"], "--only errors needs recordings with mistakes"),
        (["--videos", "b", "--priors", "some"], "priors (--priors)"),
        (["--videos", "b", "--labelled", "few"], "--labelled takes numbers"),
        (["--videos", "b", "--each", "0"], "--each is a whole number from 1"),
        (["--videos", "b", "--shuffles", "0"], "--shuffles is"),
        (["--videos", "b", "--choices", "0"], "--choices is"),
        (["--videos", "b", "--workers", "0"], "--workers is"),
        (["--videos", "b", "--workers", "1000"], "--workers is at most"),
        (["--videos", "b", "--seed", "-1"], "--seed is"),
        (["--videos", "b", "--minutes", "-1"], "--minutes is"),
        (["--videos", "b", "--minutes", "nan"], "--minutes is"),
        (["--videos", "nowhere"], "nowhere"),
        (["--features", "nowhere"], "nowhere"),
    ],
)
def test_bad_options_get_one_sentence(args: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        entry(FaultTrialOptions, main, args)
    assert left.value.code == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1


def test_two_recordings_are_too_few(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_features([make_task([USUAL] * 2)], tmp_path)
    with pytest.raises(SystemExit):
        entry(FaultTrialOptions, main, ["--videos", str(tmp_path)])
    assert "at least 3 recordings" in capsys.readouterr().err


def test_the_command_needs_no_onnx_runtime() -> None:
    program = (
        "import sys\n"
        "sys.modules['onnxruntime'] = sys.modules['onnx'] = None\n"
        "import offline.study.fault_trial.__main__, offline.study.left_out, offline.study.trial.__main__\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

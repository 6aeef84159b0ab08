"""The main command: a bundle the live side takes, caches, a kill in the middle, and a sentence for every bad input."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console

from guide import check
from guide.command import entry
from guide.domain import BACKGROUND
from offline.annotations import read_labels
from offline.batches import Batches
from offline.config import resolve
from offline.extraction import Extractor
from offline.loop import CHECKPOINT, METRICS
from offline.train import TrainOptions, learn_task, main
from offline.videos import find_recordings
from tests.synth import grey_levels, plain, steady, write_video
from tests.tiny import FEATURE_WIDTH, Learned, learn_again, write_features

Say = Callable[..., str]

LISTED = {"head.onnx", "prototypes.npz", "recogniser.npz", "demonstrations.npz", "procedure.json"}
LEARNED = ("head.onnx", "prototypes.npz", "recogniser.npz", "demonstrations.npz", "procedure.json")
KILLED_AFTER = 2  # checkpoints
KILLER = f"""
import os, signal, sys
from guide.command import entry
from offline import loop
from offline.train import TrainOptions, main
replace, written = loop._replace, []
def replace_and_die(path, state):
    replace(path, state)
    written.append(path)
    if len(written) == {KILLED_AFTER}:
        os.kill(os.getpid(), signal.SIGKILL)
loop._replace = replace_and_die
entry(TrainOptions, main, args=sys.argv[1:])
"""


def command_line(options: TrainOptions) -> list[str]:
    """The options as a user would type them."""
    words = [*options.inputs, "--out", str(options.out), "--config", str(options.config), "--cache", str(options.cache)]
    return [*words, "--device", "cpu", *(["--rate", str(options.rate)] if options.rate else [])]


def said_on_failure(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one sentence on stderr of a command that must exit with code 2."""
    with pytest.raises(SystemExit) as left:
        entry(TrainOptions, main, args=arguments)
    said = capsys.readouterr().err
    assert left.value.code == 2
    assert said.count("\n") == 1
    assert "Traceback" not in said
    return said


@pytest.mark.parametrize("name", ["frames_task", "maps_task", "features_task"])
def test_the_bundle_is_accepted_by_the_live_side(
    name: str, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    task: Learned = request.getfixturevalue(name)
    check.main(check.CheckOptions(task.folder, "cpu"))
    assert "is sound: 4 key-steps" in capsys.readouterr().out


def test_the_bundle_holds_what_was_promised(frames_task: Learned, features_task: Learned) -> None:
    frames, features = set(frames_task.bundle.facts["files"]), set(features_task.bundle.facts["files"])
    assert frames >= {*LISTED, "trunk.onnx", *(f"segments/{number:02d}.csv" for number in range(1, 5))}
    assert features >= {*LISTED, "segments/a.csv", "segments/b.csv", "segments/c.csv"}
    assert "trunk.onnx" not in features
    assert any(re.fullmatch(r"stills/\d\d_\d\.jpg", name) for name in frames)
    facts = frames_task.bundle.facts
    assert facts["schema"] == 1
    assert facts["rate"] == 5.0
    assert facts["training"]["iterations"] == 6
    assert facts["training"]["weights_hash"] in frames_task.said
    assert facts["recipe"]["backbone"] == "random-tiny"
    assert min(parity["cosine"] for parity in facts["parity"].values()) >= 0.9999


def test_segments_are_rows_of_seconds_and_a_numbered_step(frames_task: Learned) -> None:
    kept = frames_task.bundle.arrays("demonstrations.npz")
    for number in range(4):
        path = frames_task.folder / "segments" / f"{number + 1:02d}.csv"
        for row in path.read_text().splitlines():
            assert re.fullmatch(r'\d+\.\d{3},\d+\.\d{3},"([1-4]) step \1"', row)
        found = {segment.step for segment in read_labels(path).segments}
        assert found == set(kept[f"labels_{number}"].tolist()) - {BACKGROUND}


def test_no_label_file_is_opened(frames_task: Learned) -> None:
    videos = Path(frames_task.options.inputs[0])
    assert list(videos.glob("*.csv")), "the task must have label files to leave alone"
    assert any(path.endswith(".toml") for path in frames_task.opened), "opened files are heard of"
    assert not [path for path in frames_task.opened if Path(path).parent == videos and path.endswith(".csv")]
    assert "4 other files ignored" in frames_task.said


def test_a_second_run_decodes_and_trains_nothing_and_ends_the_same(
    frames_task: Learned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("this was done before")

    monkeypatch.setattr(Extractor, "extract", refuse)
    monkeypatch.setattr(Batches, "training", refuse)
    again = learn_again(replace(frames_task.options, out=tmp_path / "again"))
    first, second = frames_task.bundle.facts, again.bundle.facts
    assert second["files"] == first["files"]
    assert second["training"] == first["training"]


def test_killed_in_the_middle_it_continues_to_the_same_weights(
    features_task: Learned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = replace(features_task.options, out=tmp_path / "task", cache=tmp_path / "cache")
    killed = subprocess.run(
        [sys.executable, "-c", KILLER, *command_line(options)], capture_output=True, text=True, check=False
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert not (tmp_path / "task").exists()
    assert len(list(tmp_path.glob("cache/runs/*/" + CHECKPOINT))) == 1

    drawn: list[int] = []
    training = Batches.training
    monkeypatch.setattr(Batches, "training", lambda self, n: drawn.append(n) or training(self, n))  # type: ignore[func-returns-value]
    continued = learn_again(options)
    assert drawn == list(range(2 * KILLED_AFTER, 6)), "two iterations to a checkpoint, six in all"
    metrics = next(tmp_path.glob("cache/runs/*/" + METRICS)).read_text().splitlines()
    looks = [json.loads(line)["iteration"] for line in metrics]
    assert looks == sorted(set(looks))
    assert looks[-1] == 6
    whole = features_task.bundle.facts
    assert continued.bundle.facts["training"] == whole["training"]
    for name in LEARNED:
        assert continued.bundle.facts["files"][name] == whole["files"][name]


@pytest.fixture
def said_without_export(features_task: Learned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Say:
    """Runs the command on features up to the bundle, which is not written; gives what it said."""
    monkeypatch.setattr("offline.train._export", lambda *_: {})

    def say(inputs: Path | None = None, **changes: Any) -> str:
        options = replace(features_task.options, out=tmp_path / "out", cache=tmp_path / "cache", **changes)
        options = options if inputs is None else replace(options, inputs=(str(inputs),))
        said = io.StringIO()
        learn_task(options, resolve("default", options.config, {}), tmp_path / "out", Console(file=said, width=200))
        return said.getvalue()

    return say


def weights(said: str) -> str:
    found = re.search(r"weights (\w+)", said)
    assert found is not None
    return found[1]


def test_the_seed_decides_the_weights(features_task: Learned, said_without_export: Say) -> None:
    first = weights(features_task.said)
    assert weights(said_without_export()) == first
    assert weights(said_without_export(seed=1)) != first


def test_a_single_changed_row_of_features_trains_anew(said_without_export: Say, tmp_path: Path) -> None:
    folder = write_features(tmp_path / "features")
    first = weights(said_without_export(folder))
    rows = np.load(folder / "a.npy")
    rows[17] += 0.5
    np.save(folder / "a.npy", rows)
    assert weights(said_without_export(folder)) != first


def test_the_papers_numbers_are_printed_without_inputs(capsys: pytest.CaptureFixture[str]) -> None:
    entry(TrainOptions, main, args=["--preset", "paper", "--dry-run"])
    said = capsys.readouterr().out
    table = dict(line.split(maxsplit=1) for line in said.splitlines())
    expected = {
        "backbone": "resnet50",
        "context_count": "2",
        "sampled_frames": "32",
        "batch_videos": "5",
        "learning_rate": "0.0001",
        "weight_decay": "1e-05",
        "margin": "2.0",
        "xi": "1.0",
        "embedding_width": "128",
        "k": "7",
        "loss": "tc3i",
        "clusterer": "pcm",
        "head": "conv",
        "window_s": "10.0",
        "context_stride_s": "0.5",
    }
    assert {key: table[key] for key in expected} == expected
    for words in ("stride 15 frames", "(sigma) 300 frames", "224 px", "conv4c", "adam"):
        assert words in said


def test_the_command_itself_answers_in_one_sentence(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "offline.train", str(tmp_path / "missing"), "--out", str(tmp_path / "out")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "missing does not exist" in done.stderr


@pytest.fixture
def videos(tmp_path: Path) -> Path:
    """Three short videos; tests spoil one of them."""
    folder = tmp_path / "videos"
    folder.mkdir()
    for name in "abc":
        write_video(folder / f"{name}.mp4", grey_levels(20), steady(20, 5))
    return folder


def arguments(inputs: Path, tmp_path: Path, *more: str) -> list[str]:
    words = ["--out", str(tmp_path / "out"), "--cache", str(tmp_path / "cache"), "--backbone", "random-tiny"]
    return [str(inputs), *words, "--device", "cpu", *more]


def test_without_inputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = said_on_failure(["--out", str(tmp_path / "out")], capsys)
    assert "none were given: name videos or a folder of them" in said


def test_without_a_place_for_the_bundle(videos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "add --out exported/NAME" in said_on_failure([str(videos)], capsys)


def test_one_video_only(videos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = said_on_failure(arguments(videos / "a.mp4", tmp_path), capsys)
    assert "needs at least 2, got 1" in said


def test_an_empty_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "nothing").mkdir()
    assert "needs at least 2, got 0" in said_on_failure(arguments(tmp_path / "nothing", tmp_path), capsys)


@pytest.mark.parametrize("content", [b"", b"this is no video" * 100], ids=["empty", "corrupt"])
def test_a_bad_video_is_named_and_stops_the_command(
    videos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    (videos / "b.mp4").write_bytes(content)
    said = said_on_failure(arguments(videos, tmp_path), capsys)
    assert str(videos / "b.mp4") in said
    assert "--skip-bad" in said
    assert not (tmp_path / "out").exists()


def test_a_bad_recording_is_skipped_where_that_is_asked_for(said_without_export: Say, tmp_path: Path) -> None:
    folder = write_features(tmp_path / "features")
    (folder / "b.npy").write_bytes(b"no array")
    np.save(folder / "d.npy", np.ones((5, FEATURE_WIDTH), np.float32))
    said = said_without_export(folder, skip_bad=True)
    assert "2 recordings" in said
    assert f"skipped: features were expected, but {folder / 'b.npy'}" in said
    assert f"skipped: a recording needs at least 16 frames, but {folder / 'd.npy'} has 5" in said


@pytest.mark.parametrize("frames", [1, 5])
def test_a_video_of_too_few_frames(
    videos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], frames: int
) -> None:
    write_video(videos / "c.mp4", grey_levels(frames), steady(frames, 5))
    said = said_on_failure(arguments(videos, tmp_path), capsys)
    assert re.search(rf"needs at least \d+ frames, but \S+c\.mp4 has {frames}: leave it out", said)


def test_videos_in_which_nothing_happens(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "black"
    folder.mkdir()
    for name in "ab":
        write_video(folder / f"{name}.mp4", [plain((0, 0, 0))] * 20, steady(20, 5))
    assert "nothing changes in any of them" in said_on_failure(arguments(folder, tmp_path), capsys)


def test_features_with_holes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_features(tmp_path / "features")
    rows = np.load(folder / "b.npy")
    rows[3, 2] = np.nan
    np.save(folder / "b.npy", rows)
    said = said_on_failure(arguments(folder, tmp_path, "--rate", "4"), capsys)
    assert "row 3 of" in said
    assert "b.npy holds NaN" in said


def test_features_of_unequal_width(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_features(tmp_path / "features")
    np.save(folder / "c.npy", np.zeros((40, 9), np.float32))
    said = said_on_failure(arguments(folder, tmp_path, "--rate", "4"), capsys)
    assert "a.npy has 6 columns and" in said
    assert "c.npy has 9" in said


def test_features_without_a_rate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = said_on_failure(arguments(write_features(tmp_path / "features"), tmp_path), capsys)
    assert "--rate" in said


def test_the_place_for_the_bundle_is_looked_at_first(
    videos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Extractor, "extract", lambda *_: pytest.fail("work was begun"))
    (tmp_path / "out").write_text("a file")
    assert "out is a file, a folder was expected" in said_on_failure(arguments(videos, tmp_path), capsys)
    (tmp_path / "out").unlink()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letter.txt").write_text("dear")
    assert "holds other things than a bundle" in said_on_failure(arguments(videos, tmp_path), capsys)
    assert (tmp_path / "out" / "letter.txt").read_text() == "dear"


def test_a_read_only_place_is_refused(
    videos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)  # the tests may run as a user who may write anywhere
    assert "choose a folder you may write to" in said_on_failure(arguments(videos, tmp_path), capsys)


def test_a_full_disk_leaves_nothing_half_written(
    features_task: Learned, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("offline.export._save", full)
    options = replace(features_task.options, out=tmp_path / "task")
    said = said_on_failure(command_line(options), capsys)
    assert "No space left on device" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("loss = ", "is no readable TOML file"),
        ('colour = "red"', "sets 'colour', which is no setting"),
        ('loss = "hinge"', "sets loss to 'hinge', one of tc3i, tcc"),
        ('clusterer = "tea leaves"', "sets clusterer to 'tea leaves', one of random"),
        ('backbone = "vgg"', "the backbone must be one of"),
        ("k = 0", "sets k to 0"),
        ("fps = inf", "sets fps to inf"),
        ("evaluate_every = 0", "sets evaluate_every to 0"),
        ("[table]\nk = 3", "sets 'table'"),
    ],
)
def test_a_bad_settings_file(
    videos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], toml: str, words: str
) -> None:
    config = tmp_path / "recipe.toml"
    config.write_text(toml)
    given = [str(videos), "--out", str(tmp_path / "out"), "--cache", str(tmp_path / "cache"), "--config", str(config)]
    assert words in said_on_failure(given, capsys)


@pytest.mark.parametrize("more", [("--backbone", "vgg"), ("--seed", "-1"), ("--k", "1000"), ("--config", "none.toml")])
def test_a_bad_option(videos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, str]) -> None:
    assert more[1].lstrip("-") in said_on_failure(arguments(videos, tmp_path, *more), capsys)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_an_accelerator_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_features(tmp_path / "features")
    said = said_on_failure([str(folder), "--out", str(tmp_path / "out"), "--rate", "4", "--device", "cuda"], capsys)
    assert "finds no CUDA device" in said


def test_an_unknown_loss_is_refused_by_name(videos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        entry(TrainOptions, main, args=arguments(videos, tmp_path, "--loss", "hinge"))
    assert left.value.code == 2
    assert "tc3i" in capsys.readouterr().err


def test_names_that_a_bundle_cannot_hold_are_changed(tmp_path: Path) -> None:
    for name in ("12:30 [x].npy", "12_30 [x].npy", ".b.npy"):
        np.save(tmp_path / name, np.ones((2, 2)))
    found = find_recordings([str(path) for path in sorted(tmp_path.iterdir())], rate=1.0)
    assert [one.id for one in found.recordings if not re.fullmatch(r"[^.:][^:]*", one.id)] == []
    assert len({one.id for one in found.recordings}) == 3

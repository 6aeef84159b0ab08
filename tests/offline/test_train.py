"""The main command: a bundle the live side takes, caches, a kill in the middle, and a sentence for every bad input."""

from __future__ import annotations

import io
import json
import os
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

from guide.bundle import SCHEMA
from guide.commands import check
from guide.commands.entry import entry
from guide.domain import BACKGROUND
from guide.teach.annotations import read_labels
from offline.batches import Batches
from offline.config import resolve
from offline.curves import EVENTS, METRICS, read_points
from offline.export import Written
from offline.extraction import Extractor
from offline.loop import CHECKPOINT
from offline.losses.registry import LOSS_NAMES
from offline.train import TrainOptions, learn_task, main
from tests.failing import arguments, said_on_failure
from tests.tiny import FEATURE_WIDTH, RECIPE, Learned, learn_again, write_features

Say = Callable[..., str]

LISTED = {"head.onnx", "prototypes.npz", "demonstrations.npz", "procedure.json"}
LEARNED = ("head.onnx", "prototypes.npz", "demonstrations.npz", "procedure.json")
KILLED_AFTER = 4  # checkpoints: three of the first head, one of the second
KILLER = f"""
import os, signal, sys
from guide.commands.entry import entry
from offline import loop
from offline.train import TrainOptions, main
replace, written = loop._save, []
def replace_and_die(path, state):
    replace(path, state)
    written.append(path)
    if len(written) == {KILLED_AFTER}:
        os.kill(os.getpid(), signal.SIGKILL)
loop._save = replace_and_die
entry(TrainOptions, main, args=sys.argv[1:])
"""


def command_line(options: TrainOptions) -> list[str]:
    """The options as a user would type them."""
    words = [*options.inputs, "--out", str(options.out), "--config", str(options.config), "--cache", str(options.cache)]
    return [*words, "--device", "cpu", *(["--rate", str(options.rate)] if options.rate else [])]


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
    assert {"pictures/alignment.png", "pictures/embedding.png"} <= frames & features
    assert any(re.fullmatch(r"stills/\d\d_\d\.jpg", name) for name in frames)
    facts = frames_task.bundle.facts
    assert facts["schema"] == SCHEMA
    assert facts["rate"] == 5.0
    assert facts["training"]["iterations"] == 12, "six for each of two heads"
    assert facts["training"]["weights_hash"] in frames_task.said
    assert np.isfinite(facts["training"]["held_out_loss"])
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
    assert len(list(tmp_path.glob("cache/runs/*/head-*/" + CHECKPOINT))) == 2

    drawn: list[int] = []
    training = Batches.training
    monkeypatch.setattr(Batches, "training", lambda self, n: drawn.append(n) or training(self, n))  # type: ignore[func-returns-value]
    continued = learn_again(options)
    assert drawn == [2, 3, 4, 5], "two iterations to a checkpoint, six for each head"
    assert f"resuming from the checkpoint of an earlier run, at about iteration {2 * KILLED_AFTER}" in continued.said
    assert "resuming" not in features_task.said
    metrics = next(tmp_path.glob("cache/runs/*/head-2/" + METRICS)).read_text().splitlines()
    looks = [json.loads(line)["iteration"] for line in metrics]
    assert looks == sorted(set(looks))
    assert looks[-1] == 6
    assert len(list(tmp_path.glob("cache/runs/*/head-2/" + EVENTS))) == 1, "events go on in one file"
    whole = features_task.bundle.facts
    assert continued.bundle.facts["training"] == whole["training"]
    for name in LEARNED:
        assert continued.bundle.facts["files"][name] == whole["files"][name]


def test_two_processes_of_torchrun_learn_what_one_learns(features_task: Learned, tmp_path: Path) -> None:
    config = tmp_path / "recipe.toml"
    config.write_text(f"{RECIPE}dropout = 0.0\n")  # its draws differ between processes; batch norm is shared
    alone = replace(features_task.options, out=tmp_path / "one", cache=tmp_path / "cache one", config=config)
    learn_again(alone)
    shared = replace(alone, out=tmp_path / "two", cache=tmp_path / "cache two")
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [*launcher, "-m", "offline.train", *command_line(shared)],
        capture_output=True, text=True, check=False, timeout=300, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("3 recordings") == 1, "the first process alone speaks"
    assert done.stdout.count("next: python -m guide check") == 1
    one, two = (read_points(next(cache.glob("runs/*/head-1"))) for cache in (alone.cache, shared.cache))
    assert len(two) == 3
    for mine, theirs in zip(one, two, strict=True):
        assert theirs.loss == pytest.approx(mine.loss, abs=1e-5)
        assert theirs.held_out == pytest.approx(mine.held_out, abs=1e-5)
    folders = {path.name for path in next(shared.cache.glob("runs/*")).iterdir() if path.is_dir()}
    assert folders == {"head-1", "head-2"}
    check.main(check.CheckOptions(tmp_path / "two", "cpu"))


@pytest.fixture
def said_without_export(features_task: Learned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Say:
    """Runs the command on features up to the bundle, which is not written; gives what it said."""
    monkeypatch.setattr("offline.train._export", lambda *_: Written({}))

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


def test_without_inputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = said_on_failure(["--out", str(tmp_path / "out")], capsys)
    assert "none were given: name videos or a folder of them" in said


def test_without_a_place_for_the_bundle(videos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "add --out exported/NAME" in said_on_failure([str(videos)], capsys)


def test_a_bad_recording_is_skipped_where_that_is_asked_for(said_without_export: Say, tmp_path: Path) -> None:
    folder = write_features(tmp_path / "features")
    (folder / "b.npy").write_bytes(b"no array")
    np.save(folder / "d.npy", np.ones((5, FEATURE_WIDTH), np.float32))
    said = said_without_export(folder, skip_bad=True)
    assert "2 recordings" in said
    assert f"skipped: features were expected, but {folder / 'b.npy'}" in said
    assert f"skipped: a recording needs at least 16 frames, but {folder / 'd.npy'} has 5" in said


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

    monkeypatch.setattr("guide.teach.writing._save", full)
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
        ('backbone = "vgg"', "sets backbone to 'vgg', one of efficientnet_lite0, resnet50"),
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
    said = said_on_failure(arguments(videos, tmp_path, "--loss", "hinge"), capsys)
    assert f"sets loss to 'hinge', one of {', '.join(LOSS_NAMES)} was expected" in said


def test_a_missing_settings_file_is_named(videos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = said_on_failure(arguments(videos, tmp_path, "--config", "none.toml"), capsys)
    assert said == "a settings file was expected, but none.toml does not exist: check the path.\n"
    said = said_on_failure(arguments(videos, tmp_path, "--config", str(tmp_path)), capsys)
    assert f"but {tmp_path} is a folder" in said


def test_a_cache_that_cannot_be_written_is_said_before_the_work(
    videos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Extractor, "extract", lambda *_: pytest.fail("work was begun"))
    (tmp_path / "cache").write_text("in the way")
    said = said_on_failure(arguments(videos, tmp_path), capsys)
    assert "features and checkpoints are kept in" in said
    assert "with --cache DIR" in said


def test_the_help_shows_what_the_presets_say(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        entry(TrainOptions, main, args=["--help"])
    said = re.sub(r"[\s│]+", " ", capsys.readouterr().out)
    for words in (
        "(default: 5.0; paper: 2.0)",
        "(default: efficientnet_lite0; paper: resnet50)",
        "(default: auto; paper: 7)",
    ):
        assert words in said
    assert "None" not in said
    assert all(name in said for name in LOSS_NAMES)


def test_a_missing_tensorboard_is_one_note(said_without_export: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("offline.curves", "offline.training_report"):
        monkeypatch.setattr(f"{place}.has_tensorboard", lambda: False)
    said = said_without_export()
    assert said.count("note: tensorboard is not installed") == 1
    assert "--logdir" not in said


@pytest.mark.parametrize(
    ("preset", "words"),
    [
        ("paper", "the smaller of 10 s and a quarter of the shortest"),
        ("default", "the smaller of half an average step"),
    ],
)
def test_a_dry_run_states_the_rule_of_the_window(capsys: pytest.CaptureFixture[str], preset: str, words: str) -> None:
    entry(TrainOptions, main, args=["--preset", preset, "--dry-run"])
    assert f"C-IDM's window is {words}" in capsys.readouterr().out

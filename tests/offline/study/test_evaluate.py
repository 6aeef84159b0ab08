"""The command on tiny tasks: table and files, kept embeddings, labels refused or repaired, nonsense refused."""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from guide.commands.entry import entry
from offline.study.evaluate import main
from offline.study.evaluation.plan import EvaluateOptions
from tests.made_datasets import make_egoprocel
from tests.tiny import FEATURE_RATE, ORDERS, RECIPE, STEP_S, Learned, write_features

STEP_ROWS = 2 * STEP_S  # seconds a step takes in the tiny features
ALL = ("--losses", "tc3i", "--cluster", "random,uniform,equal,hc,ss,cte,pcm,correspond", "--seeds", "1")


def labels_of(order: tuple[int, ...], step_s: float) -> str:
    rows = [(n * step_s, (n + 1) * step_s, step) for n, step in enumerate(order) if step]
    return "".join(f'{start},{end},"{step} colour {step}"\n' for start, end, step in rows)


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three recordings as features, with true labels and a recipe that trains in no time."""
    folder = write_features(tmp_path_factory.mktemp("evaluate") / "tiny")
    for name, order in zip("abc", ORDERS, strict=False):
        (folder / f"{name}.csv").write_text(labels_of(order, STEP_ROWS))
    (folder.parent / "recipe.toml").write_text(RECIPE)
    return folder


def run(folder: Path, out: Path, *options: str) -> None:
    shared = ["--videos", str(folder), "--rate", str(FEATURE_RATE), "--config", str(folder.parent / "recipe.toml")]
    places = ["--cache", str(folder.parent / "cache"), "--out", str(out), "--device", "cpu"]
    entry(EvaluateOptions, main, [*shared, *places, *options])


@pytest.fixture(scope="module")
def scored(task: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("scored")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("guide.teach.lesson.TRANSPORT_ROUNDS", 5)  # what it finds is no matter here
        run(task, out, *ALL)
    return out


def read(out: Path) -> dict[tuple[str, str], dict[str, str]]:
    with (out / "results.csv").open(encoding="utf-8") as file:
        return {(line["method"], line["figure"]): line for line in csv.DictReader(file)}


def test_every_method_is_scored_and_all_files_are_written(scored: Path) -> None:
    lines = read(scored)
    methods = {method for method, _ in lines}
    assert methods >= {"random", "random, expected", "uniform", "equal", "cte"}
    assert methods >= {f"tc3i + {name}" for name in ("hc", "ss", "pcm", "correspond")}
    assert {figure for _, figure in lines} >= {"A P", "B R", "D IoU", "pooled F1", "MoF", "F1@50", "edit", "order"}
    assert sorted(path.name for path in scored.iterdir()) == ["results.csv", "results.html", "results.md"]
    assert (scored / "results.html").read_text(encoding="utf-8").count("<h3>") == 4  # a heading, three recordings


def test_a_second_run_trains_nothing_and_says_the_same(
    task: Path, scored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "offline.study.evaluation.embedders.train_embedder", lambda *_: pytest.fail("it was trained again")
    )
    run(task, tmp_path, *ALL)
    assert (tmp_path / "results.csv").read_text() == (scored / "results.csv").read_text()


def test_several_k_give_a_table_each_and_a_study(
    task: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(task, tmp_path, "--losses", "raw", "--cluster", "hc", "--k", "2,4", "--seeds", "2", "--protocols", "D")
    said = capsys.readouterr().out
    assert all(word in said for word in ("tiny, K = 2", "tiny, K = 4", "F1 for several K", "equal time split"))
    lines = read(tmp_path)
    assert [lines[name, "D F1"]["seeds"] for name in ("random", "equal", "raw + hc")] == ["3", "1", "2"]
    assert float(lines["raw + hc", "K = 4 D F1"]["mean"]) > float(lines["random", "K = 4 D F1"]["mean"])


def test_few_labels_are_carried_to_recordings_that_alone_are_scored(
    task: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "offline.study.evaluation.embedders.train_embedder", lambda *_: pytest.fail("nothing need be trained")
    )
    run(task, tmp_path, "--cluster", "random,equal", "--labelled", "1,2,4")
    said = capsys.readouterr().out
    assert "4 labelled: left out, there are 3 recordings" in said
    assert "labelled ones are left out" in said
    lines = read(tmp_path)
    assert [lines[f"{n} labelled", "D F1"]["seeds"] for n in (1, 2)] == ["3", "3"]
    assert float(lines["1 labelled", "D F1"]["mean"]) > float(lines["equal", "D F1"]["mean"])
    monkeypatch.setattr("guide.teach.carrying.Carrying.carry", lambda *_: pytest.fail("it was carried again"))
    run(task, tmp_path / "again", "--cluster", "random,equal", "--labelled", "1,2")
    assert read(tmp_path / "again")["2 labelled", "A F1"] == lines["2 labelled", "A F1"]


def test_the_number_of_key_steps_is_chosen_and_its_reason_said(
    task: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("offline.keysteps.choose.NUMBERS", (4, 5, 6))
    run(task, tmp_path, "--losses", "raw", "--cluster", "hc", "--k", "auto,4", "--seeds", "1")
    said = " ".join(capsys.readouterr().out.split())
    chosen = re.search(r"tiny, K = (\d+) \(chosen\)", said)
    assert chosen is not None
    assert f"note: K = {chosen[1]} chosen: 4 to" in said
    assert f"K = {chosen[1]} chosen: 4 to" in (tmp_path / "results.html").read_text(encoding="utf-8")
    assert ("raw + hc", "K auto D F1") in read(tmp_path)


def test_cameras_are_compared_in_one_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place, brownie = make_egoprocel(tmp_path / "data"), ("--task", "Brownie.cmu", "--cluster", "random,uniform,equal")
    entry(EvaluateOptions, main, ["--features", str(place), *brownie, "--view", "ego,rhs", "--out", str(tmp_path)])
    said = capsys.readouterr().out
    assert all(word in said for word in ("view ego, K = 2", "view rhs, K = 2", "F1 for several views", "CnC, TP (RHS)"))
    assert {line["view"] for line in csv.DictReader((tmp_path / "results.csv").open())} == {"ego", "rhs", ""}


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--losses", "magic"), "losses .* got 'magic'"),
        (("--k", "9999"), "must lie between 1 and the number of frames"),
        (("--task", "nowhere"), "no task 'nowhere'"),
        (("--labels", "nowhere"), "is not a folder"),
        (("--labelled", "3"), "choose fewer"),
        (("--view", "top"), "leave --view out"),
    ],
)
def test_nonsense_is_one_sentence_and_code_2(
    task: Path, tmp_path: Path, options: tuple[str, ...], word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        run(task, tmp_path / "out", *options)
    said = capsys.readouterr().err.strip()
    assert left.value.code == 2
    assert "\n" not in said
    assert re.search(word, said)
    assert not (tmp_path / "out").exists()


def test_videos_are_scored_too(frames_task: Learned, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    labels = tmp_path / "labels"
    labels.mkdir()
    for number, order in enumerate(ORDERS[:3], start=1):
        (labels / f"{number:02d}.csv").write_text(labels_of(order, STEP_S))
    options = frames_task.options
    arguments = ["--videos", options.inputs[0], "--labels", str(labels), "--config", str(options.config)]
    places = ["--cache", str(options.cache), "--out", str(tmp_path / "out"), "--device", "cpu"]
    entry(EvaluateOptions, main, [*arguments, *places, "--losses", "tc3i", "--cluster", "hc", "--seeds", "1"])
    said = capsys.readouterr().out
    assert "videos: 3 recordings" in said
    assert f"1 left out, no label file in {labels}: 04" in said
    assert ("tc3i + hc", "A F1") in read(tmp_path / "out")


def test_labels_alone_can_be_scored_blind(tmp_path: Path) -> None:
    for name, order in zip("ab", ORDERS, strict=False):
        (tmp_path / f"{name}.csv").write_text(labels_of(order, STEP_S))
    entry(EvaluateOptions, main, ["--features", str(tmp_path), "--out", str(tmp_path / "out")])
    assert ("uniform", "D F1") in read(tmp_path / "out")
    assert not any("tc3i" in method for method, _ in read(tmp_path / "out"))


def test_the_command_that_was_given_stands_in_the_files(
    task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["evaluate", "--videos", "my tea"])
    run(task, tmp_path, "--cluster", "equal")
    assert "python -m offline.study.evaluate --videos 'my tea'" in (tmp_path / "results.md").read_text()
    assert np.isfinite(float(read(tmp_path)["equal", "A F1"]["mean"]))

"""Learning on a Ray cluster: the bundle of one machine, a node that dies in the midst, a sentence for what lacks."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from rich.console import Console

from guide.commands.entry import entry
from guide.errors import InputError
from offline.cluster import _code_hash, _lack, join_cluster, require_shared
from offline.executor import open_executor
from offline.loop import CHECKPOINT
from offline.study.evaluate import main as evaluate
from offline.study.evaluation.plan import EvaluateOptions
from offline.study.fault_trial.conditions import Conditions
from offline.study.fault_trial.mistakes import Mistaken
from offline.study.jobs import Job, Shift, do_all
from offline.study.keep import Kept
from tests.executor_tasks import die_at_first, fail
from tests.failing import arguments, said_on_failure
from tests.faulty_task import make_task
from tests.ray_cluster import RayCluster, require_ray
from tests.tiny import FEATURE_RATE, ORDERS, RECIPE, Learned, learn, write_features

LONG = (
    RECIPE.replace("most_iterations = 6", "most_iterations = 300\npatience = 10000")
    .replace("heads = 2", "heads = 3")
    .replace("k = 4", 'k = "auto"')
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    cluster = RayCluster()
    yield cluster
    cluster.close()


@pytest.fixture(scope="module")
def second(cluster: RayCluster) -> object:
    return cluster.add_node()


def test_two_nodes_learn_the_bundle_of_one_machine(
    looks_task: Learned, cluster: RayCluster, second: object, tmp_path: Path
) -> None:
    recipe = RECIPE.replace("looks = 1", "looks = 2")
    (inputs,) = looks_task.options.inputs
    shared = learn(Path(inputs), tmp_path, recipe, ray=cluster.address)
    assert "features: 100 % 4 of 4" in shared.said
    assert "second look: 100 % 4 of 4" in shared.said
    assert "training (tc3i): 100 % 2 of 2" in shared.said
    assert shared.bundle.facts["training"] == looks_task.bundle.facts["training"]
    assert shared.bundle.facts["files"] == looks_task.bundle.facts["files"]


def test_tasks_on_a_cluster_fail_and_die_as_in_processes(cluster: RayCluster, second: object, tmp_path: Path) -> None:
    (tmp_path / "marks").mkdir()
    with open_executor(join_cluster("auto", tmp_path)) as executor:
        assert sorted(executor.run([partial(int, 7), partial(die_at_first, tmp_path / "marks")])) == [(0, 7), (1, 2)]
        with pytest.raises(InputError, match="damaged: leave it out"):
            list(executor.run([fail]))


def test_a_node_that_cannot_read_a_recording_is_named(cluster: RayCluster, tmp_path: Path) -> None:
    back = join_cluster(cluster.address, tmp_path)
    try:
        with pytest.raises(InputError, match=r"machine \S+ \(\w+\) of the Ray cluster cannot read /nowhere/a.mp4: "):
            require_shared(back, [Path("/nowhere/a.mp4")], tmp_path)
    finally:
        back.close()


def test_a_machine_says_what_it_lacks(tmp_path: Path) -> None:
    assert _lack(_code_hash(), [tmp_path], tmp_path) == ""
    assert "has other code" in _lack("other", [], tmp_path)
    assert f"cannot write to {tmp_path / 'none'}: recordings and --cache" in _lack(_code_hash(), [], tmp_path / "none")


def test_trials_on_a_cluster_find_what_they_find_here(cluster: RayCluster, tmp_path: Path) -> None:
    jobs: list[Job] = [Mistaken(make_task([(1, 2, 3, 4)] * 3), make_task([(1, 2, 4)], first=80), Conditions(tmp_path))]
    rows = do_all(jobs, Kept(tmp_path / "kept"), Shift(ray=cluster.address), Console(quiet=True))
    assert rows == [job.run() for job in jobs]


def test_an_evaluation_on_a_cluster_scores_what_it_scores_here(
    cluster: RayCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_features(tmp_path / "tiny")
    for name, order in zip("abc", ORDERS, strict=False):
        rows = [f'{4 * n},{4 * n + 4},"{step} colour {step}"\n' for n, step in enumerate(order) if step]
        (folder / f"{name}.csv").write_text("".join(rows))
    (tmp_path / "recipe.toml").write_text(RECIPE)
    options = EvaluateOptions(
        videos=folder, rate=FEATURE_RATE, config=tmp_path / "recipe.toml", device="cpu", cluster="pcm", losses="tc3i",
        seeds=2, labelled="1", choices=2, out=tmp_path / "here", cache=tmp_path / "cache",
    )  # fmt: skip
    evaluate(options)
    options = replace(options, ray=cluster.address, out=tmp_path / "there", cache=tmp_path / "other")
    monkeypatch.setattr("offline.study.evaluation.embedders.train_embedder", lambda *_: pytest.fail("trained here"))
    monkeypatch.setattr("guide.teach.carrying.Carrying.carry", lambda *_: pytest.fail("carried here"))
    evaluate(options)
    assert (tmp_path / "there" / "results.csv").read_text() == (tmp_path / "here" / "results.csv").read_text()


def test_a_node_that_dies_in_the_midst_changes_nothing(
    frames_task: Learned,
    cluster: RayCluster,
    second: object,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inputs, cache = Path(frames_task.options.inputs[0]), tmp_path / "killed" / "cache"
    alone = learn(inputs, tmp_path / "alone", LONG)
    monkeypatch.setattr("offline.keysteps.choose.correspond", lambda *_: pytest.fail("tried here"))
    monkeypatch.setattr("guide.teach.describe.rehearse", lambda *_: pytest.fail("rehearsed here"))
    with caplog.at_level(logging.WARNING), killed_when_both_train(cluster, second, cache):
        shared = learn(inputs, tmp_path / "killed", LONG, ray=cluster.address)
    assert "a worker died (" in caplog.text
    assert "finding key-steps: how many: 100 % 3 of 3" in shared.said
    assert shared.bundle.facts["training"] == alone.bundle.facts["training"]
    assert shared.bundle.facts["files"] == alone.bundle.facts["files"]


@contextmanager
def killed_when_both_train(cluster: RayCluster, node: object, cache: Path) -> Iterator[None]:
    """Kills a node once two heads have a checkpoint, that is, once both nodes are at work."""
    is_over = threading.Event()

    def kill() -> None:
        while not is_over.wait(0.02):
            if len(list(cache.glob(f"runs/*/head-*/{CHECKPOINT}"))) >= 2:
                cluster.kill_node(node)
                return

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        yield
    finally:
        is_over.set()
        killer.join()


def test_where_no_cluster_is_found_there_is_one_sentence(
    tmp_path: Path, videos: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    require_ray()
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    said = said_on_failure(arguments(videos, tmp_path, "--ray", "auto"), capsys)
    assert "belongs to none: start a node here with ray start" in said
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")  # of a cluster that is gone
    assert "nothing answers at 127.0.0.1:1 (" in said_on_failure(arguments(videos, tmp_path, "--ray", "auto"), capsys)


def test_without_ray_there_is_one_sentence(
    tmp_path: Path, videos: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    sentence = "needs the package ray, which is not installed: install the project with its extra fleet"
    assert sentence in said_on_failure(arguments(videos, tmp_path, "--ray", "auto"), capsys)
    with pytest.raises(SystemExit) as left:
        entry(EvaluateOptions, evaluate, ["--videos", str(videos), "--cache", str(tmp_path), "--ray", "auto"])
    assert left.value.code == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nonsense", "localhost:", "localhost:99999999"])
def test_where_nothing_answers_there_is_one_sentence_at_once(
    address: str, tmp_path: Path, videos: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    require_ray()
    began = time.monotonic()
    said = said_on_failure(arguments(videos, tmp_path, "--ray", address), capsys)
    assert f"nothing answers at {address} (" in said
    assert time.monotonic() - began < 60

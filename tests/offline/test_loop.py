"""Training converges, survives being stopped anywhere, and several processes do what one does."""

from __future__ import annotations

import json
import logging
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.multiprocessing.spawn import spawn

from guide.errors import InputError, OutputError
from offline.batches import Batches, Clip
from offline.curves import METRICS, read_points
from offline.loop import CHECKPOINT, LoopSettings, Progress, _dropout_seed, _Run, train, weights_hash


def make_batches(videos: int = 4, frames: int = 8) -> Batches:
    rng = np.random.default_rng(0)
    clips = []
    for _ in range(5):
        numbers = np.arange(48)
        inputs = 0.1 * rng.normal(size=(48, 6)).astype(np.float32) + numbers[:, None] / 48
        clips.append(Clip(inputs, np.stack([np.maximum(numbers - 1, 0), numbers], 1), numbers.astype(np.float64)))
    return Batches(clips, videos, frames, seed=1)


def make_model(dropout: float = 0.3) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Flatten(), nn.Linear(12, 16), nn.ReLU(), nn.Dropout(dropout), nn.Linear(16, 4))


def position_loss(embeddings: Tensor, steps: Tensor, lengths: Tensor) -> Tensor:
    """Couples all videos of the batch, as the cycle losses do."""
    wanted = steps / lengths[:, None]
    return ((embeddings.mean(-1) - wanted) ** 2).mean() + (embeddings.mean((0, 1)) - 0.5).square().sum()


def make_settings(iterations: int = 60, patience: int = 100) -> LoopSettings:
    return LoopSettings(1e-2, 1e-5, iterations, evaluate_every=10, patience=patience, seed=4)


def test_the_loss_falls_and_is_written_down(tmp_path: Path) -> None:
    trained = train(make_model(), position_loss, make_batches(), make_settings(), tmp_path)
    lines = [json.loads(line) for line in (tmp_path / METRICS).read_text().splitlines()]
    assert trained.iterations == 60
    assert "60 iterations" in trained.why_ended
    assert trained.held_out_loss == lines[-1]["held_out"]
    assert [line["iteration"] for line in lines] == [10, 20, 30, 40, 50, 60]
    assert lines[-1]["held_out"] < 0.5 * lines[0]["held_out"]


def test_training_that_no_longer_gains_converges(tmp_path: Path) -> None:
    settings = LoopSettings(1e-12, 1e-5, 500, evaluate_every=5, patience=3, seed=0)
    trained = train(make_model(), position_loss, make_batches(), settings, tmp_path)
    assert trained.iterations == 20
    assert trained.why_ended.startswith("converged")


@pytest.mark.parametrize("stop_after", [1, 2, 5])
def test_a_run_that_was_stopped_ends_with_the_same_weights(tmp_path: Path, stop_after: int) -> None:
    whole = train(make_model(), position_loss, make_batches(), make_settings(), tmp_path / "whole")

    def stop(progress: Progress, loss: float, rate: float) -> None:
        if progress.iteration == stop_after * 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(make_model(), position_loss, make_batches(), make_settings(), tmp_path / "cut", stop)
    continued = train(make_model(), position_loss, make_batches(), make_settings(), tmp_path / "cut")
    assert continued == whole


def test_a_finished_run_is_not_trained_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = train(make_model(), position_loss, make_batches(), make_settings(), tmp_path)
    stamp = (tmp_path / CHECKPOINT).stat().st_mtime_ns
    monkeypatch.setattr(torch.optim, "Adam", lambda *_, **__: pytest.fail("an optimizer takes seconds to start"))
    assert train(make_model(), position_loss, make_batches(), make_settings(), tmp_path) == first
    assert (tmp_path / CHECKPOINT).stat().st_mtime_ns == stamp


@pytest.mark.parametrize("damage", ["empty", "cut short", "of another model", "without progress"])
def test_a_damaged_checkpoint_is_named_and_training_starts_anew(
    tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    whole = train(make_model(), position_loss, make_batches(), make_settings(20), tmp_path)
    path = tmp_path / CHECKPOINT
    state = torch.load(path, weights_only=True)
    state["model"]["4.weight"] = torch.zeros(9, 9)
    if damage in ("empty", "cut short"):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2 if damage == "cut short" else 0])
    else:
        torch.save(state if damage == "of another model" else {"model": {}, "optimizer": {}}, path)
    with caplog.at_level(logging.WARNING):
        assert train(make_model(), position_loss, make_batches(), make_settings(20), tmp_path) == whole
    assert str(path) in caplog.text
    assert [json.loads(line)["iteration"] for line in (tmp_path / METRICS).read_text().splitlines()] == [10, 20]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_held_out_loss_that_is_no_number_is_not_convergence(tmp_path: Path, value: float) -> None:
    def diverge(embeddings: Tensor, steps: Tensor, lengths: Tensor) -> Tensor:
        return position_loss(embeddings, steps, lengths) * (1.0 if embeddings.requires_grad else value)

    with pytest.raises(InputError, match=r"diverged.*after 10 iterations.*lower learning_rate"):
        train(make_model(), diverge, make_batches(), make_settings(), tmp_path)
    assert not (tmp_path / CHECKPOINT).exists()


def test_a_checkpoint_that_cannot_be_written_leaves_nothing_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(state: object, path: Path) -> None:
        path.write_bytes(b"half")
        raise RuntimeError("no space left")

    monkeypatch.setattr(torch, "save", fill)
    with pytest.raises(OutputError, match="no space left"):
        train(make_model(), position_loss, make_batches(), make_settings(), tmp_path)
    assert list(tmp_path.glob("checkpoint*")) == []


def test_the_hash_tells_weights_apart() -> None:
    model = make_model()
    before = weights_hash(model)
    with torch.no_grad():
        next(model.parameters()).add_(1e-6)
    assert weights_hash(model) != before


def shared_model() -> nn.Module:
    """Without dropout, whose draws differ between processes; its batch norm must see the whole batch in each."""
    torch.manual_seed(0)
    first = nn.Linear(12, 16, bias=False)  # an offset before a norm has no gradient but rounding, which Adam blows up
    return nn.Sequential(nn.Flatten(), first, nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 4))


def uneven_batches() -> Batches:
    """Batches of 3 x 7 frames: 21 rows cannot be dealt out evenly."""
    return make_batches(videos=3, frames=7)


def gently(iterations: int) -> LoopSettings:
    """Small steps, so that rounding stays small too."""
    return replace(make_settings(iterations), learning_rate=1e-3)


def _worker(rank: int, world: int, folder: str) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", GLOO_SOCKET_IFNAME="lo")
    torch.set_num_threads(1)
    store = f"file://{folder}/store"
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=world)
    run = Path(folder) / ("run" if rank == 0 else "elsewhere")  # as on a machine with a disk of its own
    for iterations in (10, 30):  # stopped after 10 and continued from the first process's checkpoint
        train(shared_model(), position_loss, uneven_batches(), gently(iterations), run)
        if rank == 0:
            _forget_the_end(run)
        dist.barrier()
    os._exit(0)  # gloo's own threads can abort an orderly exit


def _forget_the_end(folder: Path) -> None:
    """Makes the checkpoint of a run that has ended one of a run that goes on."""
    state = torch.load(folder / CHECKPOINT, weights_only=True)
    state["progress"]["why_ended"] = ""
    torch.save(state, folder / CHECKPOINT)


def test_two_processes_get_the_loss_curve_of_one(tmp_path: Path) -> None:
    train(shared_model(), position_loss, uneven_batches(), gently(30), tmp_path / "one")
    spawn(_worker, args=(2, str(tmp_path)), nprocs=2)  # type: ignore[no-untyped-call]
    one, two = (read_points(folder) for folder in (tmp_path / "one", tmp_path / "run"))
    assert [point.iteration for point in two] == [10, 20, 30]
    for alone, shared in zip(one, two, strict=True):
        assert shared.loss == pytest.approx(alone.loss, abs=1e-5)
        assert shared.held_out == pytest.approx(alone.held_out, abs=1e-5)
    states = [
        torch.load(folder / CHECKPOINT, weights_only=True)["model"] for folder in (tmp_path / "one", tmp_path / "run")
    ]
    assert states[0].keys() == states[1].keys()
    for name in states[0]:
        torch.testing.assert_close(states[1][name], states[0][name], atol=1e-4, rtol=1e-4)
    assert not (tmp_path / "elsewhere").exists(), "the first process alone writes"


def test_processes_drop_different_values_of_their_rows() -> None:
    """Rows are dealt out: with one mask for all, row i of every share would lose the same values."""
    masks = []
    for iteration, rank in ((5, 0), (5, 1), (5, 2), (6, 0)):
        torch.manual_seed(_dropout_seed(3, iteration, rank, world=3))
        masks.append(nn.functional.dropout(torch.ones(64), 0.5).tolist())
    assert len({tuple(mask) for mask in masks}) == 4
    assert _dropout_seed(3, 5, 0, 1) == 3 * 1_000_003 + 5, "runs of one process stay what they were"


def test_held_out_maps_are_kept_as_narrow_as_they_are_cached(tmp_path: Path) -> None:
    """Four batches of the paper's maps would take a gigabyte in float32."""
    numbers = np.arange(32)
    clip = Clip(np.ones((32, 6), np.float16), np.stack([numbers, numbers], 1), numbers.astype(np.float64))
    run = _Run(make_model(), position_loss, Batches([clip, clip], 2, 4, seed=0), make_settings(10), tmp_path)
    assert {batch.inputs.dtype for batch in run._held_out} == {torch.float16}
    run.resume()
    run.iterate(None)
    assert np.isfinite(run.progress.smoothed)

"""Heads trained one after another: each with weights and batches of its own, kept and read again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from offline.config import resolve
from offline.embedding import Inputs, embed, prepare_inputs
from offline.features import RecordingFeatures
from offline.loop import Progress
from offline.training import head_folders, train_embedder

RECIPE = replace(resolve("default", None, {}), heads=3, most_iterations=20, evaluate_every=10, embedding_width=4)
CPU = torch.device("cpu")


@pytest.fixture
def inputs() -> Inputs:
    rng = np.random.default_rng(0)
    recordings = [
        RecordingFeatures(name, 5.0, np.arange(60) / 5.0, rng.normal(size=(60, 8)).astype(np.float32)) for name in "ab"
    ]
    return prepare_inputs(recordings, RECIPE)


def test_heads_stand_side_by_side_and_differ(inputs: Inputs, tmp_path: Path) -> None:
    embedder, trained = train_embedder(inputs, RECIPE, 0, CPU, tmp_path)
    rows = embed(embedder, inputs.clips(RECIPE)[0])
    assert rows.shape == (60, 12)
    apart = np.split(rows, 3, axis=1)
    assert not any(np.allclose(apart[0], other) for other in apart[1:])
    assert trained.iterations == 60
    assert all((folder / "metrics.jsonl").is_file() for folder in head_folders(tmp_path, RECIPE))


def test_a_head_does_not_depend_on_how_many_stand_beside_it(inputs: Inputs, tmp_path: Path) -> None:
    three, _ = train_embedder(inputs, RECIPE, 0, CPU, tmp_path / "three")
    one, _ = train_embedder(inputs, replace(RECIPE, heads=1), 0, CPU, tmp_path / "one")
    clip = inputs.clips(RECIPE)[1]
    np.testing.assert_array_equal(embed(three, clip)[:, :4], embed(one, clip))


def test_what_was_trained_is_read_again_and_iterations_count_on(inputs: Inputs, tmp_path: Path) -> None:
    told: list[int] = []

    def report(state: Progress, loss: float, rate: float) -> None:
        told.append(state.iteration)

    first = train_embedder(inputs, RECIPE, 1, CPU, tmp_path, report)[1]
    assert told == [10, 20, 30, 40, 50, 60]
    assert train_embedder(inputs, RECIPE, 1, CPU, tmp_path, report)[1] == first
    assert len(told) == 6, "nothing was trained again"


def test_seeds_share_no_head(inputs: Inputs, tmp_path: Path) -> None:
    clip = inputs.clips(RECIPE)[0]
    found = [embed(train_embedder(inputs, RECIPE, s, CPU, tmp_path / str(s))[0], clip) for s in (0, 1)]
    heads = [part for rows in found for part in np.split(rows, 3, axis=1)]
    assert all(not np.allclose(heads[i], heads[j]) for i in range(6) for j in range(i))

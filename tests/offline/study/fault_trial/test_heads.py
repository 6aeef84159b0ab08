"""Heads: what is embedded of a recording is what training saw of it, and a head is trained once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from offline.study.fault_trial.heads import CPU, SEED, read_head

from guide.errors import InputError
from offline.config import Recipe, resolve
from offline.embedding import Inputs, StandardHead
from offline.study.evaluation.embedders import Embedders, TrainingProgress, train_head
from offline.study.fault_trial import heads
from tests.faulty_task import make_task

RECIPE = replace(resolve("default", None, {"k": 4}), most_iterations=4, evaluate_every=2, head_width=16)


def test_a_recording_is_embedded_as_training_embeds_it(tmp_path: Path) -> None:
    task = make_task()
    head = read_head(task.recordings, RECIPE, tmp_path / "heads")
    found = Embedders(tmp_path / "all", CPU).embeddings(task.recordings, RECIPE, SEED, lambda iteration, words: None)
    for one, embedding in zip(task.recordings, found, strict=True):
        np.testing.assert_allclose(head.embed(one), embedding, atol=1e-5)


def test_a_head_that_was_trained_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = make_task()
    first = read_head(task.recordings, RECIPE, tmp_path).embed(task.recordings[0])
    looks: list[int] = []

    def listening(
        inputs: Inputs, recipe: Recipe, seed: int, device: torch.device, folder: Path, _: TrainingProgress
    ) -> StandardHead:
        return train_head(inputs, recipe, seed, device, folder, lambda iteration, words: looks.append(iteration))

    monkeypatch.setattr(heads, "train_head", listening)
    assert np.array_equal(read_head(task.recordings, RECIPE, tmp_path).embed(task.recordings[0]), first)
    assert not looks


def test_one_recording_is_too_few_for_an_embedder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least 2"):
        read_head(make_task().recordings[:1], RECIPE, tmp_path)

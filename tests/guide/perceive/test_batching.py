"""Batches: everybody gets their own rows, whoever they ran with."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.errors import BundleError, GuideError
from guide.perceive.batching import BatchedHead, BatchedTrunk, Batcher, BatchSettings
from guide.perceive.embedder import Floats, OnnxHead, OnnxTrunk
from tests.tiny import Learned


def doubled(inputs: Floats, outputs: list[str]) -> list[Floats]:
    return [inputs * (2 if name == "twice" else 3) for name in outputs]


@settings(derandomize=True, deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3)), min_size=1, max_size=12))
def test_each_caller_gets_its_own_rows(shapes: list[tuple[int, int]]) -> None:
    inputs = [np.random.default_rng(seed).normal(size=shape).astype(np.float32) for seed, shape in enumerate(shapes)]
    with Batcher(doubled, BatchSettings(gather_s=0.001, most=4)) as batcher, ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda rows: batcher.ask(rows, ["twice", "thrice"]), inputs))
    for rows, (twice, thrice) in zip(inputs, answers, strict=True):
        np.testing.assert_array_equal(twice, 2 * rows)
        np.testing.assert_array_equal(thrice, 3 * rows)
    assert batcher.rows == sum(len(rows) for rows in inputs)


def test_what_comes_while_a_batch_runs_makes_the_next_one() -> None:
    begun, go_on, sizes = threading.Event(), threading.Event(), []

    def run(inputs: Floats, _: list[str]) -> list[Floats]:
        sizes.append(len(inputs))
        begun.set()
        go_on.wait(10.0)
        return [inputs]

    row = np.zeros((1, 2), np.float32)
    with Batcher(run, BatchSettings(gather_s=0.0, most=3)) as batcher, ThreadPoolExecutor(8) as pool:
        first = pool.submit(batcher.ask, row, ["same"])
        begun.wait(10.0)
        rest = [pool.submit(batcher.ask, row, ["same"]) for _ in range(7)]
        while len(batcher._waiting) < 7:
            time.sleep(0.001)
        go_on.set()
        assert [len(one.result(10.0)[0]) for one in (first, *rest)] == [1] * 8
    assert sizes == [1, 3, 3, 1]


def test_an_error_reaches_all_who_shared_the_batch_and_nobody_else() -> None:
    def run(inputs: Floats, _: list[str]) -> list[Floats]:
        if (inputs < 0).any():
            raise BundleError("no negative numbers, please.")
        return [inputs]

    with Batcher(run) as batcher:
        with pytest.raises(BundleError, match="negative"):
            batcher.ask(-np.ones((1, 1), np.float32), ["same"])
        assert batcher.ask(np.ones((1, 1), np.float32), ["same"])[0].tolist() == [[1.0]]
    with pytest.raises(GuideError, match="stopped"):
        batcher.ask(np.ones((1, 1), np.float32), ["same"])


def test_a_shared_network_gives_what_one_of_its_own_gives(maps_task: Learned) -> None:
    path = maps_task.bundle.path("trunk.onnx")
    alone, shared = OnnxTrunk(path, "cpu", 1), BatchedTrunk(path, "cpu", 1, BatchSettings(gather_s=0.2, most=3))
    pictures = np.random.default_rng(0).normal(size=(3, 1, 3, 64, 64)).astype(np.float32)
    with ThreadPoolExecutor(3) as pool:
        together = list(pool.map(shared.forward, pictures))
    assert (shared.batcher.rows, shared.batcher.runs) == (3, 1)
    for picture, output in zip(pictures, together, strict=True):
        np.testing.assert_allclose(output.maps, alone.forward(picture).maps, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(output.pooled, alone.pool(picture), rtol=1e-4, atol=1e-5)
    shared.batcher.close()


def test_a_shared_head_too_and_it_says_how_long_callers_waited(features_task: Learned) -> None:
    path = features_task.bundle.path("head.onnx")
    alone, shared = OnnxHead(path, "cpu", 1), BatchedHead(path, "cpu", 1)
    heard: list[float] = []
    shared.batcher.timed = heard.append
    shape = [1, *(size for size in alone.input_shape[1:] if isinstance(size, int))]
    context = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    np.testing.assert_allclose(shared.embed(context), alone.embed(context), rtol=1e-4, atol=1e-5)
    assert len(heard) == 1
    assert heard[0] > 0
    shared.batcher.close()

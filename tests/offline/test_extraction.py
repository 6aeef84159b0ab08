"""Extraction: the right features in the right order, bounded, and errors of the decoding thread raised."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from guide.domain import Frame
from guide.errors import InputError
from guide.perceive.embedder import OnnxTrunk
from guide.perceive.preprocess import squash, to_network_input
from offline.backbones import load_trunk
from offline.extraction import BATCHES_AHEAD, Extractor, Prefetch, TorchTrunk, open_extractor


@pytest.fixture
def extractor(tmp_path: Path) -> Extractor:
    """An extractor that runs in torch, so that nothing needs exporting."""
    made = Extractor(load_trunk("random-tiny"), tmp_path, "cpu")
    made.__dict__["runner"] = TorchTrunk(made.trunk, torch.device("cpu"))
    return made


def some_frames(count: int) -> list[Frame]:
    images = np.random.default_rng(0).integers(0, 255, (count, 20, 30, 3), dtype=np.uint8)
    return [Frame(number, number / 10, image) for number, image in enumerate(images)]


@pytest.mark.parametrize("count", [1, 4, 5, 11])
def test_each_frame_gets_its_own_features(extractor: Extractor, count: int) -> None:
    frames = some_frames(count)
    batches = list(extractor.extract(frames, keep_maps=True))
    inputs = np.stack([to_network_input(frame.image, extractor.preprocessing) for frame in frames])
    with torch.inference_mode():
        maps, pooled = extractor.trunk(torch.from_numpy(inputs))
    np.testing.assert_allclose(np.concatenate([batch.times for batch in batches]), np.arange(count) / 10)
    np.testing.assert_allclose(np.concatenate([batch.pooled for batch in batches]), pooled.numpy(), atol=1e-5)
    found = np.concatenate([batch.maps for batch in batches if batch.maps is not None])
    np.testing.assert_allclose(found, maps.numpy(), atol=1e-2)
    assert found.dtype == np.float16


@pytest.mark.parametrize("taken", [1, 3])
def test_beside_a_gpu_reading_has_its_own_thread(extractor: Extractor, taken: int) -> None:
    extractor.uses_gpu = True  # the trunk stays where it is
    closed = threading.Event()
    readers: set[str] = set()

    def source() -> Iterator[Frame]:
        try:
            for frame in some_frames(11):
                readers.add(threading.current_thread().name)
                yield frame
        finally:
            closed.set()

    before = set(threading.enumerate())
    batches = extractor.extract(source())
    found = [batch.times for batch in itertools.islice(batches, taken)]
    batches.close()  # type: ignore[attr-defined]
    np.testing.assert_allclose(np.concatenate(found), np.arange(len(np.concatenate(found))) / 10)
    assert readers == {"prefetch"}
    assert closed.is_set()
    assert set(threading.enumerate()) <= before


def test_beside_a_gpu_each_frame_gets_its_own_features_too(extractor: Extractor) -> None:
    expected = np.concatenate([batch.pooled for batch in extractor.extract(some_frames(21))])
    extractor.uses_gpu = True
    found = list(extractor.extract(some_frames(21)))
    assert [len(batch.times) for batch in found] == [8, 8, 5]
    np.testing.assert_allclose(np.concatenate([batch.pooled for batch in found]), expected, atol=1e-6)


def test_pictures_in_bytes_are_looked_up_to_the_same_inputs(extractor: Extractor) -> None:
    trunk = TorchTrunk(extractor.trunk, torch.device("cpu"))
    pictures = [squash(frame.image, extractor.preprocessing) for frame in some_frames(3)]
    expected = np.stack([to_network_input(frame.image, extractor.preprocessing) for frame in some_frames(3)])
    np.testing.assert_array_equal(trunk._look_up(torch.from_numpy(np.stack(pictures))).numpy(), expected)


def test_maps_only_where_wanted(extractor: Extractor) -> None:
    assert all(batch.maps is None for batch in extractor.extract(some_frames(5)))


def test_an_error_while_reading_reaches_the_caller(extractor: Extractor) -> None:
    def broken() -> Iterator[Frame]:
        yield from some_frames(6)
        raise InputError("the camera is gone")

    with pytest.raises(InputError, match="the camera is gone"):
        list(extractor.extract(broken()))


def test_reading_stays_a_bounded_number_of_items_ahead() -> None:
    drawn: list[int] = []

    def source() -> Iterator[int]:
        for number in itertools.count():
            drawn.append(number)
            yield number

    with Prefetch(source(), ahead=3) as items:
        for expected, item in zip(range(20), items, strict=False):
            assert item == expected
            assert len(drawn) <= expected + BATCHES_AHEAD + 3
    assert len(drawn) < 40


def test_leaving_early_stops_the_thread_and_closes_the_source() -> None:
    closed = threading.Event()

    def source() -> Iterator[int]:
        try:
            yield from itertools.count()
        finally:
            closed.set()

    prefetch = Prefetch(source(), ahead=2)
    with prefetch as items:
        next(items)
    assert closed.is_set()
    assert not prefetch._thread.is_alive()


def test_on_a_cpu_the_exported_trunk_runs_and_is_kept(tmp_path: Path) -> None:
    extractor = open_extractor("random-tiny", tmp_path, device="cpu")
    assert isinstance(extractor.runner, OnnxTrunk)
    inputs = np.random.default_rng(0).normal(size=(3, 3, 64, 64)).astype(np.float32)
    in_torch = TorchTrunk(extractor.trunk, torch.device("cpu")).forward(inputs)
    np.testing.assert_allclose(extractor.runner.pool(inputs), in_torch.pooled, atol=1e-5)
    kept = list(tmp_path.glob("*.onnx"))
    stamp = kept[0].stat().st_mtime_ns
    assert isinstance(open_extractor("random-tiny", tmp_path, device="cpu").runner, OnnxTrunk)
    assert [path.stat().st_mtime_ns for path in tmp_path.glob("*.onnx")] == [stamp]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_gpu_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="torch finds no CUDA device"):
        Extractor(load_trunk("random-tiny"), tmp_path, "cuda")


def test_a_damaged_trunk_in_the_cache_is_made_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    first = Extractor(load_trunk("random-tiny"), tmp_path, "cpu")
    pooled = first.runner.pool(np.ones((1, 3, 64, 64), np.float32))
    (file,) = tmp_path.glob("*.onnx")
    file.write_bytes(file.read_bytes()[:200])
    again = Extractor(first.trunk, tmp_path, "cpu").runner.pool(np.ones((1, 3, 64, 64), np.float32))
    np.testing.assert_array_equal(again, pooled)
    assert f"{file} is damaged and is made anew" in caplog.text


def test_a_gpu_computes_in_full_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    """Torch's own choice for convolutions is TF32, which keeps ten bits: features would differ from the CPU's."""
    seen: list[bool] = []
    trunk = load_trunk("random-tiny")
    trunk.register_forward_hook(lambda *_: seen.append(torch.backends.cudnn.allow_tf32))
    before = (torch.backends.cudnn.allow_tf32, torch.backends.cudnn.enabled)
    TorchTrunk(trunk, torch.device("cpu")).pool(np.zeros((1, 3, 64, 64), np.float32))
    assert seen == [False]
    assert (torch.backends.cudnn.allow_tf32, torch.backends.cudnn.enabled) == before

"""The embedder: what its head sees is what the live side sees, every frame has an embedding, the seed decides."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from guide.perceive.appearance import appearance
from guide.perceive.embedder import OnnxHead
from guide.teach import demonstrations
from guide.teach.embedding import LinearEmbedder
from offline.config import PRESETS, Recipe, resolve
from offline.embedding import (
    ROWS_AT_ONCE,
    Inputs,
    StandardHead,
    _statistics,
    build_head_for,
    embed,
    gamma_unit_s,
    make_loss,
    prepare_inputs,
    window_s,
)
from offline.features import RecordingFeatures
from offline.loop import weights_hash
from offline.onnx_export import export_embedder

RATE = 4.0
RECIPE = resolve("default", None, {"head_width": 8, "k": 4})


def recording(name: str, frames: int, with_maps: bool = False) -> RecordingFeatures:
    rng = np.random.default_rng(frames)
    maps = rng.normal(size=(frames, 3, 4, 4)).astype(np.float16) if with_maps else None
    pooled = rng.normal(size=(frames, 5)).astype(np.float32)
    return RecordingFeatures(name, RATE, np.arange(frames) / RATE, pooled, maps)


@pytest.fixture
def inputs() -> Inputs:
    return prepare_inputs([recording("a", 40), recording("b", ROWS_AT_ONCE + 30)], RECIPE)


@pytest.mark.parametrize(("head", "ranks"), [("conv", {4}), ("pooled", {2})])
def test_the_head_sees_maps_only_where_it_asks_for_them(head: str, ranks: set[int]) -> None:
    both = [recording("a", 20, with_maps=True), recording("b", 20, with_maps=True)]
    made = prepare_inputs(both, resolve("default", None, {"head": head}))
    assert {rows.ndim for rows in made.rows} == ranks


def test_labels_that_show_steps_coming_back_halve_how_far_it_looks_back() -> None:
    once, twice = (prepare_inputs([recording("a", 40)], RECIPE, visits) for visits in (1.0, 2.0))
    assert twice.settings.memory_s == once.settings.memory_s / 2
    assert twice.step_s == once.step_s  # training goes by no labels


def test_without_maps_a_head_for_maps_falls_back_to_rows() -> None:
    made = prepare_inputs([recording("a", 20), recording("b", 20)], PRESETS["paper"])
    assert {rows.ndim for rows in made.rows} == {2}


def test_heads_and_finders_go_by_the_means_and_recognition_by_all() -> None:
    both = [replace(recording(name, frames), mean_width=3) for name, frames in (("a", 20), ("b", 30))]
    made = prepare_inputs(both, RECIPE)
    other = [replace(one, pooled=np.concatenate([one.pooled[:, :3], 9 - one.pooled[:, 3:]], axis=1)) for one in both]
    for rows, same in zip(made.rows, prepare_inputs(other, RECIPE).rows, strict=True):
        np.testing.assert_array_equal(rows, same)
    embeddings = [np.zeros((len(one), 2), np.float32) for one in both]
    assert [rows.shape[1] for rows in made.collection(embeddings).features] == [3, 3]
    assert [rows.shape[1] for rows in made.demonstrations().collection().features] == [5, 5]


def test_demonstrations_are_embedded_as_the_live_side_embeds_them(inputs: Inputs, tmp_path: Path) -> None:
    made = inputs.demonstrations()
    assert isinstance(made.embedder, LinearEmbedder)
    network = OnnxHead(export_embedder(made.embedder, tmp_path / "head.onnx"), "cpu", 1)
    for one, other in zip(made.items, inputs.recordings, strict=True):
        assert one.id == other.id
        np.testing.assert_allclose(made.embed(other.pooled, other.times), one.embedding, atol=1e-4)
        found = network.embed(appearance(other.pooled, other.times, inputs.settings))
        np.testing.assert_allclose(found, one.embedding, atol=0.01, err_msg="the root of a rounded nothing is small")


def test_what_lies_outside_the_directions_is_their_last_number(tmp_path: Path) -> None:
    plain = LinearEmbedder(np.array([1.0, 0.0, 0.0]), np.array([0.5, 1.0, 1.0]), np.eye(3)[:, :1])
    rows = np.array([[5.0, 3.0, 4.0], [1.0, 0.0, 0.0]], np.float32)
    found = OnnxHead(export_embedder(plain, tmp_path / "head.onnx"), "cpu", 1).embed(rows)
    np.testing.assert_allclose(found, [[2.0, 5.0], [0.0, 0.0]], atol=1e-6)
    np.testing.assert_allclose(found, plain.embed(rows), atol=1e-6)


def test_the_live_embedder_is_kept_and_not_fitted_again(
    inputs: Inputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = inputs.demonstrations(tmp_path)
    monkeypatch.setattr(demonstrations, "_fit", lambda *_: pytest.fail("it is fitted again"))
    for one, other in zip(first.items, inputs.demonstrations(tmp_path).items, strict=True):
        np.testing.assert_array_equal(one.embedding, other.embedding)


@pytest.mark.parametrize("change", ["other frames", "other copies", "longer memory", "another rate", "damaged"])
def test_a_live_embedder_that_was_fitted_to_something_else_is_not_taken(
    inputs: Inputs, tmp_path: Path, change: str
) -> None:
    inputs.demonstrations(tmp_path)
    one, *others = inputs.recordings
    match change:
        case "other frames":
            inputs = replace(inputs, recordings=(replace(one, pooled=one.pooled[::-1]), *others))
        case "other copies":
            inputs = replace(inputs, copies=tuple((each.pooled + 1,) for each in inputs.recordings))
        case "longer memory":
            inputs = replace(inputs, settings=replace(inputs.settings, memory_s=2 * inputs.settings.memory_s))
        case "another rate":
            inputs = replace(inputs, rate=2 * inputs.rate)
        case _:
            for file in tmp_path.iterdir():
                file.write_bytes(file.read_bytes()[:500])
    expected, found = inputs.demonstrations(), inputs.demonstrations(tmp_path)
    for fitted, taken in zip(expected.items, found.items, strict=True):
        np.testing.assert_array_equal(fitted.embedding, taken.embedding)


def test_every_frame_has_one_embedding_however_it_is_cut_up(inputs: Inputs) -> None:
    head = build_head_for(inputs, RECIPE, seed=0)
    for one, clip in zip(inputs.recordings, inputs.clips(RECIPE), strict=True):
        rows = embed(head, clip)
        assert rows.shape == (len(one), RECIPE.embedding_width)
        with torch.inference_mode():
            whole = head.eval()(clip.rows(np.arange(len(one)))).numpy()
        np.testing.assert_allclose(rows, whole, atol=1e-5)


def test_the_seed_decides_the_weights(inputs: Inputs) -> None:
    hashes = [weights_hash(build_head_for(inputs, RECIPE, seed)) for seed in (0, 0, 1)]
    assert hashes[0] == hashes[1] != hashes[2]


def test_what_the_head_sees_is_standardised() -> None:
    both = [recording("a", 60, with_maps=True), recording("b", 60, with_maps=True)]
    made = prepare_inputs(both, resolve("default", None, {"head": "conv", "head_width": 4}))
    head = build_head_for(made, resolve("default", None, {"head": "conv", "head_width": 4}), 0)
    assert isinstance(head, StandardHead)
    plain = StandardHead(nn.Identity(), head.offset, head.scale)
    seen = plain(torch.from_numpy(np.concatenate(made.rows).astype(np.float32))[:, None])
    np.testing.assert_allclose(seen.mean((0, 1, 3, 4)).numpy(), 0.0, atol=0.05)
    np.testing.assert_allclose(seen.std((0, 1, 3, 4)).numpy(), 1.0, atol=0.05)


@pytest.mark.parametrize("recipe", [RECIPE, PRESETS["paper"]], ids=["default", "paper"])
def test_the_window_is_at_most_a_quarter_of_the_shortest_recording(inputs: Inputs, recipe: Recipe) -> None:
    assert 0 < window_s(inputs, recipe) <= inputs.recordings[0].duration_s / 4
    assert gamma_unit_s(inputs, recipe) > 0


def test_seconds_become_frames_of_the_working_rate(inputs: Inputs) -> None:
    loss = make_loss(inputs, resolve("default", None, {"loss": "cidm", "window_s": 1.5}))
    assert getattr(loss, "window") == pytest.approx(1.5 * RATE)  # noqa: B009


@pytest.mark.parametrize("loss", ["tc3i", "tcc", "cidm", "lav", "lav+tcc"])
def test_every_loss_can_be_trained_with(inputs: Inputs, loss: str) -> None:
    head = build_head_for(inputs, RECIPE, seed=0)
    clips = inputs.clips(RECIPE)
    chosen = np.arange(0, 40, 5)
    rows = torch.stack([head(clip.rows(chosen)) for clip in clips])
    steps = torch.stack([torch.from_numpy(clip.steps[chosen]).float() for clip in clips])
    value = make_loss(inputs, resolve("default", None, {"loss": loss}))(rows, steps, torch.tensor([40.0, 286.0]))
    value.backward()  # type: ignore[no-untyped-call]
    gradients = [parameter.grad for parameter in head.parameters() if parameter.grad is not None]
    assert gradients
    assert all(torch.isfinite(gradient).all() for gradient in gradients)


def test_maps_are_standardised_without_holding_a_sample_of_them(tmp_path: Path) -> None:
    """4,096 maps of the paper's size are three gigabytes: mean and spread are summed up a few maps at a time."""
    rng = np.random.default_rng(0)
    maps = []
    for number in range(2):
        np.save(tmp_path / f"{number}.npy", (3 + 2 * rng.standard_normal((300, 8, 14, 14))).astype(np.float16))
        maps.append(np.load(tmp_path / f"{number}.npy", mmap_mode="r"))
    tracemalloc.start()
    try:
        offset, scale = _statistics(maps)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    every = np.concatenate(maps).astype(np.float64)
    assert offset.shape == scale.shape == (8, 1, 1)
    np.testing.assert_allclose(offset.ravel(), every.mean((0, 2, 3)), rtol=1e-5)
    np.testing.assert_allclose(scale.ravel(), every.std((0, 2, 3)), rtol=1e-5)
    assert peak < every.size * 4 / 2, "half of what the sample takes in float32"

"""Fine-tuning on a CPU, with tiny trunks: what is trained and what is not, what is kept, exported and refused."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console

from guide.perceive.embedder import OnnxTrunk
from guide.perceive.region import RegionSettings
from offline import backbones
from offline.backbones import Trunk, load_trunk
from offline.config import Recipe, resolve
from offline.embedding import Inputs, prepare_inputs
from offline.extraction import Extractor
from offline.features import FeatureCache
from offline.finetune import FineTuned, finetune, finetune_task, trunk_below
from offline.gather import find_task, see_task
from offline.videos import RecordingFacts
from tests.deep import deep
from tests.failing import arguments, said_on_failure
from tests.tiny import RECIPE, Learned, learn, learn_again, write_features

CPU = torch.device("cpu")
QUIET = Console(quiet=True)


@pytest.fixture(scope="module")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> Recipe:
    path = tmp_path_factory.mktemp("recipe") / "recipe.toml"
    path.write_text(RECIPE.replace("most_iterations = 6", "most_iterations = 40"))
    return replace(resolve("default", path, {}), head="conv", evaluate_every=5, k=4)


@pytest.fixture(scope="module")
def facts(frames_task: Learned) -> tuple[RecordingFacts, ...]:
    return find_task(frames_task.options.inputs, None, False, QUIET)


def inputs_of(trunk: Trunk, facts: tuple[RecordingFacts, ...], recipe: Recipe, cache: Path) -> Inputs:
    """What lies below the last blocks of the trunk, of each recording."""
    below = Extractor(trunk_below(trunk), cache / "trunks", "cpu")
    return prepare_inputs(see_task(facts, below, recipe, FeatureCache(cache / "features"), QUIET), recipe)


@pytest.fixture(scope="module")
def inputs(facts: tuple[RecordingFacts, ...], recipe: Recipe, tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    return inputs_of(load_trunk("random-tiny"), facts, recipe, tmp_path_factory.mktemp("cache"))


def changed(before: Trunk, after: Trunk) -> set[str]:
    """The names of the weights that differ."""
    pairs = zip(before.state_dict().items(), after.state_dict().values(), strict=True)
    return {name for (name, old), new in pairs if not torch.equal(old, new)}


def test_only_the_last_blocks_are_trained_and_the_loss_is_no_worse(inputs: Inputs, recipe: Recipe) -> None:
    trunk = load_trunk("random-tiny")
    tuned, how = finetune(trunk, inputs, recipe, 0, CPU)
    assert changed(trunk, tuned) == {"to_map.2.weight", "to_map.2.bias"}
    assert changed(trunk, load_trunk("random-tiny")) == set(), "the trunk that came in stays as it was"
    assert 0 < how.iterations <= recipe.most_iterations
    assert how.after < how.before
    assert not any(parameter.requires_grad for parameter in tuned.parameters())


def test_what_comes_after_the_map_is_trained_too(
    facts: tuple[RecordingFacts, ...], recipe: Recipe, tmp_path: Path
) -> None:
    generator = torch.Generator().manual_seed(1)
    after = torch.nn.Sequential(torch.nn.Conv2d(16, 6, 3, stride=2), torch.nn.BatchNorm2d(6), torch.nn.ReLU())
    after[0].weight.data = torch.randn(6, 16, 3, 3, generator=generator) / 12
    tiny = load_trunk("random-tiny")
    trunk = Trunk(replace(tiny.spec, pooled_width=22), tiny.to_map, after, last_blocks=2)
    tuned, how = finetune(trunk, inputs_of(trunk, facts, recipe, tmp_path), recipe, 0, CPU)
    assert how.after < how.before
    trained = {"to_map.2.weight", "to_map.2.bias"} | {
        f"to_final.{name}" for name in ("0.weight", "0.bias", "1.weight", "1.bias")
    }
    assert changed(trunk, tuned) == trained, "batch norms keep the statistics they came with"


@pytest.mark.parametrize("name", ["efficientnet_lite0", "random-tiny"])
def test_a_trunk_split_in_two_gives_what_it_gave(name: str) -> None:
    trunk = load_trunk(name)
    below, last = trunk.split()
    size = trunk.spec.preprocessing.size_px
    pictures = torch.randn(2, 3, size, size, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        torch.testing.assert_close(last(below(pictures)), trunk(pictures)[0], rtol=0, atol=0)
        seen = trunk_below(trunk)(pictures)[0]
        torch.testing.assert_close(seen, below(pictures), rtol=0, atol=0)
    assert seen.shape[1:] == trunk_below(trunk).spec.map_shape


def test_one_seed_gives_one_trunk_and_another_another(inputs: Inputs, recipe: Recipe) -> None:
    trunk, recipe = load_trunk("random-tiny"), replace(recipe, most_iterations=10)
    first, again, other = (finetune(trunk, inputs, recipe, seed, CPU)[0].weights_hash() for seed in (3, 3, 4))
    assert first == again != other


def test_what_does_not_help_is_not_kept(inputs: Inputs, recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("offline.finetune.LEARNING_RATE", 1e3)  # every step of the blocks is far too long
    trunk = load_trunk("random-tiny")
    tuned, how = finetune(trunk, inputs, recipe, 0, CPU)
    assert (how.iterations, how.after) == (0, how.before)
    assert changed(trunk, tuned) == set()
    assert "the trunk stays as it is" in how.words


def test_frames_are_held_out_where_recordings_are_few(inputs: Inputs, recipe: Recipe) -> None:
    few = replace(inputs, recordings=inputs.recordings[:2], rows=inputs.rows[:2])
    how = finetune(load_trunk("random-tiny"), few, recipe, 0, CPU)[1]
    assert np.isfinite(how.before)
    assert how.after <= how.before


def test_it_is_kept_by_all_that_decides_it(
    facts: tuple[RecordingFacts, ...], recipe: Recipe, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    recipe = replace(recipe, most_iterations=5)

    def tune(trunk: Trunk, seed: int = 0) -> tuple[str, FineTuned]:
        tuned, how = finetune_task(facts, Extractor(trunk, tmp_path, "cpu"), recipe, seed, tmp_path, QUIET)
        return tuned.weights_hash(), how

    def kept() -> set[Path]:
        return set((tmp_path / "runs").rglob("*.pt"))

    trunk = load_trunk("random-tiny")
    first = tune(trunk)
    [path] = kept()
    written = path.stat().st_mtime_ns
    assert tune(trunk) == first
    assert path.stat().st_mtime_ns == written, "it was read"
    tune(trunk, seed=1)
    other = copy.deepcopy(trunk)
    other.to_map.get_parameter("2.bias").data += 0.1  # above what the features below tell
    tune(other)
    assert len(kept()) == 3
    path.write_bytes(path.read_bytes()[:100])
    assert tune(trunk) == first
    assert "fine-tuning starts anew" in caplog.text


@pytest.fixture(scope="module")
def tuned_task(frames_task: Learned, tmp_path_factory: pytest.TempPathFactory) -> Learned:
    """Learned with a fine-tuned trunk and two looks, beside the caches of the trunk as it came."""
    work = tmp_path_factory.mktemp("tuned")
    recipe = RECIPE.replace("most_iterations = 6", "most_iterations = 40").replace("looks = 1", "looks = 2")
    return learn(Path(frames_task.options.inputs[0]), work, recipe, finetune=True, cache=frames_task.options.cache)


def test_the_bundle_holds_the_tuned_trunk(tuned_task: Learned, frames_task: Learned) -> None:
    [kept] = (tuned_task.options.cache / "runs").rglob("trunk-*.pt")
    plain, tuned = load_trunk("random-tiny"), load_trunk("random-tiny", kept)
    exported = OnnxTrunk(tuned_task.folder / "trunk.onnx", "cpu")
    assert exported.metadata["weights"] == tuned.weights_hash() != plain.weights_hash()
    pictures = torch.randn(3, 3, 64, 64, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        maps, pooled = tuned(pictures)
        assert not torch.allclose(plain(pictures)[1], pooled, atol=1e-3)
    got = exported.forward(pictures.numpy())
    np.testing.assert_allclose(got.maps, maps.numpy(), atol=1e-4)
    np.testing.assert_allclose(got.pooled, pooled.numpy(), atol=1e-4)
    how = FineTuned(**tuned_task.bundle.facts["training"]["finetuned"])
    assert how.after < how.before
    assert how.words in tuned_task.said
    assert "finetuned" not in frames_task.bundle.facts["training"]


def test_everything_learned_is_of_the_tuned_trunk(
    tuned_task: Learned, facts: tuple[RecordingFacts, ...], frames_task: Learned
) -> None:
    """Both looks of every demonstration are what the bundle's own trunk sees, not what was cached of another."""
    [kept] = (tuned_task.options.cache / "runs").rglob("trunk-*.pt")
    fresh = Extractor(load_trunk("random-tiny", kept), tuned_task.folder.parent / "fresh", "cpu")
    seen = tuned_task.bundle.arrays("demonstrations.npz")
    plain = frames_task.bundle.arrays("demonstrations.npz")
    cache = FeatureCache(tuned_task.folder.parent / "fresh")
    for number, fact in enumerate(facts):
        one = cache.features(fact.recording, fresh, 5.0)
        twice = cache.look_twice(one, fact.recording, fresh, RegionSettings())
        np.testing.assert_allclose(seen[f"pooled_{number}"], twice.pooled, atol=2e-3)
        assert not np.allclose(plain[f"pooled_{number}"], one.pooled, atol=2e-3)


def test_the_same_command_again_trains_nothing_anew(tuned_task: Learned) -> None:
    files = dict(tuned_task.bundle.facts["files"])
    again = learn_again(replace(tuned_task.options, out=tuned_task.folder.parent / "again"))
    assert again.bundle.facts["files"] == files
    assert "fine-tuning:" not in again.said


def test_a_tuned_trunk_can_be_given_to_another_learning(tuned_task: Learned) -> None:
    [kept] = (tuned_task.options.cache / "runs").rglob("trunk-*.pt")
    options = replace(tuned_task.options, finetune=False, backbone_weights=kept)
    again = learn_again(replace(options, out=tuned_task.folder.parent / "given"))
    assert again.bundle.facts["files"] == tuned_task.bundle.facts["files"]
    assert f"kept in {kept}" in tuned_task.said


def test_a_tuned_trunk_is_quantised_and_mixed_as_any_other(
    frames_task: Learned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trunk = deep()
    monkeypatch.setitem(backbones._REGISTRY, "random-tiny", lambda weights, layout: trunk)
    task = learn(Path(frames_task.options.inputs[0]), tmp_path, finetune=True, quantize=True)
    assert {"trunk.onnx", "trunk.mixed.onnx", "trunk.int8.onnx"} <= set(task.bundle.facts["files"])
    assert min(parity["cosine"] for parity in task.bundle.facts["parity"].values()) >= 0.9999
    for name in ("trunk.onnx", "trunk.mixed.onnx", "trunk.int8.onnx"):
        assert OnnxTrunk(task.folder / name, "cpu").metadata["weights"] != trunk.weights_hash(), "as it was tuned"


@pytest.mark.parametrize("device", ["auto", "cpu"])
def test_without_a_gpu_it_is_refused_before_anything_is_read(
    device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if device == "auto" and torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    words = [
        word for word in arguments(tmp_path / "nowhere", tmp_path, "--finetune") if word not in ("--device", "cpu")
    ]
    said = said_on_failure([*words, "--device", device], capsys)
    assert said.startswith("--finetune needs a CUDA device")
    assert list(tmp_path.iterdir()) == []


def test_it_is_for_pictures_and_for_one_process(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("offline.train.require_gpu", lambda device: None)
    folder = write_features(tmp_path / "features")
    said = said_on_failure(arguments(folder, tmp_path, "--finetune", "--rate", "4"), capsys)
    assert "--finetune is for networks that see pictures" in said
    said = said_on_failure(arguments(folder, tmp_path, "--finetune", "--ray", "auto"), capsys)
    assert "--finetune works in one process" in said

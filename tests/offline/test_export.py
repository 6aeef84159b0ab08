"""Export: torch and ONNX agree before anything is written, and the files say what they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console

from guide.bundle import read_bundle
from guide.errors import GuideError
from guide.perceive.embedder import Floats, OnnxHead, OnnxTrunk, TrunkOutput
from offline import export
from offline.backbones import load_trunk
from offline.config import resolve
from offline.extraction import Extractor
from offline.onnx_export import Parity, export_module
from offline.train import learn_task
from tests.tiny import Learned, altered


def test_parity_is_the_worst_row_and_the_largest_difference() -> None:
    one = np.array([[1.0, 0.0], [1.0, 1.0]], np.float32)
    two = np.array([[1.0, 0.0], [1.0, 0.0]], np.float32)
    parity = Parity.of(one, two)
    assert parity.cosine == pytest.approx(np.sqrt(0.5))
    assert parity.largest_difference == 1.0


def test_the_trunk_in_the_bundle_gives_what_torch_gives(frames_task: Learned) -> None:
    trunk, exported = load_trunk("random-tiny"), OnnxTrunk(frames_task.bundle.path("trunk.onnx"), "cpu", 1)
    for count in (1, 3):
        pictures = np.random.default_rng(count).normal(size=(count, 3, 64, 64)).astype(np.float32)
        with torch.inference_mode():
            maps, pooled = trunk(torch.from_numpy(pictures))
        got = exported.forward(pictures)
        np.testing.assert_allclose(got.maps, maps.numpy(), atol=1e-4)
        np.testing.assert_allclose(got.pooled, pooled.numpy(), atol=1e-5)


def test_the_files_say_what_they_are(frames_task: Learned, maps_task: Learned, features_task: Learned) -> None:
    trunk = OnnxTrunk(frames_task.bundle.path("trunk.onnx"), "cpu", 1).metadata
    assert trunk["backbone"] == "random-tiny"
    assert trunk["size_px"] == "64"
    assert trunk["weights"] == load_trunk("random-tiny").weights_hash()
    for task in (frames_task, maps_task, features_task):
        head, width = OnnxHead(task.bundle.path("head.onnx"), "cpu", 1), task.bundle.facts["input"]["width"]
        assert head.metadata["kind"] == task.bundle.facts["head"]["kind"] == "linear"
        embedded = head.embed(np.zeros((2, 2 * width), np.float32))
        assert embedded.shape == (2, task.bundle.facts["head"]["embedding_width"])
    assert features_task.bundle.facts["input"] == {"kind": "features", "backbone": None, "width": 6}
    assert frames_task.bundle.facts["input"]["kind"] == "frames"


@pytest.mark.parametrize("name", ["head.onnx", "trunk.onnx"])
def test_no_folder_of_this_machine_is_in_the_files(frames_task: Learned, name: str) -> None:
    content = frames_task.bundle.path(name).read_bytes()
    assert str(Path(export.__file__).parent).encode() not in content
    assert b".py" not in content


def test_an_exported_module_takes_any_batch(tmp_path: Path) -> None:
    module = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(6, 4))
    path = export_module(module, torch.zeros(2, 2, 3), tmp_path / "new" / "m.onnx", ("embedding",), {"kind": "toy"})
    assert [one.name for one in path.parent.iterdir()] == ["m.onnx"]
    head = OnnxHead(path, "cpu", 1)
    assert head.metadata == {"kind": "toy"}
    for count in (1, 2, 5):
        rows = torch.randn(count, 2, 3, generator=torch.Generator().manual_seed(count))
        np.testing.assert_allclose(head.embed(rows.numpy()), module(rows).detach().numpy(), atol=1e-6)


def test_without_parity_nothing_is_written_and_the_old_bundle_stays(
    features_task: Learned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = replace(features_task.options, out=tmp_path / "task")
    old = altered(features_task.bundle, tmp_path / "task").facts
    embed = OnnxHead.embed
    monkeypatch.setattr(OnnxHead, "embed", lambda self, rows: embed(self, rows) + 1.0)
    with pytest.raises(GuideError, match=r"head\.onnx should give what torch gives .* nothing was written"):
        learn_task(options, resolve("default", options.config, {}), tmp_path / "task", Console(quiet=True))
    assert [path.name for path in tmp_path.iterdir()] == ["task"]
    assert read_bundle(tmp_path / "task").facts == old


def test_a_network_that_gives_no_numbers_has_no_parity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = np.full((1, 2), np.nan, np.float32)
    with pytest.raises(GuideError, match="reaches nan"):
        export._require(Parity.of(np.ones((1, 2), np.float32), nothing), tmp_path / "head.onnx")
    forward = OnnxTrunk.forward

    def lose_pooled(self: OnnxTrunk, pictures: Floats) -> TrunkOutput:
        given = forward(self, pictures)
        return replace(given, pooled=np.full_like(given.pooled, np.nan))

    monkeypatch.setattr(OnnxTrunk, "forward", lose_pooled)
    with pytest.raises(GuideError, match="reaches nan"):
        export._write_trunk(Extractor(load_trunk("random-tiny"), tmp_path, "cpu"), tmp_path / "trunk.onnx")


def test_demonstrations_can_be_relearned_from(frames_task: Learned) -> None:
    kept = frames_task.bundle.arrays("demonstrations.npz")
    for number in range(4):
        frames = len(kept[f"times_{number}"])
        assert kept[f"pooled_{number}"].shape == (frames, load_trunk("random-tiny").spec.pooled_width)
        assert kept[f"pooled_{number}"].dtype == kept[f"embeddings_{number}"].dtype == np.float16
        assert kept[f"labels_{number}"].shape == (frames,)

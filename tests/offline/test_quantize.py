"""An 8-bit trunk: in the bundle, in the manifest, and run by the live side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from guide.bundle import read_bundle
from guide.commands import check
from guide.errors import BundleError, InputError
from guide.networks import has_networks, start_networks
from guide.perceive.embedder import OnnxTrunk
from offline.backbones import Trunk, load_trunk
from offline.covariance_pooling import CovariancePooling
from offline.onnx_export import export_trunk
from offline.quantize import Agreement, quantize
from tests.tiny import Learned, learn_again


@pytest.fixture(scope="module", params=["frames_task", "maps_task"])
def small(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Learned:
    """A shared task learned again from its caches, with an 8-bit trunk."""
    task: Learned = request.getfixturevalue(request.param)
    out = tmp_path_factory.mktemp("small") / "task"
    return learn_again(replace(task.options, out=out, quantize=True))


def test_the_bundle_holds_both_and_says_how_far_they_agree(small: Learned) -> None:
    files, facts = small.bundle.facts["files"], small.bundle.facts["quantized"]
    assert {"trunk.int8.onnx", "trunk.onnx", "head.onnx"} <= set(files)
    assert "head.int8.onnx" not in files, "one product of matrices stays whole"
    assert sorted(facts) == ["cosine", "frames", "least_cosine", "recordings", "same_labels"]
    assert facts["cosine"] > 0.98
    assert facts["same_labels"] > 0.9
    assert facts["frames"] > 50
    assert "8-bit network, on" in small.said
    assert f"{100 * facts['same_labels']:.1f} % of labels the same" in small.said


def test_the_live_side_runs_them(small: Learned, capsys: pytest.CaptureFixture[str]) -> None:
    check.main(check.CheckOptions(small.folder, "cpu", "int8"))
    assert "is sound" in capsys.readouterr().out
    networks = start_networks(small.bundle, "cpu", 1, "int8")
    assert networks.head is not None
    assert networks.head.path.name == "head.onnx"
    assert networks.trunk is not None
    assert networks.trunk.path.name == "trunk.int8.onnx"
    full = OnnxTrunk(small.bundle.path("trunk.onnx"), "cpu", 1)
    assert networks.trunk.metadata == full.metadata, "it says how pictures are prepared"


@pytest.mark.parametrize("name", ["frames_task", "features_task"])
def test_a_bundle_without_it_says_what_to_do(name: str, request: pytest.FixtureRequest) -> None:
    task: Learned = request.getfixturevalue(name)
    assert (has_networks(task.bundle, "float"), has_networks(task.bundle, "int8")) == (True, False)
    with pytest.raises(BundleError, match="has no 8-bit network: use --precision auto, or learn it again from pict"):
        start_networks(read_bundle(task.folder), precision="int8")


def test_of_features_there_is_nothing_to_make_smaller(features_task: Learned, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--quantize is for networks that see pictures, but features were given"):
        learn_again(replace(features_task.options, out=tmp_path / "task", quantize=True))
    assert not (tmp_path / "task").exists()


@pytest.mark.parametrize(("times", "words"), [((30.0, 10.0), "3.0 times as fast"), ((10.0, 15.0), "1.5 times SLOWER")])
def test_the_speed_is_told_honestly(times: tuple[float, float], words: str) -> None:
    assert words in Agreement(1, 1, 1.0, 1.0, 1.0, *times).speed


def test_what_goes_together_keeps_all_digits(tmp_path: Path) -> None:
    tiny, together = load_trunk("random-tiny"), CovariancePooling(16, directions=4)
    spec = replace(tiny.spec, pooled_width=16 + together.width, mean_width=16)
    trunk = export_trunk(Trunk(spec, tiny.to_map, None, together), tmp_path / "trunk.onnx")
    picture = np.random.default_rng(0).normal(size=(1, 3, 64, 64)).astype(np.float32)
    nodes = onnx.load(quantize(trunk, [picture], exact_from="MatMul")).graph.node
    products = {name for node in nodes if node.op_type == "MatMul" for name in node.output}
    rounded = {name for node in nodes if node.op_type == "QuantizeLinear" for name in node.input}
    assert products
    assert rounded
    assert not products & rounded


def test_nothing_is_left_aside(small: Learned) -> None:
    on_disk = {path.relative_to(small.folder).as_posix() for path in Path(small.folder).rglob("*") if path.is_file()}
    assert on_disk == {*small.bundle.facts["files"], "manifest.json"}

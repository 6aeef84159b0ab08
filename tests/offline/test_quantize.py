"""8-bit networks: in the bundle, in the manifest, and run by the live side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from guide.bundle import read_bundle
from guide.commands import check
from guide.errors import BundleError
from guide.perceive.embedder import OnnxTrunk
from guide.session import start_networks
from offline.backbones import Trunk, load_trunk
from offline.covariance_pooling import CovariancePooling
from offline.onnx_export import export_trunk
from offline.quantize import Agreement, quantize
from tests.tiny import Learned, learn_again


@pytest.fixture(scope="module", params=["frames_task", "maps_task", "features_task"])
def small(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Learned:
    """A shared task learned again from its caches, with 8-bit networks."""
    task: Learned = request.getfixturevalue(request.param)
    out = tmp_path_factory.mktemp("small") / "task"
    return learn_again(replace(task.options, out=out, quantize=True))


def test_the_bundle_holds_both_and_says_how_far_they_agree(small: Learned) -> None:
    files, facts = small.bundle.facts["files"], small.bundle.facts["quantized"]
    assert "head.int8.onnx" in files
    assert ("trunk.int8.onnx" in files) == ("trunk.onnx" in files)
    assert sorted(facts) == ["cosine", "frames", "least_cosine", "recordings", "same_labels"]
    assert facts["cosine"] > 0.98
    assert facts["same_labels"] > 0.9
    assert facts["frames"] > 50
    assert "8-bit networks, on" in small.said
    assert f"{100 * facts['same_labels']:.1f} % of labels the same" in small.said


def test_the_live_side_runs_them(small: Learned, capsys: pytest.CaptureFixture[str]) -> None:
    check.main(check.CheckOptions(small.folder, "cpu", "int8"))
    assert "is sound" in capsys.readouterr().out
    networks = start_networks(small.bundle, "cpu", 1, "int8")
    assert networks.head.path.name == "head.int8.onnx"
    if networks.trunk is not None:
        full = OnnxTrunk(small.bundle.path("trunk.onnx"), "cpu", 1)
        assert networks.trunk.metadata == full.metadata, "it says how pictures are prepared"


def test_a_bundle_without_them_says_what_to_do(features_task: Learned) -> None:
    with pytest.raises(BundleError, match="has no 8-bit networks: use --precision auto, or learn it again"):
        start_networks(read_bundle(features_task.folder), precision="int8")


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

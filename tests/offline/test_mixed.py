"""Mixed precision: what is halved, what stays whole, and when the live side runs it."""

from __future__ import annotations

import platform
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from guide import check
from guide.errors import BundleError
from guide.perceive import embedder
from guide.session import start_networks
from offline import backbones, export
from offline.backbones import Trunk, load_trunk
from offline.mixed import mix
from offline.onnx_trunk import export_trunk
from offline.together import Together
from tests.tiny import Learned, learn_again


def deep(together: Together | None = None, scale: float = 1.0) -> Trunk:
    """A trunk of convolutions over all channels, and over one each with and without a stride and of two sizes."""
    tiny = load_trunk("random-tiny")
    generator = torch.Generator().manual_seed(1)
    more = [
        nn.Conv2d(16, 16, 1), nn.ReLU6(),
        nn.Conv2d(16, 16, 5, padding=2, groups=16), nn.ReLU6(),
        nn.Conv2d(16, 16, 3, padding=1, groups=16), nn.ReLU6(),
        nn.Conv2d(16, 16, 3, padding=1, stride=2, groups=16), nn.ReLU6(),
        nn.ConvTranspose2d(16, 16, 2, stride=2),
    ]  # fmt: skip
    for parameter in (each for part in more for each in part.parameters()):
        parameter.data = scale * torch.randn(parameter.shape, generator=generator) / parameter[0].numel() ** 0.5
    width = 16 + (together.width if together else 0)
    return Trunk(
        replace(tiny.spec, pooled_width=width, mean_width=16), nn.Sequential(tiny.to_map, *more), None, together
    )


@pytest.fixture(scope="module")
def mixed(frames_task: Learned, tmp_path_factory: pytest.TempPathFactory) -> Learned:
    """A task learned with a trunk that gains from it."""
    trunk = deep()
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(backbones._REGISTRY, "random-tiny", lambda weights, layout: trunk)
        folder = tmp_path_factory.mktemp("mixed")
        return learn_again(replace(frames_task.options, out=folder / "task", cache=folder / "cache"))


def test_only_slow_convolutions_are_halved(tmp_path: Path) -> None:
    whole = export_trunk(deep(Together(16, directions=4)), tmp_path / "trunk.onnx")
    variant = mix(whole)
    assert variant is not None
    assert variant.name == "trunk.mixed.onnx"
    model = onnx.load(variant)
    onnx.checker.check_model(model, full_check=True)
    kinds = {each.name: each.data_type for each in model.graph.initializer}
    convolutions = [node for node in model.graph.node if node.op_type == "Conv"]
    full, half = TensorProto.FLOAT, TensorProto.FLOAT16
    assert [kinds[node.input[1]] for node in convolutions] == [full, full, full, half, full, half]
    assert [each.type.tensor_type.elem_type for each in model.graph.output] == [full, full]
    facts = [{prop.key: prop.value for prop in onnx.load(path).metadata_props} for path in (whole, variant)]
    assert facts[0] == facts[1], "it says how pictures are prepared"


def test_it_gives_nearly_the_same(tmp_path: Path) -> None:
    whole = export_trunk(deep(Together(16, directions=4)), tmp_path / "trunk.onnx")
    pictures = np.random.default_rng(0).uniform(-1, 1, (3, 3, 64, 64)).astype(np.float32)
    one, two = (embedder.OnnxTrunk(path, "cpu", 1).forward(pictures) for path in (whole, mix(whole) or ""))
    for a, b in ((one.maps, two.maps), (one.pooled, two.pooled)):
        assert a.dtype == b.dtype == np.float32
        assert 0 < np.abs(a - b).max() < 0.01 * np.abs(a).max(), "half precision differs, but not by much"


def test_what_is_wanted_both_ways_is_there_both_ways(tmp_path: Path) -> None:
    """A constant and a value that go into halved and other nodes, and a halved value that is given out."""
    weight = numpy_helper.from_array(np.array([0.1, 0.7], np.float32).reshape(2, 1, 1, 1), "weight")
    nodes = [
        helper.make_node("Mul", ["inputs", "weight"], ["a"]),
        helper.make_node("Conv", ["a", "weight"], ["b"], group=2),
        helper.make_node("Relu", ["b"], ["c"]),
        helper.make_node("Add", ["b", "a"], ["d"]),
    ]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 2, 3, 3]) for name in ("inputs", "c", "d")]
    graph = helper.make_graph(nodes, "both", values[:1], values[1:], [weight])
    path = tmp_path / "trunk.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), path)
    variant = mix(path)
    assert variant is not None
    onnx.checker.check_model(onnx.load(variant), full_check=True)
    given = np.random.default_rng(0).normal(size=(2, 2, 3, 3)).astype(np.float32)
    results = [ort.InferenceSession(each).run(None, {"inputs": given}) for each in (path, variant)]
    for one, two in zip(*results, strict=True):
        np.testing.assert_allclose(one, two, rtol=0.01, atol=0.002)


def test_a_network_without_such_convolutions_has_no_variant(frames_task: Learned, features_task: Learned) -> None:
    for task in (frames_task, features_task):
        assert "trunk.mixed.onnx" not in task.bundle.facts["files"]
        assert start_networks(task.bundle, "cpu", 1).precision == "float"
        with pytest.raises(BundleError, match=r"has no network in mixed precision, .*: use --precision auto"):
            start_networks(task.bundle, "cpu", 1, "mixed")


def test_one_whose_numbers_are_too_large_has_none_either(tmp_path: Path) -> None:
    parities = export._write_trunk(deep(scale=1e6), tmp_path / "trunk.onnx")
    assert list(parities) == ["trunk.onnx"]
    assert [path.name for path in tmp_path.iterdir()] == ["trunk.onnx"]


@pytest.mark.parametrize("is_quick", [True, False])
def test_auto_takes_it_where_that_is_quick(mixed: Learned, monkeypatch: pytest.MonkeyPatch, is_quick: bool) -> None:
    monkeypatch.setattr(embedder, "_has_half", lambda: is_quick)
    networks = start_networks(mixed.bundle, "cpu", 1)
    assert networks.precision == ("mixed" if is_quick else "float")
    assert networks.trunk is not None
    assert networks.trunk.path.name == ("trunk.mixed.onnx" if is_quick else "trunk.onnx")
    assert networks.head.path.name == "head.onnx"
    assert mixed.bundle.facts["parity"]["trunk.mixed.onnx"]["cosine"] > 0.9999
    assert "trunk.mixed.onnx: cosine " in mixed.said


def test_it_runs_anywhere_if_asked_for(mixed: Learned, capsys: pytest.CaptureFixture[str]) -> None:
    check.main(check.CheckOptions(mixed.folder, "cpu", "mixed"))
    assert "in mixed precision, " in capsys.readouterr().out
    assert start_networks(mixed.bundle, "cpu", 1, "float").precision == "float"


@pytest.mark.parametrize(
    ("machine", "facts", "expected"),
    [
        ("x86_64", "flags : sse avx asimdhp", False),
        ("aarch64", "Features : fp asimd asimdhp cpuid", True),
        ("aarch64", "Features : fp asimd asimddp", False),
    ],
)
def test_the_processor_is_asked(monkeypatch: pytest.MonkeyPatch, machine: str, facts: str, expected: bool) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(Path, "read_text", lambda self, errors: facts)
    assert embedder._has_half.__wrapped__() is expected

"""Mixed precision: what is halved, and what stays whole."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, numpy_helper

from guide.perceive.embedder import OnnxTrunk
from offline import export
from offline.covariance_pooling import CovariancePooling
from offline.extraction import Extractor
from offline.mixed import mix
from offline.onnx_export import export_trunk
from tests.deep import deep
from tests.tiny import Learned


def test_only_slow_convolutions_are_halved(tmp_path: Path) -> None:
    whole = export_trunk(deep(CovariancePooling(16, directions=4)), tmp_path / "trunk.onnx")
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
    whole = export_trunk(deep(CovariancePooling(16, directions=4)), tmp_path / "trunk.onnx")
    pictures = np.random.default_rng(0).uniform(-1, 1, (3, 3, 64, 64)).astype(np.float32)
    one, two = (OnnxTrunk(path, "cpu", 1).forward(pictures) for path in (whole, mix(whole) or ""))
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


def test_one_whose_numbers_are_too_large_has_none_either(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        parities = export._write_trunk(Extractor(deep(scale=1e6), tmp_path, "cpu"), tmp_path / "trunk.onnx")
    assert list(parities) == ["trunk.onnx"]
    assert [path.name for path in tmp_path.glob("trunk*")] == ["trunk.onnx"]
    assert "trunk.mixed.onnx is left out" in caplog.text


def test_learning_says_how_closely_it_agrees(mixed_task: Learned) -> None:
    assert mixed_task.bundle.facts["parity"]["trunk.mixed.onnx"]["cosine"] > export.LEAST_COSINE
    assert "trunk.mixed.onnx: cosine " in mixed_task.said

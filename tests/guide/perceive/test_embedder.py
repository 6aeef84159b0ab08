"""The exported networks: which provider runs, and a clear sentence for a damaged file or other features."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, save

from guide.benchmarks.memory import held_mb
from guide.errors import BundleError, InputError
from guide.perceive import embedder
from guide.perceive.embedder import CPU, CUDA, OnnxHead, OnnxModel, OnnxTrunk


def write_model(path: Path, outputs: dict[str, int], width: int = 4) -> Path:
    """A network of (N, width) whose output `name` is its input times a number."""
    nodes, weights = [], []
    for name, factor in outputs.items():
        weights.append(helper.make_tensor(f"{name}_factor", TensorProto.FLOAT, [1], [float(factor)]))
        nodes.append(helper.make_node("Mul", ["inputs", f"{name}_factor"], [name]))
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", width]) for name in outputs]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("inputs", TensorProto.FLOAT, ["n", width])], infos, weights
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(model, {"backbone": "toy"})
    save(model, path)
    return path


def test_trunk_and_head_run_any_batch(tmp_path: Path) -> None:
    trunk = OnnxTrunk(write_model(tmp_path / "trunk.onnx", {"map": 2, "pooled": 3}), "cpu", threads=1)
    head = OnnxHead(write_model(tmp_path / "head.onnx", {"embedding": 5}), "cpu")
    for count in (1, 3):
        inputs = np.arange(count * 4, dtype=np.float32).reshape(count, 4)
        output = trunk.forward(inputs)
        np.testing.assert_array_equal(output.maps, inputs * 2)
        np.testing.assert_array_equal(output.pooled, inputs * 3)
        np.testing.assert_array_equal(trunk.pool(inputs), inputs * 3)
        np.testing.assert_array_equal(head.embed(inputs), inputs * 5)
    assert trunk.provider == CPU
    assert trunk.metadata == {"backbone": "toy"}
    assert trunk.input_shape == ("n", 4)


def test_features_of_another_width_are_refused(tmp_path: Path) -> None:
    head = OnnxHead(write_model(tmp_path / "head.onnx", {"embedding": 5}), "cpu")
    with pytest.raises(BundleError, match="made for other features"):
        head.embed(np.zeros((1, 7), np.float32))


def test_a_head_takes_more_rows_than_one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedder, "MOST_ROWS", 3)
    head = OnnxHead(write_model(tmp_path / "head.onnx", {"embedding": 5}), "cpu")
    rows = np.arange(28, dtype=np.float32).reshape(7, 4)
    np.testing.assert_array_equal(head.embed(rows), rows * 5)
    assert head.embed(rows[:0]).shape == (0, 4)


@pytest.mark.parametrize("is_folded", [True, False])
def test_a_network_that_swells_is_refused(tmp_path: Path, is_folded: bool) -> None:
    """Two gigabytes out of a few bytes: of constants alone, and by what is put in."""
    shape = helper.make_tensor("shape", TensorProto.INT64, [1], [550_000_000])
    first = (
        helper.make_node("ConstantOfShape", ["shape"], ["huge"])
        if is_folded
        else helper.make_node("Expand", ["one", "shape"], ["huge"])
    )
    one = helper.make_node("ReduceMax", ["inputs"], ["one"], keepdims=0)
    rest = helper.make_node("ReduceMax", ["huge"], ["least"], keepdims=0)
    last = helper.make_node("Add", ["inputs", "least"], ["embedding"])
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 4]) for name in ("inputs", "embedding")]
    graph = helper.make_graph([one, first, rest, last], "g", infos[:1], infos[1:], [shape])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "head.onnx")
    with pytest.raises(BundleError):
        OnnxHead(tmp_path / "head.onnx", "cpu").embed(np.ones((1, 4), np.float32))


@pytest.mark.parametrize("place", ["../outside.bin", "{}/outside.bin", "link.bin"])
def test_a_network_whose_weights_lie_outside_its_folder_is_refused(tmp_path: Path, place: str) -> None:
    (tmp_path / "outside.bin").write_bytes(np.arange(4, dtype=np.float32).tobytes())
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle" / "link.bin").symlink_to("../outside.bin")
    weights = TensorProto(name="secret", data_type=TensorProto.FLOAT, dims=[4], data_location=TensorProto.EXTERNAL)
    weights.external_data.add(key="location", value=place.format(tmp_path))
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 4]) for name in ("inputs", "embedding")]
    node = helper.make_node("Add", ["inputs", "secret"], ["embedding"])
    graph = helper.make_graph([node], "g", infos[:1], infos[1:], [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (tmp_path / "bundle" / "head.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(BundleError, match="cannot be read as a network"):
        OnnxHead(tmp_path / "bundle" / "head.onnx", "cpu")


def test_a_trunk_without_its_outputs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="has no pooled"):
        OnnxTrunk(write_model(tmp_path / "trunk.onnx", {"map": 2}), "cpu")


@pytest.mark.parametrize("content", [b"", b"not a network", bytes(1000)])
def test_a_damaged_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "trunk.onnx"
    path.write_bytes(content)
    with pytest.raises(BundleError, match="cannot be read as a network"):
        OnnxModel(path, "cpu")


def test_an_unknown_device_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="auto, cpu, cuda"):
        OnnxModel(tmp_path / "trunk.onnx", "tpu")  # type: ignore[arg-type]


def test_a_wanted_accelerator_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedder, "_lack_of_cuda", lambda: "this machine has no CUDA driver")
    path = write_model(tmp_path / "head.onnx", {"embedding": 5})
    asked, automatic = OnnxHead(path, "cuda"), OnnxHead(path, "auto")
    assert asked.provider == automatic.provider == CPU
    assert asked.reason.endswith("running on the CPU.")
    assert automatic.reason == ""


def test_an_accelerator_that_fails_to_start_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_model(tmp_path / "head.onnx", {"embedding": 5})
    start = embedder._start
    monkeypatch.setattr(embedder, "_choose_providers", lambda _: ([CUDA, CPU], ""))
    monkeypatch.setattr(embedder, "_start", lambda path, _, threads: start(path, [CPU], threads))
    head = OnnxHead(path, "cuda")
    assert head.provider == CPU
    assert "could not start: head.onnx runs on CPUExecutionProvider" in head.reason


@pytest.mark.parametrize(
    ("system", "machine", "facts", "expected"),
    [
        ("linux", "x86_64", "flags : sse avx asimdhp", False),
        ("darwin", "aarch64", "Features : fp asimd asimdhp", False),
        ("linux", "aarch64", "Features : fp asimd asimdhp cpuid", True),
        ("linux", "aarch64", "Features : fp asimd asimddp", False),
    ],
)
def test_the_processor_is_asked(
    monkeypatch: pytest.MonkeyPatch, system: str, machine: str, facts: str, expected: bool
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(Path, "read_text", lambda self, errors: facts)
    assert embedder._has_half.__wrapped__() is expected


def test_a_processor_that_does_not_say_is_not_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    monkeypatch.setattr(sys, "platform", "linux")

    def refuse(self: Path, errors: str) -> str:
        raise PermissionError

    monkeypatch.setattr(Path, "read_text", refuse)
    assert embedder._has_half.__wrapped__() is False


def test_only_processors_are_quick_in_half(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedder, "_has_half", lambda: True)
    assert embedder.is_quick_in_half("cpu")
    monkeypatch.setattr(embedder, "_choose_providers", lambda _: ([CUDA, CPU], ""))
    assert not embedder.is_quick_in_half("auto")


def test_memory_of_large_runs_is_given_back(tmp_path: Path) -> None:
    """To the system, by any network: all share one memory."""
    large = OnnxModel(write_model(tmp_path / "large.onnx", {"a": 2}), "cpu", threads=1)
    small = OnnxModel(write_model(tmp_path / "small.onnx", {"a": 3}), "cpu", threads=1)
    rows = np.ones((4_000_000, 4), np.float32)
    small.run(rows[:1], ["a"])
    before_mb = held_mb()
    assert large.run(rows, ["a"])[0][-1, -1] == 2
    grown_mb = held_mb() - before_mb
    small.shrink()
    assert grown_mb > 50
    assert held_mb() - before_mb < grown_mb / 2

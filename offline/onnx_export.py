"""ONNX export of torch modules: dynamic batch, metadata, parity with torch; written aside and renamed."""

from __future__ import annotations

import contextlib
import copy
import io
import logging
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import ModelProto, helper, numpy_helper
from onnx.parser import parse_graph
from torch import Tensor, nn

from guide.errors import OutputError
from guide.perceive.embedder import Floats
from guide.teach.embedding import LinearEmbedder
from guide.whole_file import whole_file
from offline.backbones import Trunk

INPUT_NAME = "inputs"
OUTPUT_NAMES = ("map", "pooled")
"""Of a trunk."""
LARGEST_BATCH = 4096
LINEAR_HEAD = """
head (float[n, {features}] inputs) => (float[n, {embedding}] embedding) {{
    centred = Sub (inputs, mean)
    rows = Mul (centred, scale)
    inside = MatMul (rows, directions)
    squares = Mul (rows, rows)
    length = ReduceSum (squares, along)
    squares_inside = Mul (inside, inside)
    length_inside = ReduceSum (squares_inside, along)
    rest = Sub (length, length_inside)
    rest_or_nothing = Max (rest, nothing)
    outside = Sqrt (rest_or_nothing)
    embedding = Concat <axis = 1> (inside, outside)
}}
"""
"""The live side's embedder: features along directions, and the length of what lies outside them."""
OPSET, IR_VERSION = 20, 10  # what torch exports too
TRUNK_VERSION = 2  # raised whenever the same trunk is exported otherwise: files kept between runs are made anew


@dataclass(frozen=True, slots=True)
class Parity:
    """How closely an exported network agrees with torch.

    >>> Parity.of(np.ones((1, 2), np.float32), np.ones((1, 2), np.float32)).cosine > 0.9999
    True
    """

    cosine: float
    largest_difference: float

    @staticmethod
    def of(expected: Floats, got: Floats) -> Parity:
        """The smallest cosine similarity of any row and the largest absolute difference of any value."""
        one, two = expected.reshape(len(expected), -1), got.reshape(len(got), -1)
        norms = np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1)
        cosines = (one * two).sum(1) / np.maximum(norms, 1e-12)
        return Parity(float(cosines.min()), float(np.abs(one - two).max()))


def export_trunk(trunk: Trunk, path: str | Path, extra: Mapping[str, str] | None = None) -> Path:
    """Writes `trunk` to `path`: `inputs` (N, 3, S, S) -> `map` (N, C, H, W), `pooled` (N, P), any N and S.

    The metadata holds the preprocessing, the backbone's name and the hash of its weights, and what `extra` adds.
    Parity is the caller's to check. Raises OutputError when the file cannot be written.
    """
    size = trunk.spec.preprocessing.size_px
    example = torch.zeros(2, 3, size, size)
    metadata = trunk_metadata(trunk) | dict(extra or {})
    return export_module(copy.deepcopy(trunk), example, Path(path), OUTPUT_NAMES, metadata)


def trunk_metadata(trunk: Trunk) -> dict[str, str]:
    """What the live side must know of a trunk, as metadata of the ONNX file."""
    spec = trunk.spec
    return spec.preprocessing.to_metadata() | {
        "backbone": spec.name,
        "layout": spec.layout,
        "weights": trunk.weights_hash(),
        "map_shape": "x".join(str(length) for length in spec.map_shape),
        "pooled_width": str(spec.pooled_width),
    }


def export_embedder(embedder: LinearEmbedder, path: Path) -> Path:
    """Writes the live side's embedder to `path`: `inputs` (N, 2P) -> `embedding` (N, d + 1), any N."""
    features, directions = embedder.directions.shape
    graph = parse_graph(LINEAR_HEAD.format(features=features, embedding=directions + 1))
    values = {"mean": embedder.mean, "scale": embedder.scale, "directions": embedder.directions, "nothing": 0.0}
    constants = [numpy_helper.from_array(np.asarray(value, np.float32), name) for name, value in values.items()]
    graph.initializer.extend([*constants, numpy_helper.from_array(np.array([1], np.int64), "along")])
    opset = helper.make_opsetid("", OPSET)
    return _save(helper.make_model(graph, opset_imports=[opset], ir_version=IR_VERSION), path, {"kind": "linear"})


def export_module(
    module: nn.Module, example: Tensor, path: Path, outputs: tuple[str, ...], metadata: Mapping[str, str]
) -> Path:
    """Writes `module` to `path`: `inputs` like `example` (N, ...) to the named outputs, any N up to 4096.

    Pictures (N, 3, S, S) may be of any size.

    Parity is the caller's to check. Raises OutputError when the file cannot be written.
    """
    shape = {0: torch.export.Dim("n", min=1, max=LARGEST_BATCH)}
    if example.ndim == 4:
        shape |= {2: torch.export.Dim.DYNAMIC, 3: torch.export.Dim.DYNAMIC}
    with _quiet_exporter():
        program = torch.onnx.export(
            module.cpu().eval(), (example,), dynamo=True, verbose=False, input_names=[INPUT_NAME],
            output_names=list(outputs), dynamic_shapes=(shape,),
        )  # fmt: skip
    assert program is not None, "the exporter gives a program unless a path is named"
    model = program.model_proto
    _strip_origin(model)
    return _save(model, path, metadata)


def _save(model: ModelProto, path: Path, metadata: Mapping[str, str]) -> Path:
    helper.set_model_props(model, dict(metadata))
    try:
        with whole_file(path) as unfinished:
            onnx.save(model, unfinished)
    except OSError as error:
        raise OutputError(f"{path} cannot be written ({error.strerror}): free space there.") from error
    return path


def _strip_origin(model: ModelProto) -> None:
    """Drops the exporter's notes on where each node came from: they name folders of the machine it ran on."""
    for graph in (model.graph, *model.functions):
        for part in (graph, *graph.node, *graph.value_info):
            del part.metadata_props[:]
            part.ClearField("doc_string")
    for tensor in (*model.graph.input, *model.graph.output, *model.graph.initializer):
        del tensor.metadata_props[:]


@contextlib.contextmanager
def _quiet_exporter() -> Iterator[None]:
    """Silences the exporter's messages about its internals; its errors still come through."""
    loggers = [logging.getLogger(name) for name in ("torch.onnx", "onnxscript", "onnx_ir")]
    before = [logger.level for logger in loggers]
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        for logger in loggers:
            logger.setLevel(logging.ERROR)
        try:
            yield
        finally:
            for logger, level in zip(loggers, before, strict=True):
                logger.setLevel(level)

"""Writing a torch module as ONNX: dynamic batch, facts in the metadata, written aside and renamed."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

import onnx
import torch
from torch import Tensor, nn

from guide.errors import OutputError

INPUT_NAME = "inputs"
LARGEST_BATCH = 4096


def export_module(
    module: nn.Module, example: Tensor, path: Path, outputs: tuple[str, ...], metadata: Mapping[str, str]
) -> Path:
    """Writes `module` to `path`: `inputs` like `example` (N, ...) to the named outputs, any N up to 4096.

    Parity is the caller's to check. Raises OutputError when the file cannot be written.
    """
    with _quiet_exporter():
        program = torch.onnx.export(
            module.cpu().eval(), (example,), dynamo=True, verbose=False, input_names=[INPUT_NAME],
            output_names=list(outputs), dynamic_shapes=({0: torch.export.Dim("n", min=1, max=LARGEST_BATCH)},),
        )  # fmt: skip
    assert program is not None, "the exporter gives a program unless a path is named"
    model = program.model_proto
    _forget_origin(model)
    onnx.helper.set_model_props(model, dict(metadata))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_name(f".{path.name}.part")
        onnx.save(model, aside)
        aside.rename(path)
    except OSError as error:
        raise OutputError(f"{path} cannot be written ({error.strerror}): free space there.") from error
    return path


def _forget_origin(model: onnx.ModelProto) -> None:
    """Drops the exporter's notes on where each node came from: they name folders of the machine it ran on."""
    for graph in (model.graph, *model.functions):
        for part in (graph, *graph.node, *graph.value_info):
            del part.metadata_props[:]
            part.ClearField("doc_string")
    for tensor in (*model.graph.input, *model.graph.output, *model.graph.initializer):
        del tensor.metadata_props[:]


@contextlib.contextmanager
def _quiet_exporter() -> Iterator[None]:
    """The exporter speaks of its own inner workings, which no user can act on; its errors still come through."""
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

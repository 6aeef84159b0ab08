"""Writing a trunk as ONNX, with everything the live side must know of it in the file's metadata."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path

import torch

from offline.backbones import Trunk
from offline.onnx_file import export_module

OUTPUT_NAMES = ("map", "pooled")


def export_trunk(trunk: Trunk, path: str | Path, extra: Mapping[str, str] | None = None) -> Path:
    """Writes `trunk` to `path`: `inputs` (N, 3, S, S) -> `map` (N, C, H, W), `pooled` (N, P), any N.

    The metadata holds the preprocessing, the backbone's name and the hash of its weights, and what `extra` adds.
    Parity is the caller's to check. Raises OutputError when the file cannot be written.
    """
    size = trunk.spec.preprocessing.size_px
    example = torch.zeros(2, 3, size, size)
    metadata = trunk_metadata(trunk) | dict(extra or {})
    return export_module(copy.deepcopy(trunk), example, Path(path), OUTPUT_NAMES, metadata)


def trunk_metadata(trunk: Trunk) -> dict[str, str]:
    """The facts that travel inside the ONNX file."""
    spec = trunk.spec
    return spec.preprocessing.to_metadata() | {
        "backbone": spec.name,
        "layout": spec.layout,
        "weights": trunk.weights_hash(),
        "map_shape": "x".join(str(length) for length in spec.map_shape),
        "pooled_width": str(spec.pooled_width),
    }

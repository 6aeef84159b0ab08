"""Writing a bundle: networks as ONNX, checked against torch before anything is written, and all that was learned."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from guide import __version__
from guide.bundle import new_bundle, read_bundle, write_manifest
from guide.errors import GuideError
from guide.perceive.appearance import appearance
from guide.perceive.embedder import OnnxHead, OnnxTrunk
from guide.teach.demonstrations import Demonstrations
from guide.teach.describe import Learned
from guide.teach.embedding import LinearEmbedder
from guide.teach.writing import write_taught
from offline.config import Recipe
from offline.embedding import Inputs
from offline.extraction import Extractor
from offline.mixed import mix
from offline.onnx_export import Parity, export_embedder
from offline.quantize import Agreement, compare, quantize, trunk_samples
from offline.videos import Recording

log = logging.getLogger(__name__)

LEAST_COSINE = 0.9999
PARITY_ROWS = 8


@dataclass(frozen=True, slots=True)
class Export:
    """All that goes into a bundle; `recordings` have pictures, and there are none where features came in."""

    recipe: Recipe
    inputs: Inputs
    learned: Learned
    demonstrations: Demonstrations
    extractor: Extractor | None
    training: Mapping[str, Any]
    stills: Mapping[str, bytes]
    pictures: Mapping[str, bytes]
    recordings: tuple[Recording, ...] = ()
    labelled: tuple[str, ...] = ()
    """The recordings that a person labelled."""
    is_quantized: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """How closely the networks of a bundle give what torch gives, and its 8-bit trunk what the other gives."""

    parities: Mapping[str, Parity]
    agreement: Agreement | None = None


def write_bundle(export: Export, out: Path) -> Written:
    """Writes the bundle to `out`, whole or not at all; says how closely its networks agree."""
    with new_bundle(out) as folder:
        parities = {"head.onnx": _write_head(export, folder / "head.onnx")}
        if export.extractor is not None:
            parities |= _write_trunk(export.extractor, folder / "trunk.onnx")
        write_taught(folder, export.demonstrations, export.learned)
        _write_files(export.stills, folder / "stills")
        _write_files(export.pictures, folder / "pictures")
        facts = _facts(export, out.name, parities)
        write_manifest(folder, facts)
        agreement = (
            _quantize(export, export.extractor, folder, facts) if export.is_quantized and export.extractor else None
        )
    return Written(parities, agreement)


def _quantize(export: Export, extractor: Extractor, folder: Path, facts: Mapping[str, Any]) -> Agreement:
    """Adds the 8-bit trunk and writes into the manifest how far it agrees with the other."""
    seen = export.inputs.recordings
    samples = trunk_samples(export.recordings, seen, extractor.preprocessing)
    quantize(folder / "trunk.onnx", samples, exact_from="MatMul")  # roots of small products need all digits
    write_manifest(folder, facts)
    agreement = compare(read_bundle(folder), export.recordings, seen)
    # Times are this machine's and no fact of the bundle: two runs with one seed give one bundle.
    kept = {key: value for key, value in asdict(agreement).items() if not key.endswith("_ms")}
    write_manifest(folder, {**facts, "quantized": kept})
    return agreement


def _write_head(export: Export, path: Path) -> Parity:
    one, settings = export.inputs.recordings[0], export.inputs.settings
    rows = appearance(one.pooled, one.times, settings, max(len(one.times) // PARITY_ROWS, 1))
    embedder = export.demonstrations.embedder
    assert isinstance(embedder, LinearEmbedder)
    export_embedder(embedder, path)
    return _require(Parity.of(embedder.embed(rows), OnnxHead(path, "cpu").embed(rows)), path)


def _write_trunk(extractor: Extractor, path: Path) -> dict[str, Parity]:
    """Writes the trunk, and beside it the same in mixed precision where that is quicker and sees the same."""
    size = extractor.preprocessing.size_px
    pictures = torch.rand(2, 3, size, size, generator=torch.Generator().manual_seed(0)) * 2 - 1
    shutil.copyfile(extractor.exported.path, path)
    with torch.inference_mode():
        expected = [part.numpy() for part in extractor.trunk.cpu()(pictures)]
    parities = {path.name: _require(_trunk_parity(expected, path, pictures), path)}
    mixed = mix(path)
    if mixed is not None:
        parity = _trunk_parity(expected, mixed, pictures)
        if parity.cosine >= LEAST_COSINE:
            return {**parities, mixed.name: parity}
        mixed.unlink()  # its numbers are too large or too small
        log.warning("%s is left out: it reaches a cosine of %.6f to torch only.", mixed.name, parity.cosine)
    return parities


def _trunk_parity(expected: Sequence[NDArray[np.float32]], path: Path, pictures: torch.Tensor) -> Parity:
    """The worse of maps and pooled features."""
    got = OnnxTrunk(path, "cpu").forward(pictures.numpy())
    parities = [Parity.of(*both) for both in zip(expected, (got.maps, got.pooled), strict=True)]
    return min(parities, key=lambda parity: parity.cosine if np.isfinite(parity.cosine) else -1.0)


def _require(parity: Parity, path: Path) -> Parity:
    if not parity.cosine >= LEAST_COSINE:  # so that NaN is refused too
        raise GuideError(
            f"{path.name} should give what torch gives (cosine {LEAST_COSINE}), but reaches {parity.cosine:.6f}: "
            "nothing was written; try other versions of torch and onnxruntime."
        )
    return parity


def _write_files(contents: Mapping[str, bytes], folder: Path) -> None:
    folder.mkdir()
    for name, content in contents.items():
        (folder / name).write_bytes(content)


def _facts(export: Export, name: str, parities: Mapping[str, Parity]) -> dict[str, Any]:
    recipe, recordings = export.recipe, export.inputs.recordings
    by_hand = {"review": {"labelled": sorted(export.labelled)}} if export.labelled else {}
    return {
        "name": name,
        "program": f"cnc-guide {__version__}",
        "input": {
            "kind": "features" if export.extractor is None else "frames",
            "backbone": None if export.extractor is None else recipe.backbone,
            "width": int(recordings[0].pooled.shape[1]),
            **({} if export.extractor is None or recipe.region is None else {"region": asdict(recipe.region)}),
        },
        "rate": export.inputs.rate,
        "head": {"kind": "linear", "embedding_width": int(export.demonstrations.embeddings[0].shape[1])},
        "appearance": asdict(export.inputs.settings),
        "links": asdict(export.learned.links),
        "recordings": [recording.id for recording in recordings],
        "recipe": asdict(recipe),
        "training": dict(export.training),
        "parity": {file: asdict(parity) for file, parity in parities.items()},
        "notes": list(export.learned.notes),
        **by_hand,
    }

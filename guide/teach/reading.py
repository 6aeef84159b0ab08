"""The demonstrations that a bundle carries, so that it can be taught anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guide.bundle import Bundle
from guide.domain import BACKGROUND, Labels
from guide.errors import BundleError
from guide.manifest import perception_settings
from guide.perceive.embedder import OnnxHead
from guide.teach.demonstrations import Demonstration, Demonstrations


def read_demonstrations(bundle: Bundle) -> tuple[Demonstrations, tuple[Labels, ...]]:
    """The demonstrations in a bundle and the labels (T,) of their frames; raises BundleError if they do not fit."""
    arrays, settings = bundle.arrays("demonstrations.npz"), perception_settings(bundle)
    try:
        ids = [str(id_) for id_ in bundle.facts["recordings"]]
        items = tuple(_demonstration(arrays, number, id_) for number, id_ in enumerate(ids))
        labels = tuple(_labels(arrays[f"labels_{number}"], one) for number, one in enumerate(items))
        embedder = OnnxHead(bundle.path("head.onnx"), "cpu")
        copies = tuple(_copies(arrays, number, one) for number, one in enumerate(items))
        demonstrations = Demonstrations(
            items, settings.rate, settings.appearance, embedder, copies if any(copies) else ()
        )
        demonstrations.collection()
    except (KeyError, TypeError, ValueError) as cause:
        raise BundleError(f"{bundle.folder} holds no usable demonstrations ({cause}): export it again.") from cause
    _require_width(demonstrations.items, settings.width, bundle)
    return demonstrations, labels


def _demonstration(arrays: dict[str, NDArray[Any]], number: int, id_: str) -> Demonstration:
    return Demonstration(
        id_,
        np.asarray(arrays[f"times_{number}"], np.float64),
        arrays[f"pooled_{number}"],
        np.asarray(arrays[f"embeddings_{number}"], np.float32),
    )


def _copies(arrays: dict[str, NDArray[Any]], number: int, one: Demonstration) -> tuple[NDArray[Any], ...]:
    """What the trunk pooled in other views of a demonstration."""
    count = sum(name.startswith(f"view_{number}_") for name in arrays)
    copies = tuple(arrays[f"view_{number}_{place}"] for place in range(count))
    if any(each.shape != one.pooled.shape or each.dtype.kind != "f" for each in copies):
        raise ValueError(f"other views of {one.id} are {[each.shape for each in copies]}")
    return copies


def _labels(labels: NDArray[Any], one: Demonstration) -> Labels:
    if labels.shape != one.times.shape or labels.dtype.kind != "i" or labels.min() < BACKGROUND:
        raise ValueError(f"labels of {one.id} are {labels.shape} {labels.dtype}")
    return labels.astype(np.int64)


def _require_width(items: Sequence[Demonstration], width: int, bundle: Bundle) -> None:
    for one in items:
        if one.pooled.shape != (len(one), width) or one.pooled.dtype.kind != "f":
            raise BundleError(f"{bundle.folder} should hold {width} features a frame of {one.id}: export it again.")
        if one.embedding.shape[1] < 2 or one.embedding.shape[1] != bundle.embedding_width:
            raise BundleError(f"{bundle.folder} should hold {one.id} as its head.onnx embeds it: export it again.")

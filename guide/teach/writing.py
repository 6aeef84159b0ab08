"""The files of a bundle that follow from labels: what teaching writes, offline and after a review alike."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guide.domain import Segment
from guide.procedure.export import to_dot, to_plain
from guide.procedure.model import Procedure
from guide.teach.annotations import write_labels
from guide.teach.demonstrations import Demonstrations
from guide.teach.describe import Learned

ARRAYS = ("prototypes.npz", "demonstrations.npz")
PROCEDURE = ("procedure.json", "procedure.dot")
SEGMENTS = "segments"


def write_taught(folder: Path, demonstrations: Demonstrations, learned: Learned) -> None:
    """Writes prototypes, demonstrations, procedure and segments into a bundle's new folder."""
    effects = {} if learned.effects is None else learned.effects.to_arrays()
    _save(folder / "prototypes.npz", (learned.prototypes.to_arrays() | effects).items())
    _save(folder / "demonstrations.npz", _kept(demonstrations, learned))
    write_procedure(folder, demonstrations, learned.procedure, learned.segments)


def _kept(demonstrations: Demonstrations, learned: Learned) -> Iterator[tuple[str, NDArray[Any]]]:
    """What is kept of the demonstrations, made when it is asked for."""
    for number, one in enumerate(demonstrations.items):
        yield f"times_{number}", one.times
        yield f"pooled_{number}", halved(one.pooled)
        yield f"embeddings_{number}", halved(one.embedding)
        yield f"labels_{number}", learned.labels[number]
        for place, pooled in enumerate(demonstrations.copies[number] if demonstrations.copies else ()):
            yield f"view_{number}_{place}", halved(pooled)


def halved(rows: NDArray[Any]) -> NDArray[Any]:
    """The rows in float16, or in float32 where they would not fit: a user's own features may have any scale.

    >>> halved(np.array([1.0])).dtype, halved(np.array([1e6])).dtype
    (dtype('float16'), dtype('float32'))
    """
    fits = float(np.abs(rows).max(initial=0.0)) < float(np.finfo(np.float16).max)
    return np.asarray(rows, np.float16 if fits else np.float32)


def _save(path: Path, arrays: Iterable[tuple[str, NDArray[Any]]]) -> None:
    """Writes what `np.savez` would, one array in memory at a time: those of a long collection do not fit together."""
    with zipfile.ZipFile(path, "w") as file:
        for name, array in arrays:
            with file.open(f"{name}.npy", "w", force_zip64=True) as part:
                np.lib.format.write_array(part, np.asanyarray(array), allow_pickle=False)


def write_procedure(
    folder: Path, demonstrations: Demonstrations, procedure: Procedure, found: Sequence[Sequence[Segment]]
) -> None:
    """Writes the procedure, and the segments found in each demonstration, into a bundle's new folder."""
    (folder / "procedure.json").write_text(json.dumps(to_plain(procedure), indent=1) + "\n", encoding="utf-8")
    (folder / "procedure.dot").write_text(to_dot(procedure), encoding="utf-8")
    (folder / SEGMENTS).mkdir()
    names = {step.number: step.name for step in procedure.steps}
    for one, segments in zip(demonstrations.items, found, strict=True):
        write_labels(folder / SEGMENTS / f"{one.id}.csv", segments, names)

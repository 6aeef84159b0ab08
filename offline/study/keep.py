"""Results kept by everything that decides them, the code among it: nothing stale is ever reported."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from guide.bundle import read_arrays
from guide.errors import BundleError, OutputError
from guide.whole_file import whole_file
from offline.features import RecordingFeatures

Plain: TypeAlias = dict[str, str | int | float | None]  # a row of results, as it is kept

ROWS_AT_ONCE = 4096


class Kept:
    """Arrays in a folder, one file a key, written aside and renamed.

    >>> import tempfile
    >>> kept = Kept(Path(tempfile.mkdtemp()))
    >>> kept.write("key", {"a": np.arange(2)})
    >>> kept.read("key")["a"].tolist(), kept.read("other")
    ([0, 1], None)
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, key: str) -> dict[str, NDArray[Any]] | None:
        """What was kept; nothing where there is no such file or it is damaged: it can be made again."""
        path = self._path(key)
        if not path.is_file():
            return None
        try:
            return read_arrays(path)
        except BundleError:
            return None

    def write(self, key: str, arrays: dict[str, NDArray[Any]]) -> None:
        """Keeps the arrays; raises OutputError where they cannot be."""
        try:
            with whole_file(self._path(key)) as unfinished:
                np.savez(unfinished, **arrays)  # type: ignore[arg-type]
        except OSError as error:
            raise OutputError(
                f"results cannot be kept in {self.folder} ({error.strerror or error}): free space there or choose "
                "another --cache."
            ) from error

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.npz"


def content_key(recordings: Sequence[RecordingFeatures], *parts: object) -> str:
    """Names a result by the recordings' numbers and by `parts`, which must be plain values."""
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode())
    for recording in recordings:
        digest.update(f"{recording.id}\0{recording.rate}\0{len(recording)}\0{recording.mean_width}".encode())
        digest.update(recording.times.tobytes())
        for start in range(0, len(recording), ROWS_AT_ONCE):
            digest.update(np.ascontiguousarray(recording.pooled[start : start + ROWS_AT_ONCE]).tobytes())
    return digest.hexdigest()[:24]


@cache
def source_hash(*modules: str) -> str:
    """A hash of the source of these modules; of a package, of all modules in it."""
    digest = hashlib.sha256()
    for name in modules:
        spec = find_spec(name)
        origin = Path((spec.origin if spec else None) or name)
        for path in sorted(origin.parent.glob("*.py")) if origin.name == "__init__.py" else [origin]:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]

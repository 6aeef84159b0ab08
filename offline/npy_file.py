"""A `.npy` file that grows row by row, for arrays too large to hold and of a length not known before."""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray


class GrowingNpy:
    """Appends rows to a `.npy` file; `close` writes the final length into its header.

    numpy leaves room in the header for the first axis to grow, so the rows after it never move.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "rows.npy"
    >>> with GrowingNpy(path) as rows:
    ...     for start in (0, 2):
    ...         rows.append(np.arange(start, start + 2))
    >>> np.load(path).tolist()
    [0, 1, 2, 3]
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.shape: tuple[int, ...] = (0,)
        self._dtype: np.dtype[Any] | None = None
        self._file: BinaryIO | None = path.open("wb")

    def __enter__(self) -> GrowingNpy:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(self, rows: NDArray[Any]) -> None:
        """Adds rows (N, ...); all must share one type and one shape behind the first axis."""
        assert self._file is not None, "append after close"
        if self._dtype is None:
            self._dtype, self.shape = rows.dtype, (0, *rows.shape[1:])
            self._write_header(self._file)
        if rows.dtype != self._dtype or rows.shape[1:] != self.shape[1:]:
            raise ValueError(f"rows of {self._dtype} {self.shape[1:]} were expected, got {rows.dtype} {rows.shape[1:]}")
        self._file.write(np.ascontiguousarray(rows).data)
        self.shape = (self.shape[0] + len(rows), *self.shape[1:])

    def close(self) -> None:
        """Completes the header and lets go of the file."""
        if self._file is not None:
            file, self._file = self._file, None
            with file:
                file.seek(0)
                if self._dtype is not None:
                    self._write_header(file)

    def _write_header(self, file: BinaryIO) -> None:
        assert self._dtype is not None
        descr = np.lib.format.dtype_to_descr(self._dtype)
        header = {"descr": descr, "fortran_order": False, "shape": self.shape}
        np.lib.format.write_array_header_1_0(file, header)

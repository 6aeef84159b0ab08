"""Growing arrays: what was appended is what numpy reads, memory-mapped too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from offline.npy_file import GrowingNpy


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int64])
def test_rows_come_back(tmp_path: Path, dtype: type[Any]) -> None:
    rows: NDArray[Any] = np.random.default_rng(0).normal(size=(1234, 3, 2)).astype(dtype)
    with GrowingNpy(tmp_path / "a.npy") as array:
        for start in range(0, len(rows), 100):
            array.append(rows[start : start + 100])
        assert array.shape == rows.shape
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy", mmap_mode="r"), rows)


def test_rows_of_another_shape_or_type_are_refused(tmp_path: Path) -> None:
    with GrowingNpy(tmp_path / "a.npy") as array:
        array.append(np.zeros((2, 3), np.float32))
        with pytest.raises(ValueError, match="were expected"):
            array.append(np.zeros((2, 4), np.float32))
        with pytest.raises(ValueError, match="were expected"):
            array.append(np.zeros((2, 3), np.float64))


def test_before_close_the_file_holds_no_rows(tmp_path: Path) -> None:
    array = GrowingNpy(tmp_path / "a.npy")
    array.append(np.ones((5, 2)))
    assert array._file is not None
    array._file.flush()
    assert np.load(tmp_path / "a.npy").shape == (0, 2)
    array.close()
    assert np.load(tmp_path / "a.npy").shape == (5, 2)

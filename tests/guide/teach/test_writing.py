"""What teaching writes: rows in half precision where they fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from guide.teach.writing import _save, halved


def test_rows_are_halved_where_they_fit() -> None:
    assert halved(np.full((2, 2), 6e4, np.float32)).dtype == np.float16
    assert halved(np.full((2, 2), 7e4, np.float32)).dtype == np.float32
    assert np.isfinite(halved(np.full((2, 2), -1e30, np.float32))).all()


def test_arrays_are_written_one_at_a_time_and_as_numpy_would(tmp_path: Path) -> None:
    arrays = {"rows": np.arange(12.0).reshape(4, 3).astype(np.float16), "names": np.array(["a", "b"])}
    np.savez(tmp_path / "numpy.npz", **arrays)  # type: ignore[arg-type]
    _save(tmp_path / "ours.npz", ((name, array) for name, array in arrays.items()))
    assert (tmp_path / "ours.npz").read_bytes() == (tmp_path / "numpy.npz").read_bytes()

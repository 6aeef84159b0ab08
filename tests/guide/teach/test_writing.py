"""What teaching writes: rows in half precision where they fit."""

from __future__ import annotations

import numpy as np

from guide.teach.writing import halved


def test_rows_are_halved_where_they_fit() -> None:
    assert halved(np.full((2, 2), 6e4, np.float32)).dtype == np.float16
    assert halved(np.full((2, 2), 7e4, np.float32)).dtype == np.float32
    assert np.isfinite(halved(np.full((2, 2), -1e30, np.float32))).all()

"""MATLAB files: what scipy wrote comes back; damage gives sentences, never a crash."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.io import savemat

from guide.errors import InputError
from offline.study.datasets import matlab_file
from offline.study.datasets.matlab_file import read_matlab
from tests.made_datasets import cells


def test_texts_and_cells_in_cells_and_what_is_not_read(tmp_path: Path) -> None:
    content: dict[str, Any] = {
        "names": cells(["stir", "caf\u00e9", ""]),
        "deep": cells([cells([np.zeros((0, 0)), np.array([[1.5, 2.0]])])]),
        "thing": {"a": 1},
        "flag": np.array([[True]]),
    }
    savemat(tmp_path / "a.mat", content)
    read = read_matlab(tmp_path / "a.mat")
    assert read["names"] in (["stir", "caf\u00e9", ""], ["stir", "caf\u00e9", read["names"][2]])  # type: ignore[index]
    deep = read["deep"]
    assert isinstance(deep, list)
    assert isinstance(deep[0], list)
    assert [np.asarray(one).tolist() for one in deep[0]] == [[], [[1.5, 2.0]]]
    assert read["thing"] is None


@settings(derandomize=True, deadline=None, max_examples=20)
@given(table=hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.floats()))
def test_any_numbers_survive(table: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "any.mat"
    savemat(path, {"table": table, "cells": cells([table, table.T])})
    read = read_matlab(path)
    np.testing.assert_array_equal(np.asarray(read["table"]), table)
    inner = read["cells"]
    assert isinstance(inner, list)
    np.testing.assert_array_equal(np.asarray(inner[1]), table.T)


def test_damage_gives_a_sentence_never_a_crash(tmp_path: Path) -> None:
    path = tmp_path / "a.mat"
    rng = random.Random(0)
    for is_compressed in (False, True):
        savemat(path, {"names": cells(["a", "b"]), "t": cells([np.ones((2, 2))] * 3)}, do_compression=is_compressed)
        whole = path.read_bytes()
        for _ in range(30):
            damaged = bytearray(whole)
            for _ in range(rng.randint(1, 5)):
                damaged[rng.randrange(len(damaged))] = rng.randrange(256)
            path.write_bytes(damaged[: rng.randint(1, len(damaged))] if rng.random() < 0.4 else damaged)
            with suppress(InputError):
                read_matlab(path)


def test_files_of_other_kinds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.mat"
    for content in (b"", b"no such thing", b"MATLAB 5.0".ljust(128)):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"should be a MATLAB file and cannot be read \(its first bytes"):
            read_matlab(path)
    path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
    with pytest.raises(InputError, match="newest form"):
        read_matlab(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_matlab(tmp_path)
    savemat(path, {"zeros": np.zeros((400, 400))}, do_compression=True)
    monkeypatch.setattr(matlab_file, "LARGEST_BYTES", 10_000)
    with pytest.raises(InputError, match="grows too large"):
        read_matlab(path)
    monkeypatch.setattr(matlab_file, "LARGEST_BYTES", 10)
    with pytest.raises(InputError, match="is larger than 0 MB"):
        read_matlab(path)


def test_reading_is_bounded_in_memory_and_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.mat"
    savemat(path, {"zeros": np.zeros((2000, 2000))}, do_compression=True)
    monkeypatch.setattr(matlab_file, "MEMORY_BYTES", 2**20)
    with pytest.raises(InputError, match="MemoryError"):
        read_matlab(path)
    monkeypatch.setattr(matlab_file, "LONGEST_S", 0.0)
    with pytest.raises(InputError, match="takes too long"):
        read_matlab(path)

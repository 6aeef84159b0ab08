"""Kept results: by content, whole or not at all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from guide.errors import OutputError
from offline.features import RecordingFeatures
from offline.study.keep import Kept, content_key, source_hash

SEEN = RecordingFeatures("a", 1.0, np.arange(3.0), np.zeros((3, 4), np.float32))


def test_a_damaged_file_counts_as_none(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.write("key", {"a": np.arange(3)})
    (tmp_path / "key.npz").write_bytes((tmp_path / "key.npz").read_bytes()[:40])
    assert kept.read("key") is None


def test_two_who_keep_the_same_do_not_get_in_each_other_s_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, savez = Kept(tmp_path), np.savez

    def meanwhile(path: Path, **arrays: NDArray[Any]) -> None:
        savez(path, **arrays)  # type: ignore[arg-type]
        monkeypatch.setattr(np, "savez", savez)
        Kept(tmp_path).write("key", {"a": np.arange(3)})

    monkeypatch.setattr(np, "savez", meanwhile)
    kept.write("key", {"a": np.arange(3)})
    assert [path.name for path in tmp_path.iterdir()] == ["key.npz"]
    found = kept.read("key")
    assert found is not None
    assert found["a"].tolist() == [0, 1, 2]


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="--cache"):
        Kept(tmp_path / "file").write("key", {"a": np.arange(3)})


@pytest.mark.parametrize(
    "other",
    [
        replace(SEEN, id="b"),
        replace(SEEN, rate=2.0),
        replace(SEEN, times=np.array([0.0, 1.0, 2.5])),
        replace(SEEN, pooled=np.ones((3, 4), np.float32)),
        replace(SEEN, mean_width=2),
    ],
)
def test_the_key_names_everything(other: RecordingFeatures) -> None:
    assert content_key([SEEN], "tc3i", 0) == content_key([replace(SEEN)], "tc3i", 0)
    assert content_key([SEEN], "tc3i", 0) != content_key([other], "tc3i", 0)
    assert content_key([SEEN], "tc3i", 0) != content_key([SEEN], "tc3i", 1)


def test_code_is_hashed_by_module_and_by_package() -> None:
    assert source_hash("offline.losses") != source_hash("offline.losses.cidm")
    assert source_hash("offline.losses") == source_hash("offline.losses")

"""Data set files that are missing, double or damaged are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from guide.errors import InputError
from offline.study.datasets.json_file import find_file, read_json


def test_one_file_is_found(tmp_path: Path) -> None:
    (tmp_path / "names_subset.json").write_text("{}")
    assert find_file(tmp_path, "names*.json").name == "names_subset.json"


def test_none_or_two_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="found none"):
        find_file(tmp_path, "names*.json")
    for name in ("names_a.json", "names_b.json"):
        (tmp_path / name).write_text("{}")
    with pytest.raises(InputError, match=r"names_a\.json, names_b\.json"):
        find_file(tmp_path, "names*.json")


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe\x00"])
def test_damaged_json_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"a\.json should hold JSON"):
        read_json(path)


def test_missing_json_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.json was expected"):
        read_json(tmp_path / "a.json")

"""What was seen comes back bit by bit, and half a record does no harm."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import numpy as np
import pytest

from guide.errors import InputError
from guide.record.percepts import PerceptWriter, read_percepts
from guide.record.values import StoredPercept

HEAD, RECORD = 12, 56  # bytes: magic and width; number, time, checksum and nine numbers

OF_BEFORE = b"CNCSEEN1" + b"\4\0\0\0" * 2 + bytes(60)  # it also had features


def some(count: int, first: int = 0) -> list[StoredPercept]:
    rng = np.random.default_rng(first)
    return [
        StoredPercept(first + n, 0.2 * (first + n) + 1e-9, rng.normal(size=9).astype(np.float32)) for n in range(count)
    ]


def same(found: list[StoredPercept], wanted: list[StoredPercept]) -> bool:
    return len(found) == len(wanted) and all(
        (a.number, a.at) == (b.number, b.at) and a.embedding.tobytes() == b.embedding.tobytes()
        for a, b in zip(found, wanted, strict=True)
    )


def test_it_comes_back_bit_by_bit(tmp_path: Path) -> None:
    seen = some(7)
    with PerceptWriter(tmp_path / "seen.bin") as writer:
        writer.append(seen[:3])
        writer.append([])
        assert same(list(read_percepts(tmp_path / "seen.bin")), seen[:3]), "readable while it grows"
        writer.append(seen[3:])
    assert same(list(read_percepts(tmp_path / "seen.bin")), seen)


def test_every_cut_off_file_gives_its_whole_records(tmp_path: Path) -> None:
    path = tmp_path / "seen.bin"
    with PerceptWriter(path) as writer:
        writer.append(some(3))
    data = path.read_bytes()
    for size in range(HEAD, len(data)):
        path.write_bytes(data[:size])
        assert same(list(read_percepts(path)), some(3)[: (size - HEAD) // RECORD])


def test_a_changed_record_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "seen.bin"
    with PerceptWriter(path) as writer:
        writer.append(some(3))
    data = bytearray(path.read_bytes())
    data[HEAD + RECORD + 30] ^= 1
    path.write_bytes(data)
    assert same(list(read_percepts(path)), some(1))


@pytest.mark.parametrize("data", [b"x", b"CNCSEEN2", b"CNCSEEN2" + b"\xff" * 4, b"JUNKJUNK" + b"\4\0\0\0", OF_BEFORE])
def test_another_kind_of_file_is_a_sentence(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "seen.bin").write_bytes(data)
    with pytest.raises(InputError, match="damaged, of another kind, or recorded by an older version"):
        list(read_percepts(tmp_path / "seen.bin"))
    with pytest.raises(InputError, match="can be replayed"):
        list(read_percepts(tmp_path / "missing.bin"))


def test_a_write_that_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "seen.bin"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with PerceptWriter(path) as writer:
        writer.append(some(2))
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 70, before[1]))
        try:
            with pytest.raises(OSError, match="File too large"):
                writer.append(some(3, first=2))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        writer.append(some(3, first=2))
    assert same(list(read_percepts(path)), some(2) + some(3, first=2))


def test_a_disk_that_keeps_half_a_record_spoils_no_later_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, seen = os.write, some(5)

    def refuse(*_: object) -> None:
        raise OSError("input/output error")

    def write_half(file: int, data: memoryview) -> int:
        if len(data) > 100:
            return write(file, data[:50])
        raise OSError("input/output error")

    with PerceptWriter(tmp_path / "seen.bin") as writer:
        writer.append(seen[:2])
        with monkeypatch.context() as broken:
            broken.setattr(os, "ftruncate", refuse)
            broken.setattr(os, "write", write_half)
            with pytest.raises(OSError, match="input/output"):
                writer.append(seen[2:])
        writer.append(seen[2:])
    assert same(list(read_percepts(tmp_path / "seen.bin")), seen)

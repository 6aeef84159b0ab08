"""A bundle is read whole and unharmed, or refused in one sentence."""

from __future__ import annotations

import errno
import json
import os
import struct
import zipfile
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from guide.bundle import (
    MANIFEST,
    Bundle,
    fingerprint,
    new_bundle,
    read_arrays,
    read_bundle,
    require_place,
    write_manifest,
)
from guide.errors import BundleError, OutputError


def make_bundle(folder: Path) -> Path:
    with new_bundle(folder) as aside:
        (aside / "stills").mkdir()
        (aside / "stills" / "1 a.jpg").write_bytes(b"jpeg")
        np.savez(aside / "prototypes.npz", centres=np.eye(3))
        (aside / "procedure.json").write_text("{}")
        write_manifest(aside, {"rate": 5.0})
    return folder


def change_manifest(folder: Path, **changes: object) -> None:
    facts = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(json.dumps({**facts, **changes}))


def test_what_was_written_is_read(tmp_path: Path) -> None:
    bundle = read_bundle(make_bundle(tmp_path / "task"))
    assert bundle.facts["rate"] == 5.0
    assert np.array_equal(bundle.arrays("prototypes.npz")["centres"], np.eye(3))
    assert bundle.json("procedure.json") == {}
    assert bundle.has("stills/1 a.jpg")
    assert not bundle.has("trunk.onnx")
    assert [p.name for p in tmp_path.iterdir()] == ["task"]


def test_the_fingerprint_follows_the_content(tmp_path: Path) -> None:
    one = read_bundle(make_bundle(tmp_path / "one"))
    two = read_bundle(make_bundle(tmp_path / "two"))
    assert fingerprint(one) == fingerprint(two)
    (two.folder / "procedure.json").write_text('{"a": 1}')
    write_manifest(two.folder, {})
    assert fingerprint(read_bundle(two.folder)) != fingerprint(one)


def test_a_failure_leaves_the_old_bundle(tmp_path: Path) -> None:
    folder = make_bundle(tmp_path / "task")
    before = read_bundle(folder)
    with pytest.raises(KeyboardInterrupt), new_bundle(folder) as aside:  # noqa: PT012
        (aside / "half").write_bytes(b"")
        raise KeyboardInterrupt
    assert read_bundle(folder) == before
    assert [p.name for p in tmp_path.iterdir()] == ["task"]


def test_a_folder_with_other_things_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match="holds other things"), new_bundle(tmp_path):
        pass
    assert (tmp_path / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("out", [".", "..", "sub/..", "/"])
def test_a_place_that_is_no_folder_of_its_own_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    (tmp_path / "here" / "sub").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here" / "sub")
    with pytest.raises(OutputError, match=r"choose .*\.$"):
        require_place(Path(out))
    with pytest.raises(OutputError, match=r"choose .*\.$"), new_bundle(Path(out)):
        pass
    assert (tmp_path / "here" / "sub").is_dir()


def test_a_way_up_and_down_again_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    make_bundle(Path("../task/../task/."))
    assert read_bundle(tmp_path / "task").has("procedure.json")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"schema": 99}, "schema 99"),
        ({"files": {}}, "lists no files"),
        ({"files": {"../outside": {"bytes": 1, "sha256": ""}}}, "not allowed"),
        ({"files": {"/etc/passwd": {"bytes": 1, "sha256": ""}}}, "not allowed"),
        ({"files": {"a/b/c": {"bytes": 1, "sha256": ""}}}, "not allowed"),
        ({"files": {".hidden": {"bytes": 1, "sha256": ""}}}, "not allowed"),
        ({"files": {"C:evil": {"bytes": 1, "sha256": ""}}}, "not allowed"),
        ({"files": {"lost.npz": {"bytes": 1, "sha256": ""}}}, "lacks lost.npz"),
        ({"files": {"procedure.json": 3}}, "says nothing"),
        ({"files": {"procedure.json": {"bytes": 2, "sha256": "0"}}}, "not the file"),
        ({"recordings": ["a", "../b"]}, "not allowed"),
        ({"recordings": ["a/b"]}, "like a path"),
        ({"recordings": ["a", 3]}, "by name"),
        ({"recordings": "a"}, "by name"),
    ],
)
def test_a_hostile_or_damaged_manifest_is_refused(tmp_path: Path, changes: dict[str, object], sentence: str) -> None:
    folder = make_bundle(tmp_path / "task")
    change_manifest(folder, **changes)
    with pytest.raises(BundleError, match=sentence):
        read_bundle(folder)


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    folder = make_bundle(tmp_path / "task")
    (folder / "procedure.json").write_text("[]")
    with pytest.raises(BundleError, match="not the file its manifest describes"):
        read_bundle(folder)


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    folder = make_bundle(tmp_path / "task")
    outside = tmp_path / "outside.json"
    (folder / "procedure.json").rename(outside)
    (folder / "procedure.json").symlink_to(outside)
    with pytest.raises(BundleError, match="leads outside"):
        read_bundle(folder)


def test_numbers_that_are_not_finite_and_pickles_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "nan.npz", centres=np.array([1.0, np.nan]))
    with pytest.raises(BundleError, match="not finite"):
        read_arrays(tmp_path / "nan.npz")
    np.savez(tmp_path / "object.npz", evil=np.array([{}], dtype=object))
    with pytest.raises(BundleError, match="no readable npz"):
        read_arrays(tmp_path / "object.npz")


def test_an_archive_that_swells_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez_compressed(tmp_path / "bomb.npz", a=np.zeros(60_000), b=np.zeros(60_000))
    assert (tmp_path / "bomb.npz").stat().st_size < 10_000
    monkeypatch.setattr(np, "load", lambda *_, **__: pytest.fail("it was read"))
    with pytest.raises(BundleError, match="do not use this bundle"):
        read_arrays(tmp_path / "bomb.npz")


@pytest.mark.parametrize("name", ["still.jpg", "chart.png"])
def test_a_picture_that_swells_is_refused_undecoded(tmp_path: Path, name: str) -> None:
    image = cv2.imencode(Path(name).suffix, np.zeros((16, 16, 3), np.uint8), [cv2.IMWRITE_JPEG_PROGRESSIVE, 1])[1]
    data = bytearray(image.tobytes())
    if name.endswith("jpg"):
        place = data.index(b"\xff\xc2") + 5
        data[place : place + 4] = struct.pack(">HH", 30_000, 30_000)
    else:
        data[16:24] = struct.pack(">II", 30_000, 30_000)
        data[29:33] = struct.pack(">I", zlib.crc32(data[12:29]))
    folder = tmp_path / "task"
    folder.mkdir()
    (folder / name).write_bytes(data)
    write_manifest(folder, {})
    with pytest.raises(BundleError, match="pixels"):
        read_bundle(folder)


def test_an_archive_of_other_things_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "plain.npy", np.zeros(3))
    (tmp_path / "plain.npy").rename(tmp_path / "plain.npz")
    with pytest.raises(BundleError, match="no readable npz"):
        read_arrays(tmp_path / "plain.npz")
    with zipfile.ZipFile(tmp_path / "texts.npz", "w") as archive:
        archive.writestr("centres.npy", "no array")
    with pytest.raises(BundleError, match="no readable npz"):
        read_arrays(tmp_path / "texts.npz")


@given(text=st.binary(max_size=200))
@settings(derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_for_a_manifest_give_a_sentence(tmp_path: Path, text: bytes) -> None:
    (tmp_path / MANIFEST).write_bytes(text)
    with pytest.raises(BundleError):
        read_bundle(tmp_path)


def test_a_file_the_manifest_does_not_list_is_named(tmp_path: Path) -> None:
    bundle = read_bundle(make_bundle(tmp_path / "task"))
    assert isinstance(bundle, Bundle)
    with pytest.raises(BundleError, match=r"no head\.onnx"):
        bundle.path("head.onnx")


def test_a_file_system_that_takes_nothing_is_told_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    require_place(tmp_path / "task")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    with pytest.raises(OutputError, match=r"task cannot be written \(Read-only file system in .*choose a folder"):
        require_place(tmp_path / "task")

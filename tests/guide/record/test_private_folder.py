"""The folder of the sessions is looked at before a session begins; what will pass is waited for."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from guide.errors import OutputError
from guide.record.private_folder import make_private_file, make_private_folder, require_writable_folder


def test_it_is_made_for_its_owner(tmp_path: Path) -> None:
    require_writable_folder(tmp_path / "new" / "sessions")
    assert (tmp_path / "new" / "sessions").stat().st_mode & 0o077 == 0


def test_a_file_in_its_place_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"cannot be made \(File exists\)"):
        require_writable_folder(tmp_path / "file")


def test_a_folder_nobody_may_write_to_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(OutputError, match="cannot be written by this user"):
        require_writable_folder(tmp_path)


def test_a_full_disk_is_waited_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "mkdir", refuse)
    require_writable_folder(tmp_path / "sessions")
    with pytest.raises(OutputError):
        make_private_folder(tmp_path / "sessions")


def test_a_private_file_that_is_there_stays(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    make_private_file(tmp_path / "file")
    make_private_file(tmp_path / "missing" / "file")
    assert (tmp_path / "file").read_text() == "kept"

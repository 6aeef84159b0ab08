"""What the dashboard was told to keep: read as it was written, and nothing at all where the file is damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from guide.errors import InputError, OutputError
from guide.record.keeping import FILE, Keeping, read_keeping, write_keeping
from guide.recording import RecordingOptions


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert read_keeping(tmp_path) is None
    kept = Keeping(3.0, 1.5, pictures=False)
    write_keeping(tmp_path / "new", kept)
    assert read_keeping(tmp_path / "new") == kept
    (tmp_path / FILE).write_text('{"keep_days": 7}')  # as versions wrote it that knew no more
    assert read_keeping(tmp_path) == Keeping(7.0)


@pytest.mark.parametrize(
    "text", ["", "[]", '{"keep_days": "x"}', '{"keep_days": -3}', '{"keep_days": true}', '{"keep_gb": 1e999}']
)
def test_a_damaged_file_says_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    assert read_keeping(tmp_path) is None


def test_nonsense_is_refused_and_a_folder_that_cannot_be_written_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a number of gigabytes"):
        Keeping(keep_gb=-1.0)
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        write_keeping(tmp_path / "file", Keeping())


@pytest.mark.parametrize("options", [True, False])
@pytest.mark.parametrize("told", [True, False])
def test_pictures_are_kept_where_both_say_so(options: bool, told: bool) -> None:
    kept = RecordingOptions(pictures=options).heeding(Keeping(3.0, 2.0, pictures=told))
    assert (kept.pictures, kept.keep_days, kept.keep_gb) == (options and told, 3.0, 2.0)
    assert RecordingOptions(pictures=options).heeding(None).pictures is options

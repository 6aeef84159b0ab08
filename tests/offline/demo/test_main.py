"""The command's answers to bad input."""

from __future__ import annotations

from pathlib import Path

import pytest

from offline.demo.__main__ import main


@pytest.mark.parametrize(
    ("options", "answer"),
    [
        (["--recordings", "0"], "--recordings needs a number from 1 up, got 0"),
        (["--live", "-2"], "--live needs a number from 0 up, got -2"),
        (["--out", "FILE"], "--out needs a folder"),
        (["--out", "FILE/below"], "cannot write into"),
    ],
)
def test_bad_input_is_one_sentence_and_code_2(
    options: list[str],
    answer: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    given = ["--out", str(tmp_path / "out"), *(option.replace("FILE", str(file)) for option in options)]
    monkeypatch.setattr("sys.argv", ["offline.demo", *given])
    assert main() == 2
    said = capsys.readouterr().err
    assert answer in said
    assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()

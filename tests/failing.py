"""The training command when it must fail: how it is called, and the one sentence it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from guide.commands.entry import entry
from offline.train import TrainOptions, main


def arguments(inputs: Path, tmp_path: Path, *more: str) -> list[str]:
    words = ["--out", str(tmp_path / "out"), "--cache", str(tmp_path / "cache"), "--backbone", "random-tiny"]
    return [str(inputs), *words, "--device", "cpu", *more]


def said_on_failure(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one sentence on stderr of a command that must exit with code 2."""
    with pytest.raises(SystemExit) as left:
        entry(TrainOptions, main, args=arguments)
    said = capsys.readouterr().err
    assert left.value.code == 2
    assert said.count("\n") == 1
    assert "Traceback" not in said
    return said

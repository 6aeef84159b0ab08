"""The command's answers to bad input."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
import tyro

from guide.commands.entry import entry
from offline.demo import world
from offline.demo.__main__ import Config, main
from offline.train import TrainOptions


@pytest.mark.parametrize(
    ("options", "answer"),
    [
        (["--recordings", "0"], "--recordings needs a number from 1 up, got 0"),
        (["--live", "-2"], "--live needs a number from 0 up, got -2"),
        (["--seed", "-1"], "--seed needs a number from 0 up, got -1"),
        (["--jobs", "-1"], "--jobs needs a number from 0 up, got -1"),
        (["--out", "FILE"], "--out needs a folder"),
        (["--out", "FILE/below"], "cannot write into"),
    ],
)
def test_bad_input_is_one_sentence_and_code_2(
    options: list[str], answer: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    given = ["--out", str(tmp_path / "out"), *(option.replace("FILE", str(file)) for option in options)]
    with pytest.raises(SystemExit) as left:
        entry(Config, main, given)
    assert left.value.code == 2
    said = capsys.readouterr().err
    assert answer in said
    assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_the_next_command_can_be_run_as_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(world, "draw_world", lambda *_, **__: None)
    out = tmp_path / ("a long way down " * 8).strip() / "my demo"
    entry(Config, main, ["--out", str(out)])
    line = capsys.readouterr().out.splitlines()[-1]
    words = shlex.split(line.removeprefix("Next: "))
    assert words[:3] == ["python", "-m", "offline.train"]
    options = tyro.cli(TrainOptions, args=words[3:])
    assert (options.inputs, options.k, options.out) == ((str(out / "train"),), 9, Path("exported/my demo"))

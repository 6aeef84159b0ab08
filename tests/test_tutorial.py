"""Every command of the tutorial, in order, in an empty folder: on fewer recordings and with a trunk of nothing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_docs import ROOT
from tests.tiny import RECIPE

TEXT = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"(?:^<!-- not run: (?P<why>.+?) -->\n)?^```bash\n(?P<commands>.*?)^```$", re.MULTILINE | re.DOTALL)
SMALLER = {
    "--recordings 12 --live 5": "--recordings 2 --live 1",
    "live/02_missed.mp4": "live/01_none.mp4",
    "--k 9": "--k 9 --config recipe.toml --cache cache --device cpu",
}


@pytest.mark.timeout(1800)  # a minute of processor time, which a busy machine stretches
def test_every_command_runs_and_what_it_promises_is_there(tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text(RECIPE)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # where `python` is ours
    place = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    for block in BLOCK.finditer(TEXT):
        if block["why"] is None:
            done = subprocess.run(
                ["bash", "-euc", smaller(block["commands"])], cwd=tmp_path, env=place, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stdout
    assert (tmp_path / "report" / "report.html").is_file()
    assert "insert battery" in (tmp_path / "exported" / "box" / "procedure.json").read_text(encoding="utf-8")
    assert any((tmp_path / "exported" / "box" / "stills").iterdir())


def test_only_what_the_marks_name_is_left_out() -> None:
    assert TEXT.count("```bash") == len(list(BLOCK.finditer(TEXT)))
    assert all(old in TEXT for old in SMALLER)
    left_out = [block["why"] for block in BLOCK.finditer(TEXT) if block["why"]]
    assert left_out == ["installs 7 GB", "opens a browser", "needs a camera", "needs a phone"]


def smaller(commands: str) -> str:
    for old, new in SMALLER.items():
        commands = commands.replace(old, new)
    return commands

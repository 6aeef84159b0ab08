"""Old names of commands say where the command went, and do its work."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from offline import moved

ROOT = Path(__file__).parents[2]


def shims() -> dict[str, tuple[str, str]]:
    """The arguments of each call of `run`, by the name of the module that makes it."""
    found = {}
    for path in sorted((ROOT / "offline").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "from offline.moved import run" in text:
            calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
            old, new = (ast.literal_eval(each) for each in calls[0].args)
            found[".".join(path.relative_to(ROOT).with_suffix("").parts)] = (old, new)
    return found


def test_every_old_name_leads_to_a_command_that_is_there() -> None:
    assert len(shims()) == 10
    for module, (old, new) in shims().items():
        assert old == module
        assert new.startswith("offline.study.")
        spec = find_spec(new)
        assert spec is not None
        assert spec.submodule_search_locations is None or find_spec(f"{new}.__main__") is not None


def test_an_old_name_says_where_it_went_and_does_the_work() -> None:
    said = subprocess.run(
        [sys.executable, "-m", "offline.statistics", "--help"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert said.returncode == 0, said.stderr
    assert said.stderr == (
        "python -m offline.statistics is now python -m offline.study.statistics: the old name goes with the next "
        "version.\n"
    )
    assert "usage: " in said.stdout


def test_without_the_source_one_sentence_says_where_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(moved, "find_spec", lambda name: None)
    with pytest.raises(SystemExit) as left:
        moved.run("offline.statistics", "offline.study.statistics")
    assert left.value.code == 2
    assert capsys.readouterr().err == (
        "python -m offline.study.statistics comes with the project's source, not with the wheel: run it in a clone.\n"
    )

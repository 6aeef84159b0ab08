"""The commands of the live side answer to their names."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from guide import __main__ as program
from guide import __version__


@pytest.mark.parametrize("command", ["watch", "cameras", "check", "show", "order", "replay", "report", "sessions"])
def test_each_command_explains_itself(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["guide", command, "--help"])
    monkeypatch.setenv(program.THREADS, "1")  # which the command would set for good
    with pytest.raises(SystemExit) as left:
        program.main()
    assert left.value.code == 0
    assert f"usage: guide {command}" in capsys.readouterr().out


def test_the_version_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["guide", "--version"])
    program.main()
    assert capsys.readouterr().out == f"cnc-guide {__version__}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_a_shell_can_complete_the_commands(
    shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["guide", "--tyro-print-completion", shell])
    monkeypatch.setenv(program.THREADS, "1")
    with pytest.raises(SystemExit) as left:
        program.main()
    assert not left.value.code
    assert {"watch", "sessions", "report"} <= set(re.findall(r"\w+", capsys.readouterr().out))


def test_a_senseless_setting_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["guide", "watch", "a.mp4", "--lag-s", "-1"])
    monkeypatch.setenv(program.THREADS, "1")
    with pytest.raises(SystemExit) as left:
        program.main()
    assert left.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["watch", "a.mp4", "--rate", "fast"], "guide watch --help"),
        (["watch", "a.mp4", "--no-such-option"], "guide watch --help"),
        (["tokens", "--role", "king"], "guide tokens --help"),
        (["wach"], "guide --help"),
    ],
)
def test_a_mistake_names_the_help_of_its_command(
    words: list[str], named: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["guide", *words])
    monkeypatch.setenv(program.THREADS, "1")
    with pytest.raises(SystemExit) as left:
        program.main()
    assert left.value.code == 2
    assert named in capsys.readouterr().err


@pytest.mark.parametrize(("words", "threads"), [(["watch", "--help"], "1"), (["review", "--help"], None), ([], None)])
def test_only_commands_that_follow_frames_keep_to_one_thread(words: list[str], threads: str | None) -> None:
    code = f"""if True:
        import os, sys
        from guide import __main__ as program
        assert "numpy" not in sys.modules
        sys.argv = ["guide", *{words!r}]
        try:
            program.main()
        except SystemExit:
            pass
        assert "numpy" in sys.modules
        assert os.environ.get(program.THREADS) == {threads!r}
    """
    plain = {name: value for name, value in os.environ.items() if name != program.THREADS}
    subprocess.run([sys.executable, "-c", code], check=True, env=plain, capture_output=True, timeout=120)


def test_a_number_of_threads_that_somebody_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["guide", "watch", "--help"])
    monkeypatch.setenv(program.THREADS, "2")
    with pytest.raises(SystemExit):
        program.main()
    assert os.environ[program.THREADS] == "2"

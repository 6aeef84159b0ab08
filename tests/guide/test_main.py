"""The commands of the live side answer to their names."""

from __future__ import annotations

import pytest

from guide import __main__ as program


@pytest.mark.parametrize("command", ["watch", "cameras", "check", "order", "replay", "report", "sessions"])
def test_each_command_explains_itself(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["guide", command, "--help"])
    with pytest.raises(SystemExit) as left:
        program.main()
    assert left.value.code == 0
    assert f"python -m guide {command}" in capsys.readouterr().out


def test_a_senseless_setting_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["guide", "watch", "a.mp4", "--lag-s", "-1"])
    with pytest.raises(SystemExit) as left:
        program.main()
    assert left.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1

"""A bundle in the terminal: steps, orders, rules and quality, and one sentence where it is damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from guide.commands.show import ShowOptions, main
from guide.commands.steps import StepsOptions
from guide.commands.steps import main as write_list
from guide.errors import BundleError
from tests.guide.ui.conftest import write_bundle


def test_it_shows_what_was_learned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    folder = write_bundle(tmp_path / "box", ("lay [bold] mat", "open case", "fit board", "close lid"))
    main(ShowOptions(folder))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("box: 4 key-steps learned from 6 demonstrations")
    assert any(line.split()[:8] == ["1", "lay", "[bold]", "mat", "in", "6", "of", "6"] for line in lines)
    order = ["4", "lay [bold] mat, open case, fit board, close lid"]
    assert any(line.strip().split(maxsplit=1) == order for line in lines)
    assert any("fit board" in line and "close lid" in line and "6 of 6" in line for line in lines)
    assert any(line.startswith("note: only 3 of the 4") for line in lines)


def test_a_program_that_reads_it_gets_whole_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    names = tuple(f"{word} the {'very ' * 12}small part" for word in ("lay", "open", "fit", "close"))
    main(ShowOptions(write_bundle(tmp_path / "box", names)))
    assert any(all(name in line for name in names) for line in capsys.readouterr().out.splitlines())


def test_a_damaged_bundle_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="is no bundle"):
        main(ShowOptions(tmp_path / "nowhere"))


def test_a_written_list_is_not_shown_as_if_it_had_been_seen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    (tmp_path / "list.txt").write_text("lay mat\nopen case\nwipe dust (optional)\n")
    write_list(StepsOptions(tmp_path / "list.txt", out=tmp_path / "box"))
    capsys.readouterr()
    main(ShowOptions(tmp_path / "box"))
    told = capsys.readouterr().out
    assert "0 of 0" not in told
    assert "Orders" not in told
    [rule] = [line.split() for line in told.splitlines() if line.startswith("1 lay mat") and "open case" in line]
    assert rule == ["1", "lay", "mat", "2", "open", "case", "alert", "(given)"]

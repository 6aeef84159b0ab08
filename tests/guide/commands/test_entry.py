"""Every command ends with one sentence and a code, never a traceback."""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import pytest

from guide.commands.entry import FAULT, INTERRUPTED, PIPE_CLOSED, entry, run, sentence
from guide.errors import BundleError, GuideError, InputError, OutputError


@dataclass(frozen=True)
class Config:
    """Cuts bread."""

    slices: int = 2
    """How many slices to cut."""
    loaves: int | Literal["auto"] | None = None
    grams: float | None = None


def raising(error: BaseException) -> Callable[[], None]:
    def main() -> None:
        raise error

    return main


@pytest.mark.parametrize("kind", [GuideError, InputError, BundleError, OutputError])
def test_guide_errors_become_one_sentence_and_code_2(
    kind: type[GuideError], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        run(raising(kind("expected a video, got a folder: name a file.")))
    out, err = capsys.readouterr()
    assert left.value.code == FAULT
    assert (out, err) == ("", "expected a video, got a folder: name a file.\n")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EACCES, "permission was refused"),
        (errno.EROFS, "read-only"),
        (errno.ENOENT, "does not exist"),
        (errno.ENAMETOOLONG, "too long"),
        (errno.ELOOP, "circle"),
        (errno.EMFILE, "too many files"),
        (errno.EIO, "could not be read or written"),
        (errno.ENODEV, "raw words"),
    ],
)
def test_operating_system_errors_become_one_sentence(code: int, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        run(raising(OSError(code, "raw words", "out/bundle")))
    err = capsys.readouterr().err
    assert left.value.code == FAULT
    assert words in err
    assert "out/bundle" in err
    assert err.count("\n") == 1


def test_an_error_without_a_path_still_makes_a_sentence() -> None:
    assert sentence(OSError(errno.ENOSPC, "raw")).startswith("cannot go on: the disk is full;")


def test_ctrl_c_ends_quietly(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        run(raising(KeyboardInterrupt()))
    assert left.value.code == INTERRUPTED
    assert capsys.readouterr().err == "Stopped.\n"


def test_a_closed_pipe_is_no_fault(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        run(raising(BrokenPipeError(errno.EPIPE, "Broken pipe")))
    assert left.value.code == PIPE_CLOSED
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("error", [ZeroDivisionError(), OSError("of our own making")])
def test_our_own_faults_pass_through(error: Exception) -> None:
    with pytest.raises(type(error)):
        run(raising(error))


def test_entry_hands_over_the_parsed_config() -> None:
    got: list[int] = []
    entry(Config, lambda config: got.append(config.slices), args=["--slices", "5"])
    assert got == [5]


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--slices", "--slices is a whole number, got 'many': "),
        ("--loaves", "--loaves is a whole number or auto, got 'many': "),
        ("--grams", "--grams is a number, got 'many': "),
    ],
)
def test_a_value_of_the_wrong_kind_is_one_sentence(option: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        entry(Config, lambda config: None, args=[option, "many"])
    err = capsys.readouterr().err
    assert left.value.code == FAULT
    assert err.startswith(words)
    assert err.endswith("--help.\n")
    assert err.count("\n") == 1


def test_an_unknown_option_exits_with_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        entry(Config, lambda config: None, args=["--crumbs", "3"])
    assert left.value.code == FAULT
    assert "--crumbs" in capsys.readouterr().err


def test_help_is_the_docstrings(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        entry(Config, lambda config: None, args=["--help"])
    assert left.value.code == 0
    assert "How many slices to cut." in capsys.readouterr().out

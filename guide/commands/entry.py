"""How every command starts and ends: options from a dataclass; one sentence and code 2 when a user can put it right."""

from __future__ import annotations

import errno
import io
import os
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any, TypeVar

import tyro

from guide.errors import GuideError, InputError

FAULT = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells report it
PIPE_CLOSED = 141  # 128 + SIGPIPE: the reader (head, less) went away

Config = TypeVar("Config")

_ADVICE = {
    errno.ENOSPC: ("the disk is full", "free some space or choose another folder"),
    errno.EDQUOT: ("the disk quota is used up", "free some space or choose another folder"),
    errno.EACCES: ("permission was refused", "choose a place this user may read and write"),
    errno.EPERM: ("permission was refused", "choose a place this user may read and write"),
    errno.EROFS: ("the file system is read-only", "choose a folder that can be written"),
    errno.ENOENT: ("it does not exist", "check the path"),
    errno.ENOTDIR: ("a folder was expected, a file was found", "check the path"),
    errno.EISDIR: ("a file was expected, a folder was found", "check the path"),
    errno.EEXIST: ("something of that name already exists", "choose another name"),
    errno.ENAMETOOLONG: ("the name is too long", "choose a shorter one"),
    errno.ELOOP: ("its links lead in a circle", "check the path"),
    errno.EMFILE: ("too many files are open", "raise the limit (ulimit -n) and try again"),
    errno.EIO: ("it could not be read or written", "check the disk or the device and try again"),
}


def entry(config_type: type[Config], action: Callable[[Config], None], args: Sequence[str] | None = None) -> None:
    """Read `config_type` from the command line (or `args`) and run `action` on it.

    The docstrings of the dataclass and its fields are the help text. A wrong option exits with code 2.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Greeting:
    ...     name: str = "world"
    >>> entry(Greeting, lambda config: print("hello", config.name), args=["--name", "you"])
    hello you
    """
    given = sys.argv[1:] if args is None else args
    run(lambda: action(read_options(config_type, given, _program())))


def read_options(config_type: Any, args: Sequence[str], program: str, command: str = "") -> Any:
    """The options that `args` give; a value of the wrong kind is an InputError, other mistakes exit with code 2.

    `command` is the subcommand they are for, whose help is named.
    """
    told = io.StringIO()
    try:
        with redirect_stderr(told):
            return tyro.cli(config_type, args=args, prog=program)
    except SystemExit as left:
        said, help_ = told.getvalue(), f"{program} {command} --help" if command else f"{program} --help"
        if left.code == FAULT and (wrong := _WRONG_VALUE.search(" ".join(re.sub("[│─]", " ", said).split()))):
            raise InputError(f"{wrong[1]} is {_kind(wrong[3])}, got {wrong[2]}: correct it, or see {help_}.") from None
        room = " " * (len(help_) - len(f"{program} --help"))  # the box around it stays a box
        sys.stderr.write(said.replace(f"{program} --help{room}", help_).replace(f"{program} --help", help_))
        raise


_WRONG_VALUE = re.compile(r"Error parsing (\S+): .*?('[^']*').*? Argument helptext: \S+ (\S+)")
_KINDS = {"INT": "a whole number", "N": "a whole number", "FLOAT": "a number"}


def _kind(metavar: str) -> str:
    """What an option takes, in words.

    >>> _kind("{None}|INT|{auto}"), _kind("FLOAT")
    ('a whole number or auto', 'a number')
    """
    kinds = [kind.strip("{}") for kind in metavar.split("|")]
    return " or ".join(_KINDS.get(kind, kind) for kind in kinds if kind != "None")


def _program() -> str:
    """What the user typed, `python -m NAME`; the help would name a file otherwise."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    return f"python -m {spec.name.removesuffix('.__main__')}" if spec is not None else Path(sys.argv[0]).name


def run(main: Callable[[], None]) -> None:
    """Run `main`; what a user can put right becomes one sentence on stderr and exit code 2, never a traceback.

    Raises SystemExit: 2 after a GuideError or a path that cannot be read or written, 130 after Ctrl-C,
    141 when the reader of our output went away. Anything else is our own fault and passes through.
    """
    try:
        main()
        sys.stdout.flush()
    except GuideError as error:
        _leave(str(error), FAULT)
    except KeyboardInterrupt:
        _leave("Stopped.", INTERRUPTED)
    except BrokenPipeError:
        _silence_stdout()
        raise SystemExit(PIPE_CLOSED) from None
    except OSError as error:
        if error.errno is None:  # no word from the operating system: raised by a program, not met by a user
            raise
        _leave(sentence(error), FAULT)


def sentence(error: OSError) -> str:
    """One sentence for an operating system error: which path, what is wrong with it, what to do next.

    >>> sentence(PermissionError(errno.EACCES, "Permission denied", "/srv/out"))
    'cannot use /srv/out: permission was refused; choose a place this user may read and write.'
    """
    what, todo = _ADVICE.get(error.errno or 0, (error.strerror or str(error), "check the path and try again"))
    place = f"cannot use {error.filename}" if error.filename is not None else "cannot go on"
    return f"{place}: {what}; {todo}."


def _leave(message: str, code: int) -> None:
    sys.stderr.write(message.rstrip() + "\n")
    raise SystemExit(code)


def _silence_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's last flush does not complain about the closed pipe."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # stdout is not a real file (a test captures it): nothing to silence
        return

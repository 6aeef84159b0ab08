"""Reference pages that are made from the code when the site is built, so that they say what the code does.

A page in docs/reference holds a mark such as `<!-- from the code: commands -->`, which is replaced.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.util
import inspect
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args
from unittest import mock

import tyro

import guide
import offline
from guide.commands import entry, registry, replay
from guide.serve.metrics import COUNTS, GAUGES, STAGES
from guide.settings import LiveSettings
from offline.config import PRESETS, Recipe

MARK = re.compile(r"^<!-- from the code: (\w+) -->$", re.MULTILINE)
WIDTH = 78
LEARNING = ("offline.train", "offline.score", "offline.demo")
EXIT_CODES = {
    0: "done; also when a live session ends properly (Ctrl-C, `q`, a camera that stays away)",
    replay.DIFFERS: "`replay`: the session gives other alerts than were recorded",
    entry.FAULT: "something you can put right; one sentence on stderr says what was expected, what came, what to do",
    entry.INTERRUPTED: "stopped by Ctrl-C on a recording or while learning",
    entry.PIPE_CLOSED: "the program that read our output went away (`head`, `less`)",
}


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Each mark's text in its place."""
    return MARK.sub(lambda match: PARTS[match[1]](), markdown)


def live_commands() -> str:
    """Every command of `python -m guide`, as it explains itself."""
    names = [annotated.__metadata__[0].name for annotated in get_args(registry.Command)]
    prog = "python -m guide"
    return "\n".join(_section(f"guide {name}", help_of(registry.Command, prog, [name])) for name in names)


def learning_commands() -> str:
    return _modules(LEARNING)


def study_commands() -> str:
    """The commands of `offline.study` and the benchmarks of the live side."""
    places = [(offline, "study"), (guide, "benchmarks")]
    return _modules([name for package, folder in places for name in _with_entry(package, folder)])


def live_settings() -> str:
    words = words_of(LiveSettings)
    rows = [(f"`{_option(one.name)}`", _shown(one.default), words[one.name]) for one in fields(LiveSettings)]
    return _table(("option", "default", "what it does"), rows)


def recipe() -> str:
    """Every value that decides what is learned, under both presets."""
    words, both = words_of(Recipe), [PRESETS["default"], PRESETS["paper"]]
    rows = [
        (f"`{one.name}`", *(_shown(getattr(preset, one.name)) for preset in both), words[one.name])
        for one in fields(Recipe)
    ]
    return _table(("key", "default", "paper", "what it does"), rows)


def metrics() -> str:
    """Everything that `/metrics` may say, with its labels."""
    rows = [(f"`{name}`", "counter", ", ".join(labels), words) for name, (words, labels) in COUNTS.items()]
    rows += [(f"`{name}`", "gauge", ", ".join(labels), words) for name, (words, labels) in GAUGES.items()]
    rows.append((f"`{STAGES[0]}`", "histogram", ", ".join(STAGES[2]), STAGES[1]))
    return _table(("name", "kind", "labels", "what it says"), rows)


def exit_codes() -> str:
    return _table(("code", "meaning"), [(str(code), words) for code, words in EXIT_CODES.items()])


PARTS: dict[str, Callable[[], str]] = {
    one.__name__: one
    for one in (live_commands, learning_commands, study_commands, live_settings, recipe, metrics, exit_codes)
}


def help_of(options: Any, prog: str, args: Sequence[str] = ()) -> str:
    """What a command prints for --help.

    >>> help_of(registry.Command, "python -m guide", ["show"]).splitlines()[0]
    'usage: python -m guide show [-h] [PATH]'
    """
    said = io.StringIO()
    with (
        mock.patch.dict("os.environ", {"COLUMNS": str(WIDTH), "NO_COLOR": "1", "TERM": "dumb"}),
        contextlib.redirect_stdout(said),
        contextlib.suppress(SystemExit),
    ):
        tyro.cli(options, prog=prog, args=[*args, "--help"])
    return "\n".join(line.rstrip() for line in said.getvalue().splitlines()).strip()


def words_of(settings: type) -> dict[str, str]:
    """What stands under each field of a dataclass.

    >>> words_of(LiveSettings)["window_frames"]
    'Newest frames that are labelled together.'
    """
    body = ast.parse(inspect.getsource(settings)).body[0]
    assert isinstance(body, ast.ClassDef)
    found = {}
    for one, after in pairwise(body.body):
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and isinstance(after, ast.Expr):
            found[one.target.id] = " ".join(ast.literal_eval(after.value).split())
    return found


def _modules(names: Sequence[str]) -> str:
    return "\n".join(_section(name, help_of(_options(name), f"python -m {name}")) for name in names)


def _options(name: str) -> Any:
    """The dataclass that a module gives to `entry`."""
    module = importlib.import_module(name if _is_file(name) else f"{name}.__main__")
    return getattr(module, next(_entries(Path(str(module.__file__)))))


def _is_file(name: str) -> bool:
    spec = importlib.util.find_spec(name)
    return spec is not None and spec.submodule_search_locations is None


def _with_entry(package: Any, folder: str) -> Iterator[str]:
    """The names of the modules in a folder that are commands."""
    root = Path(package.__path__[0])
    for path in sorted((root / folder).rglob("*.py")):
        if any(_entries(path)):
            parts = path.relative_to(root.parent).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__main__" else parts)


def _entries(path: Path) -> Iterator[str]:
    """The first argument of each call of `entry` in a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Call(func=ast.Name(id="entry"), args=[ast.Name(id=options), *_]):
                yield options


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n```text\n{text}\n```\n"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)

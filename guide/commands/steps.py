"""`python -m guide steps`: a procedure from a written list or from sequences of steps, guided by hand, unrecorded."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from guide import __version__
from guide.bundle import new_bundle, read_bundle, write_manifest
from guide.commands.order import read_sequences
from guide.errors import InputError
from guide.ingest.base import NO_PICTURES
from guide.manifest import LIST
from guide.procedure.export import to_dot, to_plain
from guide.procedure.model import Procedure
from guide.procedure.scores import learn_names
from guide.procedure.written_list import read_list
from guide.session import BY_HAND_RATE
from guide.words import count_of

MOST_BYTES = 1_000_000
CSV_SUFFIXES = (".csv", ".tsv")
SEQUENCES = ".jsonl"


@dataclass(frozen=True)
class StepsOptions:
    """Make a procedure from a written list of steps, or from recorded sequences; an operator then marks each step
    as done."""

    file: Annotated[Path, tyro.conf.Positional]
    """Plain text with one step per line, groups indented under "any order:" or "one of:", "(optional)" after a step; or
    CSV with the column step and optional columns group, instead and optional; or JSON lines of correct sequences, as
    `guide order` reads them, from which orders, variants and what comes next are learned."""
    out: Annotated[Path, tyro.conf.arg(metavar="DIR")]
    """Where the procedure goes, such as exported/pump."""


def main(options: StepsOptions) -> None:
    """Runs the command."""
    console = Console(highlight=False, markup=False)
    is_learned = options.file.suffix.lower() == SEQUENCES
    procedure = learn_file(options.file) if is_learned else read_list_file(options.file)
    write_list_bundle(procedure, options.out)
    console.print(f"wrote {options.out}: {count_of(len(procedure.steps), 'step')}", soft_wrap=True)
    console.print(f"next: python -m guide watch {NO_PICTURES} --bundle {options.out}", soft_wrap=True)


def learn_file(path: Path) -> Procedure:
    """The procedure of right sequences in a file, without limits on durations: a step marked as done has none."""
    procedure = learn_names(read_sequences(path))
    if not procedure.steps:
        raise InputError(f"steps were expected in {path}, its sequences hold none: give others.")
    return replace(procedure, rules=replace(procedure.rules, longest_s=(), shortest_s=()))


def read_list_file(path: Path) -> Procedure:
    """The procedure of a list in a file; InputError in one sentence where there is none."""
    try:
        data = path.read_bytes() if path.stat().st_size <= MOST_BYTES else None
        text = "" if data is None else data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        cause = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise InputError(f"{path} should be a readable list of steps, but {cause}: name another file.") from error
    if data is None:
        raise InputError(f"{path} should be a list of steps, it has more than {MOST_BYTES} bytes: name another file.")
    return read_list(text, str(path), is_csv=path.suffix.lower() in CSV_SUFFIXES)


def write_list_bundle(procedure: Procedure, out: Path) -> None:
    """A bundle that holds the procedure and no networks."""
    if (out / "manifest.json").is_file() and read_bundle(out).facts.get("input") != {"kind": LIST}:
        raise InputError(f"{out} was learned from recordings, a list would take its place: choose another --out.")
    with new_bundle(out) as folder:
        plain = json.dumps(to_plain(procedure), ensure_ascii=False, indent=1, allow_nan=False)
        (folder / "procedure.json").write_text(plain + "\n", encoding="utf-8")
        (folder / "procedure.dot").write_text(to_dot(procedure), encoding="utf-8")
        program = f"cnc-guide {__version__}"
        facts = {"name": out.name, "program": program, "input": {"kind": LIST}, "rate": BY_HAND_RATE, "recordings": []}
        write_manifest(folder, facts)

"""The folder that is written: whole or not at all, and never over something else."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from guide.errors import InputError, OutputError

MARK = "counterfactual.json"  # says what the folder is and how it was made; written last
LIVE = "live"
TRUTH = "truth.json"


@contextmanager
def new_folder(out: Path, facts: Mapping[str, object]) -> Iterator[Path]:
    """A place to write `live/` and truth.json to, which becomes `out` at the end; an earlier result is replaced.

    Raises InputError where `out` holds anything else, OutputError where it cannot be written.
    """
    _refuse_strange(out)
    aside = out.with_name(f".{out.name}.new")
    try:
        shutil.rmtree(aside, ignore_errors=True)
        (aside / LIVE).mkdir(parents=True)
        yield aside
        write_json(aside / MARK, facts)
        shutil.rmtree(out, ignore_errors=True)
        aside.rename(out)
    except OSError as error:
        raise OutputError(
            f"cannot write {out} ({error.strerror or error}): give a writable --out with space."
        ) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def write_json(path: Path, content: Mapping[str, object]) -> None:
    """Writes a file of JSON that a person can read too."""
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _refuse_strange(out: Path) -> None:
    is_ours = not out.exists() or (out.is_dir() and ((out / MARK).is_file() or not any(out.iterdir())))
    if not is_ours:
        raise InputError(f"--out needs a new folder or an earlier result, {out} holds something else: give another.")

"""JSON from disk, with errors a user can act on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from guide.errors import InputError


def find_file(folder: Path, pattern: str) -> Path:
    """The one file in `folder` that fits `pattern`; raises InputError where there is none or more than one."""
    if not folder.is_dir():
        raise InputError(f"a data set folder was expected, {folder} is none: check the path.")
    files = sorted(folder.glob(pattern))
    if len(files) != 1:
        came = ", ".join(file.name for file in files) or "none"
        raise InputError(f"{folder} should hold one file {pattern}, found {came}: check the data set's layout.")
    return files[0]


def read_json(path: Path) -> Any:
    """What a JSON file holds; raises InputError where it is missing or damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        raise InputError(f"{path} was expected and is missing: check the data set's layout.") from error
    except (ValueError, RecursionError) as error:  # wrong letters, wrong form, endless numbers, brackets in brackets
        raise InputError(f"{path} should hold JSON and cannot be read ({error}): fetch the file again.") from error

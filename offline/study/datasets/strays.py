"""Label files that lie where nothing is read: named, so that none is dropped in silence."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

from offline.study.datasets.sequence import TaskSequences

MOST_NAMED: Final = 5
"""Strays told by name; of more the number."""
LARGEST_BYTES: Final = 2**20
"""An hour of dense labels is about 100 kB."""


def with_strays(
    tasks: dict[str, TaskSequences], folder: Path, read: Iterable[Path], is_label: Callable[[Path], bool]
) -> dict[str, TaskSequences]:
    """The tasks, the first of them saying which label files under `folder` are none of those that were `read`."""
    known = {path.resolve() for path in read}
    if not tasks:
        return tasks
    strays = [path for path in _files(folder) if path.resolve() not in known and _is_small(path) and is_label(path)]
    if not strays:
        return tasks
    words = [f"{path.relative_to(folder)}, which lies where no labels are looked for" for path in strays[:MOST_NAMED]]
    more = len(strays) - MOST_NAMED
    words += [f"{more} more such files"] if more > 0 else []
    first = next(iter(tasks))
    return tasks | {first: replace(tasks[first], unread=(*tasks[first].unread, *words))}


def _is_small(path: Path) -> bool:
    """Whether a file is as small as labels are: larger tables are not even opened."""
    return path.is_file() and path.stat().st_size <= LARGEST_BYTES


def _files(folder: Path) -> list[Path]:
    """Every file under a folder by its path; hidden ones and those behind linked folders left out."""
    found = []
    for place, subfolders, names in os.walk(folder):
        subfolders[:] = [name for name in subfolders if not name.startswith(".")]
        found += [Path(place) / name for name in names if not name.startswith(".")]
    return sorted(found)

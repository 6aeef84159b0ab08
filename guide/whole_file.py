"""Files that get their name only when they are whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A hidden file beside `path` to write, which takes its place at the end; if that fails, nothing is left of it.

    Its name ends as that of `path` does, and no two writers share one. Raises OSError like any writing.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "new" / "facts.json"
    >>> with whole_file(path) as unfinished:
    ...     _ = unfinished.write_text("{}")
    ...     path.exists()
    False
    >>> [one.name for one in path.parent.iterdir()]
    ['facts.json']
    """
    unfinished = path.with_name(f".{uuid4().hex}.part{path.suffix}")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield unfinished
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_whole(path: Path, text: str, newline: str | None = None) -> None:
    """Writes a text file that is never half there."""
    with whole_file(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8", newline=newline)

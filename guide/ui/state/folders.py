"""What every page needs before it shows anything: where things lie, and text that stays text.

No reader of bundles, pictures or videos is loaded here: the first page is to come soon.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

EXPORTED_VARIABLE, DEFAULT_EXPORTED = "CNC_EXPORTED", "exported"
RECORDINGS_VARIABLE, DEFAULT_RECORDINGS = "CNC_RECORDINGS", "recordings"
DEMO = "demo"
DEMOS = (DEMO, "demo-unlabelled")  # what `make demo` makes; the first is the one that guides
HOW_TO_MAKE_ONE = "make demo-bundle"  # what `make dashboard` does first; that would start a second dashboard
HOW_TO_SEE_THE_DEMO = (
    "Or see the demo: this command draws a small task and learns it, which takes several minutes. Then look again."
)
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&/^=\"'@])")


def exported_folder(environment: Mapping[str, str]) -> Path:
    """Where bundles are looked for: what CNC_EXPORTED names, else exported/.

    >>> exported_folder({"CNC_EXPORTED": "/srv/bundles"}), exported_folder({"CNC_EXPORTED": ""})
    (PosixPath('/srv/bundles'), PosixPath('exported'))
    """
    return Path(environment.get(EXPORTED_VARIABLE) or DEFAULT_EXPORTED)


def recordings_folder(environment: Mapping[str, str]) -> Path:
    """Where dropped recordings go, a folder a procedure: what CNC_RECORDINGS names, else recordings/.

    >>> recordings_folder({})
    PosixPath('recordings')
    """
    return Path(environment.get(RECORDINGS_VARIABLE) or DEFAULT_RECORDINGS)


def own_first(name: str) -> tuple[int, str]:
    """Where a procedure stands among others: by its name, the demo's last.

    >>> sorted(["demo-unlabelled", "lamp", "demo"], key=own_first)
    ['lamp', 'demo', 'demo-unlabelled']
    """
    return (DEMOS.index(name) + 1 if name in DEMOS else 0, name)


def list_bundles(exported: Path) -> tuple[Path, ...]:
    """The folders that hold bundles, sound or not, one's own first; hidden ones are bundles in the making."""
    try:
        found = (path for path in exported.iterdir() if path.is_dir() and not path.name.startswith("."))
        return tuple(sorted(found, key=lambda path: own_first(path.name)))
    except OSError:  # no such folder, or none we may look into: there is nothing to show
        return ()


def stamp(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Name, size and time of change of all files in a bundle: while it stays the same, so does the view."""
    found = []
    for path in sorted(folder.rglob("*")):
        try:
            stat = path.lstat()
        except OSError:  # it went away between listing and looking, as when a bundle is exported anew
            continue
        found.append((path.relative_to(folder).as_posix(), stat.st_size, stat.st_mtime_ns))
    return tuple(found)


def source_words(source: str) -> str:
    """A source as people call it: a camera that sends its pictures by its name alone.

    >>> source_words("headset:phone"), source_words("headset:helmet 2"), source_words("videos/new.mp4")
    ('the phone', 'helmet 2', 'videos/new.mp4')
    """
    name = source.removeprefix("headset:")
    return "the phone" if source == "headset:phone" else name or source


def plain(text: str) -> str:
    """`text` so that Markdown shows it letter by letter: no links, pictures, formulas or colours; one line.

    >>> print(plain("<b>*no*</b>"))
    \\<b\\>\\*no\\*\\<\\/b\\>
    """
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))

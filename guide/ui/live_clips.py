"""Moving pictures of the steps on the Live page: what is next, as it was done in the demonstrations.

They are made once for each version of a bundle, by a process of its own (`guide.ui.clips`), and kept among the
dashboard's own files. Until they are there, and where no video is at hand, the page shows the bundle's stills.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from guide.ui.server import FOLDER, PACKAGE, bundle_names

CLIPS, DONE = "clips", "done"
LARGEST_BYTES = 200_000
MOST_BYTES = 2_000_000  # of all clips of a bundle: they come with the page


@dataclass(frozen=True, slots=True)
class Clips:
    """The moving pictures (WebP) that are there, by step, and whether more are being made.

    >>> Clips({}, is_done=True).is_done
    True
    """

    pictures: Mapping[int, bytes]
    is_done: bool


class ClipKeeper:
    """Finds the clips of a bundle, and has them made once where there are none.

    >>> ClipKeeper(Path("no/such/folder"), Path("sessions")).look("box").is_done
    True
    """

    def __init__(self, exported: Path, data: Path) -> None:
        self._exported, self._data = exported, data
        self._processes: dict[Path, subprocess.Popen[bytes] | None] = {}

    def look(self, name: str) -> Clips:
        """What there is for the bundle of that name; the making of it is begun where nobody did."""
        if name not in bundle_names(self._exported):
            return Clips({}, is_done=True)
        folder = clips_folder(self._data, self._exported / name)
        if (folder / DONE).exists():
            return Clips(_read(folder), is_done=True)
        return Clips(_read(folder), is_done=not self._is_being_made(self._exported / name, folder))

    def _is_being_made(self, bundle: Path, folder: Path) -> bool:
        """Begins once for each version, whatever comes of it."""
        if folder not in self._processes:
            self._processes[folder] = _begin(bundle, folder)
        process = self._processes[folder]
        return process is not None and process.poll() is None


def clips_folder(data: Path, bundle: Path) -> Path:
    """Where the clips of a bundle lie: by its name, and a mark that changes with its version."""
    try:
        mark = hashlib.sha256((bundle / "manifest.json").read_bytes()).hexdigest()
    except OSError:
        mark = "0" * 12
    return data / FOLDER / CLIPS / f"{bundle.name}-{mark[:12]}"


def file_name(step: int) -> str:
    """
    >>> file_name(3)
    '03.webp'
    """
    return f"{step:02d}.webp"


def _read(folder: Path) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    left = MOST_BYTES
    for path in sorted(folder.glob("[0-9]*.webp")):
        try:
            size = path.stat().st_size
            if path.stem.isdecimal() and size <= min(left, LARGEST_BYTES):
                found[int(path.stem)] = path.read_bytes()
                left -= size
        except OSError:  # a newer version of the bundle took its place
            continue
    return found


def _begin(bundle: Path, folder: Path) -> subprocess.Popen[bytes] | None:
    """The process that makes the clips, none where the system gives none: the page does without."""
    command = [sys.executable, "-m", "guide.ui.clips", str(bundle), str(folder)]
    paths = os.pathsep.join(filter(None, (str(PACKAGE), os.environ.get("PYTHONPATH"))))
    quiet = subprocess.DEVNULL
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    try:
        process = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet, env=environment)
    except OSError:
        return None
    atexit.register(process.terminate)
    return process

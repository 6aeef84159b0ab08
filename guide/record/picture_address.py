"""Pictures of sessions at an address that all machines reach, such as s3://bucket/folder. The only home of fsspec.

A session writes its pictures to its folder. Once it is over they go to the address, and whoever shows them later brings
them back to the folder of the session there, from which they go again after a while.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from guide.errors import InputError, OutputError
from guide.whole_file import whole_file

try:
    import fsspec

    HAS_FSSPEC = True
except ImportError:  # the extra is not installed
    HAS_FSSPEC = False

VARIABLE: Final = "CNC_PICTURES"
SUFFIXES: Final = frozenset({".mp4", ".webm", ".jpg"})
SETTLED_S: Final = 600.0
"""Pictures stay in the folder for so long: their session may be gone on with, and they are looked at."""


def find_pictures() -> PictureAddress | None:
    """The address that the environment names (CNC_PICTURES); none is the folder.

    It is the same for all machines and commands, and may hold a password: an option would stand in the list of
    processes.
    """
    address = os.environ.get(VARIABLE)
    return PictureAddress(address) if address else None


class PictureAddress:
    """Where pictures of sessions that are over lie, each session's in a folder of its name.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "20300102-030405-00ff"
    >>> place.mkdir(); _ = (place / "still-1-step-2.jpg").write_bytes(b"jpeg")
    >>> address = PictureAddress("memory://doctest")
    >>> address.move(place), list(place.iterdir())
    (1, [])
    >>> address.fetch(place, ["still-1-step-2.jpg"]); (place / "still-1-step-2.jpg").read_bytes()
    b'jpeg'
    """

    def __init__(self, address: str) -> None:
        """Raises InputError without fsspec, or for an address that it does not know."""
        self.name = re.sub(r"//.*@", "//", address)  # without user and password
        if not HAS_FSSPEC:
            raise InputError(
                "pictures at an address need the package fsspec, which is not installed: pip install -e '.[fleet]'."
            )
        self._files: Any
        try:
            self._files, self._root = fsspec.url_to_fs(address, use_listings_cache=False)
        except ImportError as cause:  # its words name the package, such as s3fs
            raise InputError(f"pictures cannot be kept at {self.name}: {cause}.") from None
        except ValueError:
            raise InputError(f"{VARIABLE} is an address like s3://bucket/folder, got {self.name}: change it.") from None
        except Exception as cause:
            raise self._refusal(cause) from None

    def move(self, place: Path, before: float | None = None) -> int:
        """Moves the pictures in a session's folder, if all are older than the moment `before`; how many.

        What is there already, with the same size, is not sent again. One that another process of this machine moves or
        deletes meanwhile is passed over. Raises OutputError where the address refuses.
        """
        pictures = {path: found for path in list_pictures(place) if (found := _stat(path)) is not None}
        if not pictures or (before is not None and max(one.st_mtime for one in pictures.values()) >= before):
            return 0
        with self._explained():
            self._files.makedirs(self._at(place.name), exist_ok=True)
            for path, found in pictures.items():
                self._move_file(path, self._at(place.name, path.name), found.st_size)
        return len(pictures)

    def _move_file(self, path: Path, there: str, size: int) -> None:
        if not self._files.exists(there) or self._files.size(there) != size:
            try:
                self._files.put_file(str(path), there)
            except FileNotFoundError:
                if path.exists():
                    raise
                return
        if self._files.size(there) != size:
            raise OSError(f"{path.name} did not arrive as a whole")
        path.unlink(missing_ok=True)

    def fetch(self, place: Path, names: Sequence[str]) -> None:
        """Brings pictures to a session's folder that lack there; one that is nowhere is left out."""
        lacking = [name for name in names if Path(name).name == name and not (place / name).exists()]
        if not lacking:
            return
        with self._explained():
            place.mkdir(parents=True, exist_ok=True, mode=0o700)
            for name in lacking:
                with suppress(FileNotFoundError), whole_file(place / name) as unfinished:
                    self._files.get_file(self._at(place.name, name), str(unfinished))

    def delete(self, session: str) -> None:
        """Deletes the pictures of a session; raises OutputError where the address refuses."""
        with self._explained(), suppress(FileNotFoundError):
            self._files.rm(self._at(session), recursive=True)

    def _at(self, *names: str) -> str:
        return "/".join((self._root.rstrip("/"), *names))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except Exception as cause:  # each kind of store has errors of its own
            raise self._refusal(cause) from None

    def _refusal(self, cause: Exception) -> OutputError:
        """Its words may repeat the address with its password, so only its kind is told."""
        return OutputError(
            f"pictures at {self.name} cannot be reached ({type(cause).__name__}): check the address, what it asks for "
            "and the network."
        )


def _stat(path: Path) -> os.stat_result | None:
    """What is known of a file; nothing where it went meanwhile."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def list_pictures(place: Path) -> list[Path]:
    """The pictures in a session's folder."""
    try:
        return sorted(path for path in place.iterdir() if path.suffix in SUFFIXES and not path.name.startswith("."))
    except OSError:  # it left no files, or they are gone
        return []

"""A trained bundle on disk: its manifest, the checks it must pass, reading and writing.

A bundle is a folder of plain files (ONNX, npz without pickle, JSON, JPEG, PNG, CSV). The manifest names every file with
its size and hash; a bundle comes from outside, so nothing in it is trusted before it was checked.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from guide.errors import BundleError, OutputError

SCHEMA = 2
MANIFEST = "manifest.json"
LARGEST_FILE_BYTES = 5 * 1024**3  # 40 hours of demonstrations at 5 frames a second
LARGEST_JSON_BYTES = 8 * 1024**2
MOST_PICTURE_PIXELS = 2**24  # a file of 500 bytes can claim a thousand million
# A name, or one folder and a name; nothing hidden, no way up, nothing a file system could take for something else.
_PART = r"[^./\\:\x00-\x1f][^/\\:\x00-\x1f]*"
_NAME = re.compile(rf"(?:{_PART}/)?{_PART}")
# What numpy and zipfile raise on damaged, forged and locked archives.
_UNREADABLE = (OSError, ValueError, EOFError, KeyError, RuntimeError, MemoryError, zipfile.BadZipFile, zlib.error)

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Bundle:
    """A checked bundle: its folder and what its manifest says.

    >>> Bundle(Path("exported/demo"), {"rate": 5.0}).facts["rate"]
    5.0
    """

    folder: Path
    facts: Json

    @property
    def embedding_width(self) -> object:
        """How many numbers an embedding has, as the manifest says; it may say anything."""
        head = self.facts.get("head")
        return head.get("embedding_width") if isinstance(head, dict) else None

    def path(self, name: str) -> Path:
        """Where the file `name` lies; raises BundleError if the manifest does not list it."""
        if name not in self.facts.get("files", {}):
            raise BundleError(f"{self.folder} has no {name} in its manifest: train or export the bundle again.")
        return self.folder / name

    def has(self, name: str) -> bool:
        return name in self.facts.get("files", {})

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """The arrays of an npz file, all finite, without pickle."""
        return read_arrays(self.path(name))

    def json(self, name: str) -> Json:
        return _read_json(self.path(name))


def read_bundle(folder: Path) -> Bundle:
    """The bundle in `folder`, its schema, names, sizes and hashes checked."""
    if not folder.exists():
        raise BundleError(
            f"{folder} is no bundle, it does not exist: give the folder of one (--bundle where it is an option), learn "
            f"one with `python -m offline.train VIDEOS --out {folder}`, or make the demo's with `make demo`."
        )
    if not (folder / MANIFEST).is_file():
        raise BundleError(
            f"{folder} is no bundle (no {MANIFEST} in it): give the folder that `python -m offline.train --out` wrote."
        )
    facts = _read_json(folder / MANIFEST)
    if facts.get("schema") != SCHEMA:
        raise BundleError(
            f"{folder} has bundle schema {facts.get('schema')!r}, this program reads {SCHEMA}: learn the procedure "
            "again (python -m offline.train)."
        )
    files = facts.get("files")
    if not isinstance(files, dict) or not files:
        raise BundleError(f"{folder / MANIFEST} lists no files: train or export the bundle again.")
    for name, facts_of_file in files.items():
        _check_file(folder, name, facts_of_file)
    _check_recordings(folder, facts.get("recordings", []))
    return Bundle(folder, facts)


def fingerprint(bundle: Bundle) -> str:
    """A short name for exactly this bundle: the hash of its manifest's file list."""
    listing = json.dumps(bundle.facts["files"], sort_keys=True).encode()
    return hashlib.sha256(listing).hexdigest()[:16]


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """All arrays of an npz file; refuses pickled objects, damaged files and numbers that are not finite."""
    try:
        _require_room(path)
        with np.load(path, allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
    except _UNREADABLE as cause:
        raise BundleError(f"{path} is no readable npz file ({cause}): train or export the bundle again.") from cause
    for key, array in arrays.items():
        if not isinstance(array, np.ndarray):  # numpy hands over what is no array as bytes
            raise BundleError(f"{path} is no readable npz file ({key!r:.80} is no array): export the bundle again.")
        if array.dtype.kind in "fc" and not np.isfinite(array).all():
            raise BundleError(f"{path} holds numbers that are not finite in {key!r}: train or export the bundle again.")
    return arrays


def _require_room(path: Path) -> None:
    """Raises BundleError where an archive unpacks to more than itself: ours are not compressed, others swell."""
    with zipfile.ZipFile(path) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    if size > path.stat().st_size:
        raise BundleError(f"{path} unpacks to {size} bytes, more than it has itself: do not use this bundle.")


def require_place(folder: Path) -> None:
    """Raises OutputError where no bundle can be written, so that a command can say so before its long work."""
    standing = _standing(_place(folder))
    try:  # permissions alone do not tell: the file system itself may be read-only or none to write to
        with tempfile.TemporaryFile(dir=standing):
            pass
    except OSError as cause:
        raise OutputError(
            f"{folder} cannot be written ({cause.strerror} in {standing}): choose a folder you may write to."
        ) from cause


def _place(folder: Path) -> Path:
    """Where `folder` really lies, without links and ways up; raises OutputError where no bundle can be written."""
    place = Path(os.path.realpath(folder))
    # A bundle takes its folder's place whole: the folder that a command runs in would vanish under it.
    if not place.name or Path.cwd().is_relative_to(place):
        raise OutputError(f"{folder} holds the folder you are in: choose a folder of its own, such as exported/task.")
    if place.exists() and not place.is_dir():
        raise OutputError(f"{folder} is a file, a folder was expected: choose another place for the bundle.")
    if place.is_dir() and any(place.iterdir()) and not (place / MANIFEST).is_file():
        raise OutputError(f"{folder} holds other things than a bundle: choose an empty folder, nothing was touched.")
    standing = _standing(place)
    if not standing.is_dir() or not os.access(standing, os.W_OK):
        raise OutputError(f"{folder} cannot be written ({standing} refuses it): choose a folder you may write to.")
    return place


def _standing(place: Path) -> Path:
    """The nearest folder above that exists."""
    return next(above for above in place.parents if above.exists())


@contextmanager
def new_bundle(folder: Path) -> Iterator[Path]:
    """A fresh folder beside `folder` to write into; it takes the name `folder` only when the block ends well."""
    folder = _place(folder)
    aside = folder.with_name(f".{folder.name}.new")
    previous = folder.with_name(f".{folder.name}.old")
    try:
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
    except OSError as cause:
        raise OutputError(
            f"{folder} cannot be written ({cause.strerror}): choose a folder you may write to."
        ) from cause
    try:
        yield aside
        shutil.rmtree(previous, ignore_errors=True)
        if folder.exists():
            folder.rename(previous)
        aside.rename(folder)
        shutil.rmtree(previous, ignore_errors=True)
    except OSError as cause:
        raise OutputError(
            f"{folder} could not be written ({cause.strerror}): free some space and try again."
        ) from cause
    finally:
        if previous.exists() and not folder.exists():
            previous.rename(folder)
        shutil.rmtree(aside, ignore_errors=True)


def write_manifest(folder: Path, facts: Json) -> None:
    """The manifest of everything that lies in `folder`, with sizes and hashes."""
    names = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file() and p.name != MANIFEST)
    for name in names:
        _check_name(folder, name)
    files = {name: {"bytes": (folder / name).stat().st_size, "sha256": _hash(folder / name)} for name in names}
    text = json.dumps({"schema": SCHEMA, **facts, "files": files}, indent=1, sort_keys=True, allow_nan=False)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")


def _check_file(folder: Path, name: object, facts: object) -> None:
    path = folder / _check_name(folder, name)
    if not isinstance(facts, dict):
        raise BundleError(f"{folder / MANIFEST} says nothing of {name}: train or export the bundle again.")
    if not path.is_file():
        raise BundleError(f"{folder} lacks {name}, which its manifest lists: copy the whole folder again.")
    if path.is_symlink() or not path.resolve().is_relative_to(folder.resolve()):
        raise BundleError(f"{folder} holds a link that leads outside ({name}): do not use this bundle.")
    size = path.stat().st_size
    if size > LARGEST_FILE_BYTES:
        raise BundleError(
            f"{path} has {size} bytes, at most {LARGEST_FILE_BYTES} were expected: do not use this bundle."
        )
    if size != facts.get("bytes") or _hash(path) != facts.get("sha256"):
        raise BundleError(f"{path} is not the file its manifest describes: copy or export the bundle again.")
    if path.suffix in (".jpg", ".png"):
        _check_picture(path)


def _check_picture(path: Path) -> None:
    """Looks at the size that a picture claims; one that is none harms nobody."""
    try:
        with Image.open(path, formats=("JPEG", "PNG")) as picture:
            pixels = picture.width * picture.height
    except Image.DecompressionBombError:
        pixels = MOST_PICTURE_PIXELS + 1
    except (OSError, SyntaxError, ValueError):
        return
    if pixels > MOST_PICTURE_PIXELS:
        raise BundleError(f"{path} has more than {MOST_PICTURE_PIXELS} pixels: do not use this bundle.")


def _check_recordings(folder: Path, ids: object) -> None:
    """Recordings have file names: label files are named after them."""
    if not isinstance(ids, list) or not all(isinstance(one, str) for one in ids):
        raise BundleError(f"{folder / MANIFEST} should list recordings by name: train or export the bundle again.")
    for one in ids:
        if "/" in _check_name(folder, one):
            raise BundleError(
                f"{folder / MANIFEST} names a recording like a path ({one!r:.80}): do not use this bundle."
            )


def _check_name(folder: Path, name: object) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise BundleError(
            f"{folder / MANIFEST} names a file that is not allowed ({name!r:.80}): do not use this bundle."
        )
    return name


def _hash(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _read_json(path: Path) -> Json:
    try:
        if path.stat().st_size > LARGEST_JSON_BYTES:
            raise BundleError(f"{path} is far larger than any we write: do not use this bundle.")
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except (OSError, ValueError, RecursionError) as cause:
        raise BundleError(f"{path} is no readable JSON object ({cause}): copy or export the bundle again.") from cause

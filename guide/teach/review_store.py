"""Where a review lies between two looks at it: edits not yet taught, labels given, drafts and kept versions.

Everything is beside the bundles in a hidden folder, so that no list of bundles shows it, and training a bundle anew
leaves it alone.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from guide.bundle import MANIFEST, Bundle, fingerprint, read_bundle
from guide.domain import Segment
from guide.errors import BundleError, GuideError, InputError, OutputError
from guide.teach.annotations import write_labels
from guide.teach.edited import Review, segments_of
from guide.teach.edits import Edit, Label, from_plain, to_plain
from guide.teach.relearn import NO_VIDEOS, Relearned, copy_bundle, told_of, version_of, write_version
from guide.whole_file import write_whole

HOME = ".review"
_EDITS, _VIDEOS = "edits.json", "videos.json"


@dataclass(frozen=True, slots=True)
class Version:
    """A kept version of a bundle: its number, where it lies, what was changed to get there, its fingerprint.

    >>> Version(1, Path("exported/.review/box/versions/0001"), (), "f00").number
    1
    """

    number: int
    folder: Path
    told: tuple[str, ...]
    fingerprint: str


@dataclass(frozen=True, slots=True)
class ReviewStore:
    """The review of the bundle in `bundle`.

    >>> ReviewStore(Path("exported/box")).folder
    PosixPath('exported/.review/box')
    """

    bundle: Path

    @property
    def folder(self) -> Path:
        return self.bundle.parent / HOME / self.bundle.name

    @property
    def draft(self) -> Path:
        """Where a version is written that is not live yet."""
        return self.folder / "draft"

    @property
    def labels(self) -> Path:
        """The folder of label files, as `offline.train --labels` reads them."""
        return self.folder / "labels"

    def edits(self) -> tuple[Edit, ...]:
        """The edits that wait to be taught; those of another state of the bundle are forgotten."""
        plain = _json(self.folder / _EDITS)
        if plain.get("of") != self._state() or not isinstance(plain.get("edits"), list):
            return ()
        try:
            return tuple(from_plain(edit) for edit in plain["edits"])
        except InputError:
            return ()

    def keep_edits(self, edits: Sequence[Edit]) -> None:
        """Keeps the edits until they are taught."""
        self._write(_EDITS, {"of": self._state(), "edits": [to_plain(edit) for edit in edits]})

    def videos(self) -> str:
        """The folder in which the demonstrations' videos were said to lie, or nothing."""
        return str(_json(self.folder / _VIDEOS).get("folder", ""))

    def keep_videos(self, folder: str) -> None:
        self._write(_VIDEOS, {"folder": folder})

    def keep_labels(self, recording: str, segments: Sequence[Segment], names: Mapping[int, str]) -> Path:
        """Writes the labels of a recording as a file for training and other programs; says where."""
        self._make(self.labels)
        path = self.labels / f"{recording}.csv"
        write_labels(path, segments, names)
        return path

    def sync_labels(self, before: Review, after: Review) -> None:
        """Makes label files say what the review says, of every recording that an edit labelled or labels no more."""
        items, result = after.demonstrations.items, after.result
        touched = {edit.recording for edit in (*before.edits, *after.edits) if isinstance(edit, Label)}
        segments = segments_of(result, after.demonstrations)
        for place, one in enumerate(items):
            if one.id in touched and place in result.labelled:
                self.keep_labels(one.id, segments[place], result.names)
            elif one.id in touched:
                (self.labels / f"{one.id}.csv").unlink(missing_ok=True)

    def write_draft(self, bundle: Bundle, review: Review, taught: Relearned, videos: Mapping[str, Path]) -> Bundle:
        """The new version, beside the live one."""
        self._make(self.folder)
        number = max([self.number_of(bundle), *(version.number for version in self.versions())]) + 1
        return write_version(bundle, review, taught, self.draft, videos, number)

    def read_draft(self) -> Bundle | None:
        """The version that is not live yet, none where there is none that is sound."""
        try:
            return read_bundle(self.draft)
        except GuideError:
            return None

    def publish(self) -> Bundle:
        """Makes the draft live; what was live is kept as a version."""
        draft = self.read_draft()
        if draft is None:
            raise BundleError(f"{self.draft} holds no version to go live with: relearn first.")
        return self._go_live(draft)

    def forget_draft(self) -> None:
        shutil.rmtree(self.draft, ignore_errors=True)

    def versions(self) -> tuple[Version, ...]:
        """The kept versions, the newest first."""
        found = []
        for folder in sorted(self._versions.glob("[0-9]*"), reverse=True):
            bundle = Bundle(folder, _json(folder / MANIFEST))  # checked when it is restored
            if folder.name.isdecimal() and isinstance(bundle.facts.get("files"), dict):
                found.append(Version(int(folder.name), folder, told_of(bundle), fingerprint(bundle)))
        return tuple(found)

    def number_of(self, bundle: Bundle) -> int:
        """Which version a bundle is: the kept one that is the same, else its own number or the next that is free."""
        kept = {version.fingerprint: version.number for version in self.versions()}
        if (same := kept.get(fingerprint(bundle))) is not None:
            return same
        own = version_of(bundle)
        return own if own not in kept.values() else max(kept.values()) + 1

    def restore(self, number: int) -> Bundle:
        """Makes a kept version live again; what was live is kept."""
        return self._go_live(read_bundle(self._versions / f"{number:04d}"))

    def _go_live(self, bundle: Bundle) -> Bundle:
        self.keep_live()
        copy_bundle(bundle, self.bundle)
        self.forget_draft()
        (self.folder / _EDITS).unlink(missing_ok=True)
        return read_bundle(self.bundle)

    @property
    def _versions(self) -> Path:
        return self.folder / "versions"

    def keep_live(self) -> None:
        """Keeps what is live as a version, unless it is kept already; a number that is taken is not given out again."""
        bundle = read_bundle(self.bundle)
        place = self._versions / f"{self.number_of(bundle):04d}"
        if not place.exists():
            self._make(self._versions)
            copy_bundle(bundle, place)

    def _state(self) -> str:
        """Names what is live: edits belong to it alone."""
        try:
            stat = (self.bundle / MANIFEST).stat()
        except OSError:
            return ""
        return f"{stat.st_size}-{stat.st_mtime_ns}"

    def _write(self, name: str, plain: Mapping[str, Any]) -> None:
        self._make(self.folder)
        try:
            write_whole(self.folder / name, json.dumps(plain, ensure_ascii=False))
        except OSError as cause:
            raise OutputError(f"{self.folder} cannot be written ({cause.strerror}): free some space there.") from cause

    def _make(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as cause:
            raise OutputError(f"{folder} cannot be made ({cause.strerror}): check who may write there.") from cause


def _json(path: Path) -> dict[str, Any]:
    """An object of a file of ours, empty where there is none."""
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return plain if isinstance(plain, dict) else {}


def teach_in_place(
    store: ReviewStore, bundle: Bundle, review: Review, taught: Relearned, videos: Mapping[str, Path] = NO_VIDEOS
) -> Bundle:
    """The new version live at once; what was live is kept."""
    store.write_draft(bundle, review, taught, videos)
    return store.publish()

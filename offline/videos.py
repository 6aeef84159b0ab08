"""What comes in: videos, folders of pictures and precomputed features, found, named and checked before any work."""

from __future__ import annotations

import glob
import logging
import math
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from guide.errors import InputError
from guide.ingest.files import VideoFile
from guide.ingest.stills import StillFolder, list_stills

log = logging.getLogger(__name__)

Kind = Literal["video", "stills", "features"]

VIDEO_SUFFIXES = frozenset(
    {".mp4", ".m4v", ".mkv", ".mov", ".avi", ".webm", ".mpg", ".mpeg", ".ts", ".mts", ".m2ts", ".3gp", ".wmv", ".ogv"}
)
FEATURE_SUFFIXES = frozenset({".npy", ".npz"})
LEAST_FRAMES = 64  # the working rate rises until each recording gives as many
_UNFIT = re.compile(r"^\.|[\\/:\x00-\x1f\ud800-\udfff]")  # the last are bytes of a file name that is no UTF-8
CHECKED_ROWS = 4096  # rows of a feature file looked at in one go, so that a long one needs little memory
LARGEST_FEATURE = 1e12  # squares and their sums still fit into float32, which networks compute in


@dataclass(frozen=True, slots=True)
class Recording:
    """One demonstration on disk. `rate` is frames (or feature rows) per second where the file does not say it.

    >>> Recording("helmet", Path("helmet.mp4"), "video").id
    'helmet'
    """

    id: str
    path: Path
    kind: Kind
    rate: float | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """The recordings among the inputs, and how many other files were ignored.

    >>> Found((), ignored=3).ignored
    3
    """

    recordings: tuple[Recording, ...]
    ignored: int


@dataclass(frozen=True, slots=True)
class RecordingFacts:
    """How much a recording holds: frames or rows, seconds from first to last, and the width of feature rows.

    >>> table = Recording("a", Path("a.npy"), "features", 1.0)
    >>> RecordingFacts(table, frames=61, duration_s=60.0, rate=1.0, width=8).width
    8
    """

    recording: Recording
    frames: int
    duration_s: float
    rate: float
    width: int | None = None


@dataclass(frozen=True, slots=True)
class Examined:
    """The recordings that can be used, and a sentence for each that cannot.

    >>> Examined((), ("helmet.mp4 is empty",)).problems
    ('helmet.mp4 is empty',)
    """

    good: tuple[RecordingFacts, ...]
    problems: tuple[str, ...]


def ends_of(facts: Sequence[RecordingFacts]) -> dict[str, float]:
    """When each recording ends, by its id: a frame after the last one was taken."""
    return {one.recording.id: one.duration_s + 1 / one.rate for one in facts}


def find_recordings(inputs: Sequence[str], rate: float | None = None) -> Found:
    """The recordings that files, folders and globs name, with unique ids (the stem of the name).

    A folder gives the videos lying in it, else the feature files, else its pictures as one recording; then the same
    for each of its sub-folders, one level deep (their pictures count only where the folder itself gave nothing).
    Any other file is ignored and counted; label files are never opened here. `rate` is for pictures and `.npy`.
    """
    if rate is not None and not (math.isfinite(rate) and rate > 0):
        raise InputError(f"--rate must be a positive number per second, got {rate}.")
    found: list[Recording] = []
    ignored = 0
    for text in inputs:
        for path in _expand(text):
            more, passed_over = _from_folder(path) if path.is_dir() else _from_file(path)
            found += more
            ignored += passed_over
    recordings = _named(_without_twins(found))
    _require_one_kind(recordings)
    return Found(tuple(_with_rate(recording, rate) for recording in recordings), ignored)


def examine(recording: Recording) -> RecordingFacts:
    """How much the recording holds; raises InputError naming it when it cannot be learnt from."""
    if recording.kind == "features":
        features, rate = read_feature_file(recording)
        return RecordingFacts(recording, len(features), (len(features) - 1) / rate, rate, features.shape[1])
    if recording.kind == "stills":
        folder = open_frames(recording)
        assert isinstance(folder, StillFolder)
        frames, rate = len(folder.pictures), folder.rate
        duration_s = (frames - 1) / rate
    else:
        facts = VideoFile(recording.path).facts()
        frames, duration_s, rate = facts.frames, facts.duration_s, facts.rate
    if frames < 2:
        raise InputError(f"a recording needs at least 2 frames, but {recording.path} has {frames}: leave it out.")
    if duration_s <= 0:
        raise InputError(
            f"frames must follow one another in time, but all {frames} of {recording.path} have one timestamp: "
            "convert it or leave it out."
        )
    return RecordingFacts(recording, frames, duration_s, rate)


def examine_all(recordings: Sequence[Recording], skip_bad: bool = False) -> Examined:
    """Examines each recording; one that cannot be used is an InputError unless `skip_bad`, then among the problems."""
    good: list[RecordingFacts] = []
    problems: list[str] = []
    for recording in recordings:
        try:
            good.append(examine(recording))
        except InputError as error:
            problems.append(str(error))
    if problems and not skip_bad:
        more = f" ({len(problems) - 1} more cannot be used either)" if len(problems) > 1 else ""
        raise InputError(f"{problems[0]} Or give --skip-bad to go on without it{more}.")
    _require_agreement(good)
    return Examined(tuple(good), tuple(problems))


def require_enough(count: int, ignored: int = 0, fewest: int = 2) -> None:
    """Raises InputError unless there are recordings enough to compare with one another."""
    if count < fewest:
        other = f" ({ignored} other files were ignored)" if ignored else ""
        raise InputError(
            f"learning compares recordings with one another and needs at least {fewest}, got {count}{other}: "
            "add recordings of the same task."
        )


def working_rate(facts: Sequence[RecordingFacts], asked: float, fewest: int = LEAST_FRAMES) -> float:
    """The rate at which every recording gives at least `fewest` frames, and at least the rate asked for.

    A recording that holds fewer frames in all asks for its own rate and no more. Rounded up to a tenth. Where all
    recordings are slower than the rate asked for, it is that of the fastest: finders count frames by it.

    >>> short = RecordingFacts(Recording("a", Path("a.mp4"), "video"), frames=301, duration_s=10.0, rate=30.0)
    >>> working_rate([short], asked=2.0)
    6.4
    """
    asked = min(asked, max((fact.rate for fact in facts), default=asked))
    needed = [min(fewest / fact.duration_s, fact.rate) for fact in facts if fact.duration_s > 0]
    highest = max(needed, default=asked)
    return asked if highest <= asked else math.ceil(highest * 10 - 1e-9) / 10


def open_frames(recording: Recording) -> VideoFile | StillFolder:
    """The frames of a video or of a folder of pictures."""
    if recording.kind == "stills":
        assert recording.rate is not None, "find_recordings gives pictures a rate"
        return StillFolder(recording.path, recording.rate)
    return VideoFile(recording.path)


def read_feature_file(recording: Recording) -> tuple[NDArray[Any], float]:
    """Precomputed features (T, D), memory-mapped where the file allows, and their rows per second."""
    path = recording.path
    try:
        loaded = np.load(path, mmap_mode="r", allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            features, rate = loaded, recording.rate
        else:
            with loaded:
                features, rate = loaded["features"], float(loaded["rate"])
    except KeyError as error:
        raise InputError(f"{path} must hold the keys features and rate, but lacks one ({error}).") from error
    except (ValueError, OSError, EOFError, TypeError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(
            f"features were expected, but {path} cannot be read as a {path.suffix} file of numbers "
            f"({_why_unread(error)}): save it again with numpy."
        ) from error
    _check_features(path, features)
    if rate is None or not (math.isfinite(rate) and rate > 0):
        raise InputError(f"the features in {path} need a positive number of rows per second, got {rate}: use --rate.")
    return features, rate


def _why_unread(error: Exception) -> str:
    """What numpy says, less its advice to load what it takes for objects unsafely."""
    return "it holds no array of numbers" if "pickle" in str(error) else str(error)


def _check_features(path: Path, features: NDArray[Any]) -> None:
    if features.ndim != 2 or features.dtype.kind not in "fiu":
        raise InputError(
            f"features must be a table of numbers T x D, but {path} holds {features.dtype} of shape {features.shape}: "
            "save one row for each moment."
        )
    if len(features) < 2 or features.shape[1] < 1:
        raise InputError(
            f"a recording needs at least 2 rows of features, but {path} has shape {features.shape}: leave it out."
        )
    for start in range(0, len(features), CHECKED_ROWS):
        # Compared in float64: in a narrower type the limit itself would not fit.
        fits = (np.abs(features[start : start + CHECKED_ROWS], dtype=np.float64) <= LARGEST_FEATURE).all(axis=1)
        if not fits.all():
            row = start + int(np.argmin(fits))
            what = f"NaN or infinity, or a number beyond {LARGEST_FEATURE:g}"
            raise InputError(f"features must be finite, but row {row} of {path} holds {what}: repair it.")


def _require_agreement(facts: Sequence[RecordingFacts]) -> None:
    """Feature files of one task must have one width and one rate."""
    tables = [fact for fact in facts if fact.width is not None]
    for fact in tables[1:]:
        first = tables[0]
        if fact.width != first.width:
            raise InputError(
                f"all features must have one width, but {first.recording.path} has {first.width} columns and "
                f"{fact.recording.path} has {fact.width}: use features of one network."
            )
        if not math.isclose(fact.rate, first.rate, rel_tol=1e-6):
            raise InputError(
                f"all features must have one rate, but {first.recording.path} has {first.rate:g} rows per second and "
                f"{fact.recording.path} has {fact.rate:g}: compute them at one rate."
            )


def _expand(text: str) -> list[Path]:
    if Path(text).exists():
        return [Path(text)]
    if glob.has_magic(text):
        if matches := sorted(glob.glob(text, recursive=True)):
            return [Path(match) for match in matches]
        raise InputError(f"recordings were expected, but nothing matches {text}: check the pattern.")
    raise InputError(f"a recording was expected, but {text} does not exist: check the path.")


def _from_file(path: Path) -> tuple[list[Recording], int]:
    suffix = path.suffix.lower()
    if suffix in VIDEO_SUFFIXES:
        return [Recording(path.stem, path, "video")], 0
    if suffix in FEATURE_SUFFIXES:
        return [Recording(path.stem, path, "features")], 0
    log.info("%s is not a recording and is ignored", path)
    return [], 1


def _from_folder(folder: Path, depth: int = 1, takes_stills: bool = True) -> tuple[list[Recording], int]:
    entries = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    files = [path for path in entries if path.is_file()]
    found = [Recording(path.stem, path, "video") for path in files if path.suffix.lower() in VIDEO_SUFFIXES]
    if not found:
        found = [Recording(path.stem, path, "features") for path in files if path.suffix.lower() in FEATURE_SUFFIXES]
    ignored = len(files) - len(found)
    if not found and takes_stills and (stills := list_stills(folder)):
        found = [Recording(folder.resolve().name, folder, "stills")]
        ignored = len(files) - len(stills)
    takes_stills = takes_stills and not found
    for path in entries if depth else ():
        if path.is_dir():
            more, passed_over = _from_folder(path, depth - 1, takes_stills)
            found, ignored = found + more, ignored + passed_over
    return found, ignored


def _without_twins(found: Sequence[Recording]) -> list[Recording]:
    """Each file once, even when a folder and a file in it are both named."""
    first: dict[Path, Recording] = {}
    for recording in found:
        first.setdefault(recording.path.resolve(), recording)
    return list(first.values())


def _named(found: Sequence[Recording]) -> list[Recording]:
    """Unique ids: where two recordings share a stem, the folder's name goes before it, then a number after it.

    They become names of files in a bundle, so what no file system can be trusted with is replaced.
    """
    found = [replace(recording, id=_fit(recording.id)) for recording in found]
    counts = Counter(recording.id for recording in found)
    taken: set[str] = set()
    named: list[Recording] = []
    for recording in found:
        name = recording.id
        if counts[name] > 1:
            name = _fit(f"{recording.path.resolve().parent.name}_{name}")
        name = next(option for option in _numbered(name) if option not in taken)
        taken.add(name)
        named.append(replace(recording, id=name))
    return named


def _fit(name: str) -> str:
    return _UNFIT.sub("_", name)


def _numbered(name: str) -> Iterator[str]:
    yield name
    number = 1
    while True:
        number += 1
        yield f"{name}_{number}"


def _require_one_kind(recordings: Sequence[Recording]) -> None:
    tables = [recording for recording in recordings if recording.kind == "features"]
    if tables and len(tables) < len(recordings):
        picture = next(recording for recording in recordings if recording.kind != "features")
        raise InputError(
            f"recordings must be all pictures or all features, but {picture.path} is a {picture.kind} input and "
            f"{tables[0].path} holds features: give one kind at a time."
        )


def _with_rate(recording: Recording, rate: float | None) -> Recording:
    if recording.kind == "video" or recording.path.suffix.lower() == ".npz":
        return recording
    if rate is None:
        what = "pictures" if recording.kind == "stills" else "features"
        raise InputError(f"{recording.path} holds {what} without a rate: say how many there are a second with --rate.")
    return replace(recording, rate=rate)

"""The feature cache: what the trunk sees in each recording, computed once and memory-mapped from then on."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from guide.domain import Features, Frame, Times
from guide.errors import InputError, OutputError
from guide.perceive.pace import Pace
from guide.perceive.region import VERSION as REGION_VERSION
from guide.perceive.region import RegionSettings, closer, second_looks
from guide.teach.collection import Collection
from guide.whole_file import whole_file
from offline.npy_file import GrowingNpy
from offline.videos import Recording, open_frames, read_feature_file
from offline.views import VERSION as VIEW_VERSION
from offline.views import View

if TYPE_CHECKING:  # what only reads features starts neither trunk nor ONNX Runtime
    from offline.extraction import Extractor, FeatureBatch

log = logging.getLogger(__name__)

Progress = Callable[[int, float], None]  # frames done, seconds of the recording done

CACHE_VERSION = 1
TRIED = 3  # a second look is tried on one of so many frames, since those between show nearly the same
FACTS_FILE = "facts.json"
CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class RecordingFeatures:
    """A recording as the trunk sees it, memory-mapped: only the rows that are read take memory.

    `pooled` is what the trunk pooled, or the rows of a feature file. Rows are frames at the working `rate`. The first
    `mean_width` columns are means, all where it is 0.

    >>> RecordingFeatures("a", 2.0, np.arange(3) / 2, np.zeros((3, 8), np.float32)).duration_s
    1.0
    """

    id: str
    rate: float
    times: Times  # (T,)
    pooled: NDArray[np.floating[Any]]  # (T, P)
    maps: NDArray[np.float16] | None = None  # (T, C, H, W)
    mean_width: int = 0

    @property
    def means(self) -> NDArray[np.floating[Any]]:
        """The means alone: embedders and finders go by them, recognition by all that was pooled."""
        return self.pooled[:, : self.mean_width or None]

    def __len__(self) -> int:
        return len(self.times)

    @property
    def duration_s(self) -> float:
        return float(self.times[-1] - self.times[0])


def collection_of(recordings: Sequence[RecordingFeatures], embeddings: Sequence[Features]) -> Collection:
    """Recordings and their embeddings (T, D) as finders take them."""
    times, means = tuple(one.times for one in recordings), tuple(one.means for one in recordings)
    return Collection(tuple(embeddings), times, recordings[0].rate, means)


class FeatureCache:
    """Features by content: a folder with one entry for each video, backbone, preprocessing and working rate.

    An entry is written aside and renamed when complete, so a killed run leaves nothing that looks finished.

    >>> import tempfile
    >>> cache = FeatureCache(Path(tempfile.mkdtemp()))
    >>> cache.read("no such key", keep_maps=False) is None
    True
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def features(
        self,
        recording: Recording,
        extractor: Extractor | None,
        rate: float,
        keep_maps: bool = False,
        progress: Progress | None = None,
        view: View | None = None,
    ) -> RecordingFeatures:
        """The recording's features: read from a feature file, or from the cache, or extracted into it.

        With a `view` its pictures are changed so. Raises InputError when the recording cannot be read, OutputError when
        the cache cannot be written.
        """
        if recording.kind == "features":
            return self._mapped(load_feature_file(recording), recording)
        assert extractor is not None, "pictures need a trunk"
        key = self.key(recording, extractor, rate, view)
        arrays = self.read(key, keep_maps)
        if arrays is None:
            batches = extractor.extract(_frames(recording, rate, view), keep_maps)
            arrays = self._write(key, recording, batches, rate, progress)
        means = extractor.trunk.spec.mean_width
        return RecordingFeatures(recording.id, rate, arrays["times"], arrays["pooled"], arrays.get("maps"), means)

    def look_twice(
        self,
        seen: RecordingFeatures,
        recording: Recording,
        extractor: Extractor,
        region: RegionSettings,
        is_trial: bool = False,
        progress: Progress | None = None,
        view: View | None = None,
    ) -> RecordingFeatures:
        """What was `seen` in one of TRIED frames or in all, and beside it what the trunk pools of where things move.

        It is read from the cache or extracted into it, and raises what `features` does.
        """
        width, every = seen.pooled.shape[1], TRIED if is_trial else 1
        whole = self.key(recording, extractor, seen.rate, view)
        trial, key = (f"{whole}-{_digest((region, REGION_VERSION, each))}" for each in (TRIED, every))
        arrays = self.read(key, keep_maps=False)
        if arrays is None:
            tried = None if is_trial else self.read(trial, keep_maps=False)

            def is_wanted(number: int) -> bool:
                return (number % TRIED == 0) == is_trial or (not is_trial and tried is None)

            frames = second_looks(_frames(recording, seen.rate, view), region, is_wanted)
            batches = extractor.extract(frames, preprocessing=closer(extractor.preprocessing, region))
            looks: Iterator[NDArray[Any]] = (row for batch in batches for row in batch.pooled)
            if tried is not None:
                looks = _woven(tried["pooled"][:, width:], looks)
            both = _beside(seen.times[::every], seen.pooled[::every], looks)
            arrays = self._write(key, recording, both, seen.rate / every, progress)
        return replace(
            seen,
            rate=seen.rate / every,
            times=arrays["times"],
            pooled=arrays["pooled"],
            maps=None if seen.maps is None else seen.maps[::every],
            mean_width=seen.mean_width or width,
        )

    def key(self, recording: Recording, extractor: Extractor, rate: float, view: View | None = None) -> str:
        """Names the entry: everything that changes the numbers goes in."""
        parts = (
            CACHE_VERSION, self.content_hash(recording), recording.rate, extractor.preprocessing,
            extractor.name, extractor.weights_hash, float(rate),
        )  # fmt: skip
        return _digest(parts if view is None else (*parts, view, VIEW_VERSION))

    def content_hash(self, recording: Recording) -> str:
        """A hash of the recording's bytes, remembered for as long as size and time of change stay the same."""
        if recording.kind == "stills":
            pictures = [picture for picture in sorted(recording.path.iterdir()) if picture.is_file()]
            digests = [(picture.name, hash_file(picture)) for picture in pictures]
            return _digest(digests)
        place = hashlib.blake2b(os.fsencode(recording.path.resolve()), digest_size=16).hexdigest()
        note = self.folder / "hashes" / f"{place}.json"
        try:
            stat = recording.path.stat()
        except OSError as error:
            raise InputError(f"{recording.path} cannot be read ({error.strerror}): check the path.") from error
        seen = [stat.st_size, stat.st_mtime_ns]
        remembered = _read_json(note)
        if remembered.get("seen") == seen and isinstance(remembered.get("hash"), str):
            return str(remembered["hash"])
        digest = hash_file(recording.path)
        _write_json(note, {"seen": seen, "hash": digest})
        return digest

    def read(self, key: str, keep_maps: bool) -> dict[str, NDArray[Any]] | None:
        """The arrays of an entry, memory-mapped, or nothing where it is missing, damaged or without wanted maps."""
        entry = self.folder / key
        facts = _read_json(entry / FACTS_FILE)
        if not facts or (keep_maps and "maps" not in facts):
            return None
        try:
            arrays = {name: np.load(entry / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in facts}
            is_whole = all(_is_as_stated(entry, name, arrays[name], facts[name]) for name in facts)
        except (OSError, EOFError, ValueError, TypeError, KeyError):  # EOFError: a file of 0 bytes
            is_whole = False
        if not is_whole or not {"times", "pooled"} <= set(facts):
            log.warning("the cached features in %s are damaged and are made anew.", entry)
            return None
        arrays["times"] = np.array(arrays["times"])  # small, and read all the time
        return arrays

    def _mapped(self, table: RecordingFeatures, recording: Recording) -> RecordingFeatures:
        """The rows of a feature file on disk: those in an `.npz`, which cannot be mapped, are copied into the cache."""
        if isinstance(table.pooled, np.memmap):
            return table
        place = self.folder / "tables" / f"{self.content_hash(recording)}.npy"
        kept = _read_table(place)
        if kept is None or not np.array_equal(kept, table.pooled):
            _write_table(place, table.pooled)
            kept = _read_table(place)
        assert kept is not None, "a table just written can be read"
        return replace(table, pooled=kept)

    def _write(
        self,
        key: str,
        recording: Recording,
        batches: Iterator[FeatureBatch],
        rate: float,
        progress: Progress | None,
    ) -> dict[str, NDArray[Any]]:
        """Keeps what was seen of a recording as an entry, and reads it back."""
        try:
            self._write_aside(key, recording, batches, rate, progress)
        except OSError as error:
            raise OutputError(
                f"the features of {recording.path} cannot be kept in {self.folder} "
                f"({error.strerror or error}): free space there or choose another cache folder."
            ) from error
        arrays = self.read(key, keep_maps=False)
        assert arrays is not None, "an entry just written can be read"
        return arrays

    def _write_aside(
        self, key: str, recording: Recording, batches: Iterator[FeatureBatch], rate: float, progress: Progress | None
    ) -> None:
        for left in self.folder.glob(f".{key}.*"):
            if not _is_running(left.name.split(".")[2]):  # a run that was killed could not tidy up
                shutil.rmtree(left, ignore_errors=True)
        aside = self.folder / f".{key}.{os.getpid()}.part"
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        try:
            _fill(aside, recording, batches, rate, progress)
            _replace_folder(aside, self.folder / key)
        finally:
            shutil.rmtree(aside, ignore_errors=True)


def _frames(recording: Recording, rate: float, view: View | None) -> Iterator[Frame]:
    """The frames of a recording at the working rate, as they are or in another view."""
    frames = open_frames(recording).frames(Pace(rate).push)
    return frames if view is None else (replace(frame, image=view.of(frame.image)) for frame in frames)


def load_feature_file(recording: Recording) -> RecordingFeatures:
    """Precomputed features as they are; the rate is the file's or the one given for it."""
    table, rate = read_feature_file(recording)
    times = np.arange(len(table), dtype=np.float64) / rate
    return RecordingFeatures(recording.id, rate, times, table, mean_width=_mean_width(recording, table.shape[1]))


def _mean_width(recording: Recording, width: int) -> int:
    """How many columns are means, where an `.npz` with the key `means` says so; else 0, all of them."""
    if recording.path.suffix != ".npz":
        return 0
    with np.load(recording.path, allow_pickle=False) as archive:  # it was read before, so it can be read
        means = archive["means"] if "means" in archive.files else np.int64(0)
    if means.shape != () or means.dtype.kind not in "iu" or not 0 <= int(means) <= width:
        raise InputError(
            f"means in {recording.path} should say how many of the {width} columns of features are means, got "
            f"{means!r:.80}: leave it out, or write the file again."
        )
    return int(means)


def hash_file(path: Path) -> str:
    """A hash of a file's bytes, read in small pieces."""
    digest = hashlib.blake2b(digest_size=16)
    try:
        with path.open("rb") as file:
            while piece := file.read(CHUNK_BYTES):
                digest.update(piece)
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}): check the path and its permissions.") from error
    return digest.hexdigest()


def _digest(parts: object) -> str:
    return hashlib.blake2b(repr(parts).encode(), digest_size=16).hexdigest()


def _woven(tried: NDArray[Any], others: Iterator[NDArray[Any]]) -> Iterator[NDArray[Any]]:
    """Second looks (P,) at all frames in order, of which one of TRIED was tried before."""
    for row in tried:
        yield row
        yield from islice(others, TRIED - 1)


def _beside(times: Times, pooled: NDArray[Any], looks: Iterator[NDArray[Any]]) -> Iterator[FeatureBatch]:
    """Second looks (P,), each behind what was pooled (T, P) of its whole picture."""
    from offline.extraction import FeatureBatch  # it is there: somebody extracts

    for number, look in enumerate(looks):
        yield FeatureBatch(times[number : number + 1], np.concatenate([pooled[number], look])[None], None)


def _fill(
    folder: Path, recording: Recording, batches: Iterator[FeatureBatch], rate: float, progress: Progress | None
) -> None:
    """Writes what was seen of a recording into `folder`: one array a file, then the facts that make it complete."""
    count = 0
    arrays: dict[str, GrowingNpy] = {}
    try:
        for batch in batches:
            parts: dict[str, NDArray[Any] | None] = {"times": batch.times, "pooled": batch.pooled, "maps": batch.maps}
            for name, part in parts.items():
                if part is not None:
                    arrays[name] = arrays.get(name) or GrowingNpy(folder / f"{name}.npy")
                    arrays[name].append(part)
            count += len(batch.times)
            if progress is not None:
                progress(count, float(batch.times[-1]))
    finally:
        for array in arrays.values():
            array.close()
    if count < 2:
        raise InputError(
            f"a recording needs at least 2 frames, but {recording.path} gives {count} at {rate:g} per second: "
            "leave it out or raise --fps."
        )
    facts = {name: {"shape": list(array.shape), "bytes": array.path.stat().st_size} for name, array in arrays.items()}
    for name in ("times", "pooled"):
        facts[name]["hash"] = hash_file(folder / f"{name}.npy")
    _write_json(folder / FACTS_FILE, facts)


def _is_as_stated(entry: Path, name: str, array: NDArray[Any], stated: dict[str, Any]) -> bool:
    """Whether a file still is what was written; maps are too large to be hashed at every start."""
    path = entry / f"{name}.npy"
    is_whole = list(array.shape) == stated["shape"] and path.stat().st_size == stated["bytes"]
    return is_whole and ("hash" not in stated or hash_file(path) == stated["hash"])


def _is_running(process: str) -> bool:
    """Whether a process of this number is alive."""
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, ValueError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _replace_folder(new: Path, place: Path) -> None:
    """Puts a complete folder in its place; what stood there (damaged, or without maps) goes."""
    if place.exists():
        old = new.with_suffix(".old")
        place.rename(old)
        shutil.rmtree(old, ignore_errors=True)
    new.rename(place)


def _read_table(path: Path) -> NDArray[Any] | None:
    try:
        kept: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, EOFError, ValueError):
        return None
    return kept


def _write_table(path: Path, rows: NDArray[Any]) -> None:
    with _written_aside(path) as aside, aside.open("wb") as file:
        np.save(file, rows, allow_pickle=False)


def _read_json(path: Path) -> dict[str, Any]:
    """What a small JSON file holds; nothing where it is missing or damaged, since a cache can be made anew."""
    try:
        read = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}


def _write_json(path: Path, value: dict[str, Any]) -> None:
    with _written_aside(path) as aside:
        aside.write_text(json.dumps(value))


@contextmanager
def _written_aside(path: Path) -> Iterator[Path]:
    """A file to write, which gets its name when it is whole; raises OutputError where that cannot be."""
    try:
        with whole_file(path) as unfinished:
            yield unfinished
    except OSError as error:
        raise OutputError(
            f"the cache cannot be written to {path.parent} ({error.strerror}): free space there or choose another."
        ) from error

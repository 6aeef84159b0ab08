"""The cache: computed once, keyed by everything that matters, never half finished, rebuilt when damaged."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from guide.domain import Frame
from guide.errors import InputError, OutputError
from guide.ingest.files import VideoFile
from guide.perceive.pace import Pace
from guide.perceive.preprocess import to_network_input
from guide.perceive.region import MovingRegion, RegionSettings, crop
from offline import features as features_module
from offline.backbones import load_trunk
from offline.extraction import Extractor, TorchTrunk
from offline.features import TRIED, FeatureCache, load_feature_file
from offline.npy_file import GrowingNpy
from offline.videos import Recording
from offline.views import VIEWS
from tests.synth import grey_levels, write_task_video, write_video


@pytest.fixture
def video(tmp_path: Path) -> Recording:
    write_task_video(tmp_path / "helmet.mp4", [1, 0, 2], step_s=1.0, rate=10.0)
    return Recording("helmet", tmp_path / "helmet.mp4", "video")


@pytest.fixture
def extractor(tmp_path: Path) -> Extractor:
    made = Extractor(load_trunk("random-tiny"), tmp_path / "trunks", "cpu")
    made.__dict__["runner"] = TorchTrunk(made.trunk, torch.device("cpu"))
    return made


@pytest.fixture
def cache(tmp_path: Path) -> FeatureCache:
    return FeatureCache(tmp_path / "cache")


@pytest.fixture
def decodings(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The path of each video that was decoded, in order."""
    seen: list[Path] = []
    original = VideoFile.frames

    def counted(self: VideoFile, wanted: Any = None) -> Iterator[Frame]:
        seen.append(self.path)
        return original(self, wanted)

    monkeypatch.setattr(VideoFile, "frames", counted)
    return seen


def test_features_at_the_working_rate(video: Recording, extractor: Extractor, cache: FeatureCache) -> None:
    found = cache.features(video, extractor, rate=5.0, keep_maps=True)
    expected = [frame.at for frame in VideoFile(video.path).frames(Pace(5.0).push)]
    np.testing.assert_array_equal(found.times, expected)
    assert (found.id, found.rate, len(found)) == ("helmet", 5.0, 15)
    assert found.pooled.shape == (15, extractor.trunk.spec.pooled_width)
    np.testing.assert_array_equal(found.means, found.pooled)
    assert found.mean_width == extractor.trunk.spec.mean_width
    assert found.maps is not None
    assert found.maps.shape == (15, 16, 8, 8)
    assert found.pooled.dtype == np.float32
    assert found.maps.dtype == np.float16
    assert isinstance(found.pooled, np.memmap)
    assert isinstance(found.maps, np.memmap)


def test_the_second_time_nothing_is_decoded(
    video: Recording, extractor: Extractor, cache: FeatureCache, decodings: list[Path], tmp_path: Path
) -> None:
    first = cache.features(video, extractor, 5.0, keep_maps=True)
    second = cache.features(video, extractor, 5.0)
    np.testing.assert_array_equal(first.pooled, second.pooled)
    copy = tmp_path / "visor.mp4"  # the same bytes under another name
    copy.write_bytes(video.path.read_bytes())
    third = cache.features(Recording("visor", copy, "video"), extractor, 5.0)
    assert third.id == "visor"
    assert decodings == [video.path]


def test_what_changes_the_numbers_changes_the_entry(
    video: Recording, extractor: Extractor, cache: FeatureCache, decodings: list[Path], tmp_path: Path
) -> None:
    keys = {cache.key(video, extractor, 5.0), cache.key(video, extractor, 2.0)}
    keys |= {cache.key(video, extractor, 5.0, view) for view in VIEWS}
    with torch.no_grad():
        next(extractor.trunk.parameters()).add_(1.0)
    changed = Extractor(extractor.trunk, tmp_path, "cpu")
    keys.add(cache.key(video, changed, 5.0))
    write_task_video(video.path, [2, 1], seed=5)
    keys.add(cache.key(video, changed, 5.0))
    assert len(keys) == 6


def test_another_view_is_what_the_trunk_sees_of_changed_frames(
    video: Recording, extractor: Extractor, cache: FeatureCache
) -> None:
    view = VIEWS[0]
    changed = [view.of(frame.image) for frame in VideoFile(video.path).frames(Pace(5.0).push)]
    inputs = np.stack([to_network_input(image, extractor.preprocessing) for image in changed])
    found = cache.features(video, extractor, 5.0, view=view)
    np.testing.assert_allclose(found.pooled, extractor.runner.pool(inputs), atol=1e-5)
    assert not np.allclose(found.pooled, cache.features(video, extractor, 5.0).pooled)


def test_maps_wanted_later_are_made_then(
    video: Recording, extractor: Extractor, cache: FeatureCache, decodings: list[Path]
) -> None:
    without = cache.features(video, extractor, 5.0)
    assert without.maps is None
    with_maps = cache.features(video, extractor, 5.0, keep_maps=True)
    assert with_maps.maps is not None
    np.testing.assert_array_equal(without.pooled, with_maps.pooled)
    assert len(decodings) == 2


@pytest.mark.parametrize("damage", ["cut", "empty", "flip", "facts", "missing"])
def test_a_damaged_entry_is_rebuilt(
    video: Recording, extractor: Extractor, cache: FeatureCache, decodings: list[Path], damage: str
) -> None:
    before = np.array(cache.features(video, extractor, 5.0).pooled)
    entry = cache.folder / cache.key(video, extractor, 5.0)
    pooled = entry / "pooled.npy"
    data = bytearray(pooled.read_bytes())
    if damage == "cut":
        pooled.write_bytes(bytes(data[:-100]))
    elif damage == "empty":
        pooled.write_bytes(b"")
    elif damage == "flip":
        data[-1] ^= 0xFF
        pooled.write_bytes(bytes(data))
    elif damage == "facts":
        (entry / "facts.json").write_text("{ not json")
    else:
        pooled.unlink()
    np.testing.assert_array_equal(cache.features(video, extractor, 5.0).pooled, before)
    assert len(decodings) == 2


def test_a_killed_run_leaves_nothing_that_looks_finished(
    video: Recording, extractor: Extractor, cache: FeatureCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    key = cache.key(video, extractor, 5.0)
    monkeypatch.setattr(features_module, "_replace_folder", killed)
    with pytest.raises(KeyboardInterrupt):
        cache.features(video, extractor, 5.0)
    assert cache.read(key, keep_maps=False) is None
    monkeypatch.undo()
    assert len(cache.features(video, extractor, 5.0)) == 15
    assert [path for path in cache.folder.iterdir() if path.name.endswith(".part")] == []


def test_what_a_killed_run_left_is_tidied_up(video: Recording, extractor: Extractor, cache: FeatureCache) -> None:
    left = cache.folder / f".{cache.key(video, extractor, 5.0)}.999999999.part"
    left.mkdir(parents=True)
    (left / "maps.npy").write_bytes(bytes(100))
    cache.features(video, extractor, 5.0)
    assert not left.exists()


def test_a_missing_video_is_named(tmp_path: Path, extractor: Extractor, cache: FeatureCache) -> None:
    with pytest.raises(InputError, match=r"gone\.mp4 cannot be read"):
        cache.features(Recording("gone", tmp_path / "gone.mp4", "video"), extractor, 5.0)


def test_a_full_disk_is_said_so(
    video: Recording, extractor: Extractor, cache: FeatureCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: GrowingNpy, rows: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(GrowingNpy, "append", full)
    with pytest.raises(OutputError, match=r"No space left on device\): free space there"):
        cache.features(video, extractor, 5.0)


def test_a_video_of_one_frame_is_refused(tmp_path: Path, extractor: Extractor, cache: FeatureCache) -> None:
    path = write_video(tmp_path / "one.mp4", grey_levels(1), [0.0])
    with pytest.raises(InputError, match=r"at least 2 frames, but .*one\.mp4 gives 1"):
        cache.features(Recording("one", path, "video"), extractor, 5.0)
    assert list(cache.folder.glob(".*.part")) == []


def test_stills_are_cached_by_content_and_rate(tmp_path: Path, extractor: Extractor, cache: FeatureCache) -> None:
    import cv2

    folder = tmp_path / "stills"
    folder.mkdir()
    for number, image in enumerate(grey_levels(6)):
        cv2.imwrite(str(folder / f"{number}.png"), image)
    recording = Recording("stills", folder, "stills", rate=5.0)
    assert len(cache.features(recording, extractor, 5.0)) == 6
    key = cache.key(recording, extractor, 5.0)
    assert key != cache.key(Recording("stills", folder, "stills", rate=4.0), extractor, 5.0)
    cv2.imwrite(str(folder / "6.png"), grey_levels(1)[0])
    assert key != cache.key(recording, extractor, 5.0)


def test_feature_files_need_no_trunk(tmp_path: Path, cache: FeatureCache) -> None:
    rows = np.random.default_rng(0).normal(size=(10, 3)).astype(np.float16)
    np.save(tmp_path / "a.npy", rows)
    found = cache.features(Recording("a", tmp_path / "a.npy", "features", rate=2.0), None, rate=99.0)
    np.testing.assert_array_equal(found.pooled, rows)
    np.testing.assert_array_equal(found.times, np.arange(10) / 2)
    assert found.rate == 2.0
    assert not cache.folder.exists()


def test_features_in_an_archive_are_mapped_too(tmp_path: Path, cache: FeatureCache) -> None:
    """A long collection of them would not fit into memory; a copy that was damaged is made anew."""
    rows = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float16)
    np.savez_compressed(tmp_path / "a.npz", features=rows, rate=4.0)
    recording = Recording("a", tmp_path / "a.npz", "features")
    found = cache.features(recording, None, 1.0)
    assert isinstance(found.pooled, np.memmap)
    assert found.pooled.dtype == np.float16
    assert found.times[-1] == 19 / 4.0
    np.testing.assert_array_equal(found.pooled, rows)
    (copy,) = (cache.folder / "tables").iterdir()
    stamp = copy.stat().st_mtime_ns
    cache.features(recording, None, 1.0)
    assert copy.stat().st_mtime_ns == stamp, "it is written once"
    for damaged in (copy.read_bytes()[:-8], copy.read_bytes()[:-2] + b"ab", b""):
        copy.write_bytes(damaged)
        np.testing.assert_array_equal(cache.features(recording, None, 1.0).pooled, rows)


def test_progress_is_told(video: Recording, extractor: Extractor, cache: FeatureCache) -> None:
    told: list[tuple[int, float]] = []
    cache.features(video, extractor, 5.0, progress=lambda count, at: told.append((count, at)))
    assert [count for count, _ in told] == [4, 8, 12, 15]
    assert told[-1][1] == pytest.approx(2.8, abs=0.1)
    cache.features(video, extractor, 5.0, progress=lambda *_: pytest.fail("nothing is extracted again"))


def test_a_file_changed_in_place_is_seen(video: Recording, cache: FeatureCache) -> None:
    before = cache.content_hash(video)
    assert cache.content_hash(video) == before
    data = bytearray(video.path.read_bytes())
    data[-1] ^= 1
    video.path.write_bytes(bytes(data))
    os.utime(video.path, ns=(1, 1))
    assert cache.content_hash(video) != before


def test_a_file_name_that_is_no_utf_8_can_be_hashed(video: Recording, cache: FeatureCache) -> None:
    path = video.path.rename(video.path.with_name(os.fsdecode(b"caf\xe9.mp4")))
    assert cache.content_hash(Recording("caf_", path, "video")) == features_module.hash_file(path)


@pytest.mark.parametrize("means", [np.int64(-1), np.int64(10**6), np.float64(2.0), np.arange(2)])
def test_means_that_make_no_sense_are_refused(tmp_path: Path, means: object) -> None:
    np.savez(tmp_path / "a.npz", features=np.zeros((4, 3), np.float32), rate=np.float64(1), means=means)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="how many of the 3 columns of features are means"):
        load_feature_file(Recording("a", tmp_path / "a.npz", "features"))


@pytest.mark.parametrize("trials", [(False,), (True,), (True, False)], ids=["all", "some", "the others after some"])
def test_two_looks_stand_side_by_side(
    video: Recording, extractor: Extractor, cache: FeatureCache, trials: tuple[bool, ...]
) -> None:
    settings, every = RegionSettings(detail=0.5), TRIED if trials[-1] else 1
    one = cache.features(video, extractor, 5.0, keep_maps=True)
    [*_, two] = [cache.look_twice(one, video, extractor, settings, is_trial) for is_trial in trials]
    assert two.rate == 5.0 / every
    np.testing.assert_array_equal(two.times, one.times[::every])
    np.testing.assert_array_equal(two.means, one.pooled[::every])  # those of the whole picture come first
    assert one.maps is not None
    assert two.maps is not None
    np.testing.assert_array_equal(two.maps, one.maps[::every])
    region = MovingRegion(settings)
    frames = list(VideoFile(video.path).frames(Pace(5.0).push))
    parts = [crop(frame.image, region.push(frame.image, frame.at)) for frame in frames][::every]
    inputs = np.stack([to_network_input(part, replace(extractor.preprocessing, size_px=32)) for part in parts])
    np.testing.assert_allclose(two.pooled[:, one.pooled.shape[1] :], extractor.runner.pool(inputs), atol=1e-5)


def test_each_way_to_look_has_an_entry_of_its_own(video: Recording, extractor: Extractor, cache: FeatureCache) -> None:
    one = cache.features(video, extractor, 5.0)
    near, whole = (cache.look_twice(one, video, extractor, RegionSettings(side=side)) for side in (0.35, 1.0))
    again = cache.look_twice(one, video, extractor, RegionSettings(side=0.35))
    assert not np.allclose(near.pooled, whole.pooled)
    np.testing.assert_array_equal(again.pooled, near.pooled)
    np.testing.assert_array_equal(cache.features(video, extractor, 5.0).pooled, one.pooled)

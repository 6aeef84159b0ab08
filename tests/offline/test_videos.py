"""Finding and checking recordings: what counts, what is ignored, and a sentence for each that cannot be used."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from guide.errors import InputError
from guide.ingest.files import VideoFacts, VideoFile
from guide.ingest.stills import StillFolder
from offline.videos import (
    Recording,
    RecordingFacts,
    examine,
    examine_all,
    find_recordings,
    open_frames,
    read_feature_file,
    require_enough,
    working_rate,
)
from tests.synth import grey_levels, plain, steady, write_video


def touch(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")


def small_video(path: Path, count: int = 10, rate: float = 10.0) -> Path:
    return write_video(path, grey_levels(count), steady(count, rate))


def ids(*inputs: str, rate: float | None = None) -> list[str]:
    return [recording.id for recording in find_recordings(inputs, rate).recordings]


def test_a_folder_gives_its_videos_and_counts_the_rest(tmp_path: Path) -> None:
    touch(tmp_path, "a.mp4", "b.MKV", "c.mov", "d.avi", "e.webm", "a.csv", "notes.txt", "x.jpg", ".hidden")
    found = find_recordings([str(tmp_path)])
    assert [recording.id for recording in found.recordings] == ["a", "b", "c", "d", "e"]
    assert found.ignored == 3
    assert {recording.kind for recording in found.recordings} == {"video"}


def test_label_files_are_never_opened(tmp_path: Path) -> None:
    touch(tmp_path, "a.mp4")
    (tmp_path / "a.csv").write_text("0,1,1 step")
    (tmp_path / "a.csv").chmod(0)
    assert find_recordings([str(tmp_path)]).ignored == 1


def test_sub_folders_are_searched_one_level_deep(tmp_path: Path) -> None:
    touch(tmp_path, "a.mp4", "people/b.mp4", "people/deep/c.mp4", "stills/1.jpg")
    assert ids(str(tmp_path)) == ["a", "b"]


def test_files_folders_and_globs_each_once(tmp_path: Path) -> None:
    touch(tmp_path, "a.mp4", "b.mp4", "c.txt", "more/d.mkv")
    found = find_recordings([str(tmp_path / "*"), str(tmp_path / "a.mp4"), str(tmp_path / "more")])
    assert [recording.id for recording in found.recordings] == ["a", "b", "d"]
    assert found.ignored == 1


def test_shared_names_are_told_apart(tmp_path: Path) -> None:
    touch(tmp_path, "helmet/take.mp4", "visor/take.mp4", "visor/take.mkv", "visor/other.mp4")
    assert ids(str(tmp_path)) == ["helmet_take", "other", "visor_take", "visor_take_2"]


def test_a_folder_before_a_shared_name_is_made_fit_for_a_file_name(tmp_path: Path) -> None:
    touch(tmp_path, "10:30/take.mp4", "..old/take.mp4")
    assert ids(str(tmp_path / "10:30"), str(tmp_path / "..old")) == ["10_30_take", "_.old_take"]


def test_a_name_that_is_no_utf_8_gives_an_id_that_is(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.mp4")).touch()
    assert ids(str(tmp_path)) == ["caf_"]


def test_folders_of_pictures(tmp_path: Path) -> None:
    touch(tmp_path, "helmet/1.jpg", "helmet/2.jpg", "helmet/notes.txt", "visor/1.png")
    found = find_recordings([str(tmp_path)], rate=5.0)
    assert [(recording.id, recording.kind, recording.rate) for recording in found.recordings] == [
        ("helmet", "stills", 5.0),
        ("visor", "stills", 5.0),
    ]
    assert found.ignored == 1
    assert isinstance(open_frames(found.recordings[0]), StillFolder)
    with pytest.raises(InputError, match="--rate"):
        find_recordings([str(tmp_path)])


def test_features_take_their_rate_from_the_file_or_the_option(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((5, 3)))
    np.savez(tmp_path / "b.npz", features=np.zeros((5, 3)), rate=2.0)
    found = find_recordings([str(tmp_path)], rate=4.0)
    assert [recording.rate for recording in found.recordings] == [4.0, None]
    assert [read_feature_file(recording)[1] for recording in found.recordings] == [4.0, 2.0]
    with pytest.raises(InputError, match=r"a\.npy holds features without a rate"):
        find_recordings([str(tmp_path)])


def test_features_beside_videos_are_ignored_but_not_when_named(tmp_path: Path) -> None:
    touch(tmp_path, "a.mp4", "a.npy")
    assert find_recordings([str(tmp_path)]).ignored == 1
    with pytest.raises(InputError, match="one kind at a time"):
        find_recordings([str(tmp_path / "a.mp4"), str(tmp_path / "a.npy")], rate=1.0)


@pytest.mark.parametrize(("text", "sentence"), [("gone.mp4", "does not exist"), ("*.mp4", "nothing matches")])
def test_what_is_not_there_is_named(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        find_recordings([str(tmp_path / text)])


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan")])
def test_a_senseless_rate_is_refused(tmp_path: Path, rate: float) -> None:
    with pytest.raises(InputError, match="--rate must be"):
        find_recordings([str(tmp_path)], rate)


def test_one_recording_is_not_enough() -> None:
    require_enough(2)
    with pytest.raises(InputError, match=r"at least 2, got 1 \(3 other files were ignored\)"):
        require_enough(1, ignored=3)


def test_facts_of_each_kind(tmp_path: Path) -> None:
    video = examine(Recording("v", small_video(tmp_path / "v.mp4", 31, 30.0), "video"))
    assert video.frames == 31
    assert video.duration_s == pytest.approx(1.0)
    assert video.rate == pytest.approx(30.0)
    (tmp_path / "s").mkdir()
    for number in range(5):
        cv2.imwrite(str(tmp_path / "s" / f"{number}.png"), plain((9, 9, 9), 8, 8))
    stills = examine(Recording("s", tmp_path / "s", "stills", 2.0))
    assert (stills.frames, stills.duration_s, stills.rate) == (5, 2.0, 2.0)
    np.save(tmp_path / "f.npy", np.zeros((5, 3)))
    table = examine(Recording("f", tmp_path / "f.npy", "features", 2.0))
    assert (table.frames, table.duration_s, table.width) == (5, 2.0, 3)


def nan_at(row: int) -> np.ndarray[Any, Any]:
    table = np.zeros((6000, 2), np.float16)
    table[row, 1] = np.nan
    return table


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (nan_at(5000), r"row 5000 of .*a\.npy holds NaN"),
        (np.full((3, 2), 1e300), r"row 0 of .*a\.npy holds .* a number beyond 1e\+12: repair it"),
        (np.full((3, 2), -(2**62)), "a number beyond"),
        (np.zeros(5), r"T x D, but .*a\.npy holds float64 of shape \(5,\)"),
        (np.zeros((5, 2, 2)), "T x D"),
        (np.zeros((1, 4)), "at least 2 rows"),
        (np.zeros((5, 0)), "at least 2 rows"),
        (np.array([["a", "b"]] * 3), "T x D"),
        (np.array([[{}, 1]] * 3, dtype=object), "cannot be read as a .npy file"),
    ],
)
def test_bad_features_are_named(tmp_path: Path, table: np.ndarray[Any, Any], sentence: str) -> None:
    np.save(tmp_path / "a.npy", table, allow_pickle=True)
    with pytest.raises(InputError, match=sentence):
        examine(Recording("a", tmp_path / "a.npy", "features", 1.0))


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"features": np.zeros((3, 2))}, "keys features and rate"),
        ({"rate": np.array(1.0)}, "keys features and rate"),
        ({"features": np.zeros((3, 2)), "rate": np.array(0.0)}, "positive number of rows"),
        ({"features": np.zeros((3, 2)), "rate": np.zeros(3)}, "cannot be read"),
    ],
)
def test_bad_archives_are_named(tmp_path: Path, keys: dict[str, Any], sentence: str) -> None:
    np.savez(tmp_path / "a.npz", **keys)
    with pytest.raises(InputError, match=sentence):
        examine(Recording("a", tmp_path / "a.npz", "features"))


@pytest.mark.parametrize("name", ["a.npy", "a.npz"])
def test_files_that_are_no_arrays_are_named(tmp_path: Path, name: str) -> None:
    for content in (b"", b"nonsense"):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match="cannot be read as") as told:
            examine(Recording("a", tmp_path / name, "features", 1.0))
        assert "unsafe" not in str(told.value), "numpy's own advice is a dangerous one"


def test_a_video_whose_frames_have_one_time_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(VideoFile, "facts", lambda _: VideoFacts(frames=9, duration_s=0.0, width_px=8, height_px=8))
    with pytest.raises(InputError, match=r"all 9 of .*a\.mp4 have one timestamp"):
        examine(Recording("a", tmp_path / "a.mp4", "video"))


@pytest.mark.parametrize("damage", ["cut short", "garbled"])
def test_a_damaged_archive_is_named_and_can_be_skipped(tmp_path: Path, damage: str) -> None:
    for name in "abc":
        np.savez_compressed(tmp_path / f"{name}.npz", features=np.arange(600.0).reshape(200, 3), rate=1.0)
    whole = (tmp_path / "b.npz").read_bytes()
    garbled = whole[:80] + bytes(byte ^ 0xFF for byte in whole[80:200]) + whole[200:]
    (tmp_path / "b.npz").write_bytes(whole[: len(whole) // 2] if damage == "cut short" else garbled)
    recordings = find_recordings([str(tmp_path)]).recordings
    with pytest.raises(InputError, match=r"b\.npz cannot be read as"):
        examine_all(recordings)
    assert [fact.recording.id for fact in examine_all(recordings, skip_bad=True).good] == ["a", "c"]


@pytest.mark.parametrize(
    ("tables", "sentence"),
    [
        ([((5, 3), 1.0), ((5, 4), 1.0)], r"one width, but .*0\.npz has 3 columns and .*1\.npz has 4"),
        ([((5, 3), 1.0), ((5, 3), 2.0)], "one rate"),
    ],
)
def test_features_must_agree(tmp_path: Path, tables: list[tuple[tuple[int, int], float]], sentence: str) -> None:
    for number, (shape, rate) in enumerate(tables):
        np.savez(tmp_path / f"{number}.npz", features=np.zeros(shape), rate=rate)
    with pytest.raises(InputError, match=sentence):
        examine_all(find_recordings([str(tmp_path)]).recordings)


def test_the_corrupt_one_is_named_and_skipped_only_when_asked(tmp_path: Path) -> None:
    for name in ("a.mp4", "c.mp4"):
        small_video(tmp_path / name)
    touch(tmp_path, "b.mp4")
    small_video(tmp_path / "single.mp4", count=1)
    recordings = find_recordings([str(tmp_path)]).recordings
    with pytest.raises(InputError, match=r"b\.mp4 cannot be read as one.*--skip-bad.*\(1 more"):
        examine_all(recordings)
    examined = examine_all(recordings, skip_bad=True)
    assert [fact.recording.id for fact in examined.good] == ["a", "c"]
    assert "b.mp4" in examined.problems[0]
    assert "at least 2 frames" in examined.problems[1]


def facts(*lengths: tuple[float, float]) -> list[RecordingFacts]:
    """Facts of videos given as (seconds, frames per second)."""
    return [RecordingFacts(Recording("a", Path("a"), "video"), int(s * r) + 1, s, r) for s, r in lengths]


@pytest.mark.parametrize(
    ("lengths", "asked", "expected"),
    [
        ([(60.0, 30.0), (100.0, 30.0)], 2.0, 2.0),  # long enough already
        ([(10.0, 30.0), (100.0, 30.0)], 2.0, 6.4),  # the shortest decides
        ([(7.0, 30.0)], 2.0, 9.2),  # 64 / 7 = 9.14, rounded up
        ([(1.0, 30.0), (100.0, 60.0)], 2.0, 30.0),  # no more than the short one holds
        ([(10.0, 30.0)], 10.0, 10.0),  # never below what was asked
        ([(300.0, 1.0), (400.0, 0.5)], 5.0, 1.0),  # never above what the fastest holds
        ([(2000.0, 0.03)], 5.0, 0.03),
        ([], 2.0, 2.0),
    ],
)
def test_the_working_rate_rises_with_short_recordings(
    lengths: list[tuple[float, float]], asked: float, expected: float
) -> None:
    assert working_rate(facts(*lengths), asked) == pytest.approx(expected)


@pytest.mark.parametrize(("count", "rate"), [(200, 29.97), (297, 30.0), (70, 10.0), (64, 25.0)])
def test_the_working_rate_really_gives_64_frames(tmp_path: Path, count: int, rate: float) -> None:
    from guide.perceive.pace import Pace

    recording = Recording("v", small_video(tmp_path / "v.mkv", count, rate), "video")
    chosen = working_rate([examine(recording)], 2.0)
    assert sum(1 for _ in VideoFile(recording.path).frames(Pace(chosen).push)) >= 64

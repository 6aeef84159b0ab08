"""What comes in is checked before the work: each bad recording is named in one sentence."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import av
import numpy as np
import pytest
from rich.console import Console

from guide.commands.entry import entry
from offline.config import PRESETS
from offline.extraction import open_extractor
from offline.features import FeatureCache
from offline.gather import find_task, see_task, seen_of
from offline.train import TrainOptions, main
from offline.videos import find_recordings
from tests.failing import arguments, said_on_failure
from tests.synth import grey_levels, plain, steady, write_video
from tests.tiny import write_features


def test_one_video_only(videos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = said_on_failure(arguments(videos / "a.mp4", tmp_path), capsys)
    assert "needs at least 2, got 1" in said


def test_an_empty_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "nothing").mkdir()
    (tmp_path / "nothing" / "notes.txt").write_text("no recording")
    said = said_on_failure(arguments(tmp_path / "nothing", tmp_path), capsys)
    assert f"{tmp_path / 'nothing'} gave none (1 other files were ignored): name videos (mp4," in said


@pytest.mark.parametrize("content", [b"", b"this is no video" * 100], ids=["empty", "corrupt"])
def test_a_bad_video_is_named_and_stops_the_command(
    videos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    (videos / "b.mp4").write_bytes(content)
    said = said_on_failure(arguments(videos, tmp_path), capsys)
    assert str(videos / "b.mp4") in said
    assert "--skip-bad" in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("frames", [1, 5])
def test_a_video_of_too_few_frames(
    videos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], frames: int
) -> None:
    write_video(videos / "c.mp4", grey_levels(frames), steady(frames, 5))
    said = said_on_failure(arguments(videos, tmp_path), capsys)
    assert re.search(rf"needs at least \d+ frames, but \S+c\.mp4 has {frames}: leave it out", said)


def keep_first_frames(path: Path, count: int) -> None:
    """Zeroes the pictures of an MP4 file after the first few; its index still promises all of them."""
    data = bytearray(path.read_bytes())
    with av.open(str(path)) as container:
        packets = [packet for packet in container.demux(video=0) if packet.size]
    for packet in packets[count:]:
        assert packet.pos is not None
        data[packet.pos : packet.pos + packet.size] = bytes(packet.size)
    path.write_bytes(bytes(data))


@pytest.mark.parametrize("count", [1, 5])
def test_a_video_that_gives_less_than_it_promises_is_named(
    videos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], count: int
) -> None:
    keep_first_frames(videos / "b.mp4", count)
    said = said_on_failure(arguments(videos, tmp_path), capsys)
    assert re.search(rf"needs at least \d+ frames, but \S+b\.mp4 gives {count}\b", said)
    assert "--skip-bad" in said


def test_a_video_that_gives_less_than_it_promises_is_skipped_where_that_is_asked_for(
    videos: Path, tmp_path: Path
) -> None:
    keep_first_frames(videos / "b.mp4", 5)
    quiet = Console(quiet=True)
    facts = find_task([str(videos)], None, True, quiet)
    assert [fact.frames for fact in facts] == [20, 20, 20], "its index promises as many as the others'"
    extractor = open_extractor("random-tiny", tmp_path / "trunks", device="cpu")
    seen = see_task(facts, extractor, PRESETS["default"], FeatureCache(tmp_path / "cache"), quiet, skip_bad=True)
    assert [recording.id for recording in seen] == ["a", "c"]
    assert [fact.recording.id for fact in seen_of(seen, facts)] == ["a", "c"]


def test_videos_in_which_nothing_happens(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "black"
    folder.mkdir()
    for name in "ab":
        write_video(folder / f"{name}.mp4", [plain((0, 0, 0))] * 20, steady(20, 5))
    assert "nothing changes in any of them" in said_on_failure(arguments(folder, tmp_path), capsys)


def test_features_with_holes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_features(tmp_path / "features")
    rows = np.load(folder / "b.npy")
    rows[3, 2] = np.nan
    np.save(folder / "b.npy", rows)
    said = said_on_failure(arguments(folder, tmp_path, "--rate", "4"), capsys)
    assert "row 3 of" in said
    assert "b.npy holds NaN" in said


def test_features_of_unequal_width(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_features(tmp_path / "features")
    np.save(folder / "c.npy", np.zeros((40, 9), np.float32))
    said = said_on_failure(arguments(folder, tmp_path, "--rate", "4"), capsys)
    assert "a.npy has 6 columns and" in said
    assert "c.npy has 9" in said


def test_features_without_a_rate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = said_on_failure(arguments(write_features(tmp_path / "features"), tmp_path), capsys)
    assert "--rate" in said


def test_a_rate_that_nothing_needs_is_told(videos: Path, tmp_path: Path) -> None:
    for inputs, is_needed in ((videos, False), (write_features(tmp_path / "features"), True)):
        said = io.StringIO()
        find_task([str(inputs)], 4.0, False, Console(file=said, width=200))
        assert ("note: --rate is not used" in said.getvalue()) != is_needed


@pytest.mark.parametrize(
    ("fps", "note"),
    [
        (
            1.0,
            "note: 5 frames a second are taken instead of 1: the shortest recording would give too few (wanted: 64)",
        ),
        (5.0, None),
        (30.0, "note: 5 frames a second are taken instead of 30: no recording holds more"),
    ],
)
def test_another_working_rate_than_asked_for_is_told(
    videos: Path, tmp_path: Path, fps: float, note: str | None
) -> None:
    facts = find_task([str(videos)], None, False, Console(quiet=True))
    assert [round(fact.rate, 6) for fact in facts] == [5.0] * 3
    extractor = open_extractor("random-tiny", tmp_path / "trunks", device="cpu")
    said = io.StringIO()
    recipe = replace(PRESETS["default"], fps=fps)
    see_task(facts, extractor, recipe, FeatureCache(tmp_path / "cache"), Console(file=said, width=200))
    assert [line for line in said.getvalue().splitlines() if line.startswith("note")] == ([note] if note else [])
    assert "working rate 5 a second" in said.getvalue()


def test_names_that_a_bundle_cannot_hold_are_changed(tmp_path: Path) -> None:
    for name in ("12:30 [x].npy", "12_30 [x].npy", ".b.npy"):
        np.save(tmp_path / name, np.ones((2, 2)))
    found = find_recordings([str(path) for path in sorted(tmp_path.iterdir())], rate=1.0)
    assert [one.id for one in found.recordings if not re.fullmatch(r"[^.:][^:]*", one.id)] == []
    assert len({one.id for one in found.recordings}) == 3


def test_what_was_skipped_is_told_even_where_too_few_are_left(
    videos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in "bc":
        (videos / f"{name}.mp4").write_bytes(b"this is no video")
    with pytest.raises(SystemExit):
        entry(TrainOptions, main, args=arguments(videos, tmp_path, "--skip-bad"))
    said = capsys.readouterr()
    assert said.out.count("skipped: ") == 2
    assert "needs at least 2, got 1" in said.err
    assert "skipped" not in said.err

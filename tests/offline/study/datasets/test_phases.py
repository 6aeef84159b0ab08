"""Phases of grasping recordings: four steps bounded by three moments, errors with their line."""

from __future__ import annotations

from pathlib import Path

import pytest

from guide.domain import Segment
from guide.errors import InputError
from offline.study.datasets.phases import episode_of, read_phases, segments_of

HEAD = "episode,length,hand_open,grasp_closed,release_open,video_present\n"


def write(folder: Path, *rows: str, info: str | None = None) -> Path:
    (folder / "phases.csv").write_text(HEAD + "\n".join(rows) + "\n")
    if info is not None:
        (folder / "info.json").write_text(info)
    return folder


def test_frames_become_seconds(tmp_path: Path) -> None:
    assert read_phases(write(tmp_path, "20,297,60,120,240,True")) == {20: (2.0, 4.0, 8.0)}


def test_the_rate_comes_from_the_information_file(tmp_path: Path) -> None:
    assert read_phases(write(tmp_path, "20,297,60,120,240,True", info='{"fps": 60}')) == {20: (1.0, 2.0, 4.0)}


def test_four_steps_fill_the_recording() -> None:
    assert segments_of((2.0, 4.0, 8.0), 9.9) == (
        Segment(1, 0.0, 2.0),
        Segment(2, 2.0, 4.0),
        Segment(3, 4.0, 8.0),
        Segment(4, 8.0, 9.9),
    )


def test_a_recording_that_stops_early_has_fewer_steps() -> None:
    assert [segment.step for segment in segments_of((2.0, 4.0, 8.0), 3.0)] == [1, 2]


@pytest.mark.parametrize(
    ("row", "word"),
    [
        ("20,297,sixty,120,240,True", "line 3 should give whole numbers"),
        ("20,297,60", "line 3 should give whole numbers"),
        ("20,297,160,120,240,True", "line 3: .* one after the other"),
        ("20,297,-1,120,240,True", "line 3: .* one after the other"),
        (f"20,297,60,120,1{'0' * 400},True", "line 3: .* one after the other"),
        ("19,297,60,120,240,True", "line 3: episode 19 comes twice"),
    ],
)
def test_wrong_lines_are_named(tmp_path: Path, row: str, word: str) -> None:
    with pytest.raises(InputError, match=f"phases.csv {word}"):
        read_phases(write(tmp_path, "19,100,1,2,3,True", row))


@pytest.mark.parametrize("info", ['{"fps": 0}', '{"fps": "fast"}', "[]"])
def test_a_rate_that_is_none_is_refused(tmp_path: Path, info: str) -> None:
    with pytest.raises(InputError, match="fps as a number above 0"):
        read_phases(write(tmp_path, "20,297,60,120,240,True", info=info))


def test_no_table_no_phases(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_phases(tmp_path)


@pytest.mark.parametrize(("name", "number"), [("episode_000020", 20), ("a7", 7), ("notes", None)])
def test_the_episode_stands_at_the_end_of_the_name(name: str, number: int | None) -> None:
    assert episode_of(name) == number

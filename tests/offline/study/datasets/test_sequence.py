"""Segments in seconds become labels at a rate."""

from __future__ import annotations

from pathlib import Path

import pytest

from guide.domain import Segment
from guide.errors import InputError
from offline.study.datasets.sequence import StepSequence, TaskSequences, find_file, read_json


@pytest.mark.parametrize(
    ("rate", "expected"),
    [
        (10.0, [0, 0, 0, 1, 1, 1, 1, 2, 2, 2]),  # 0.3 s x 10 is frame 3 although 0.3 is no binary fraction
        (5.0, [0, 0, 1, 1, 2]),  # frames at 0, .2, .4, .6, .8
        (2.0, [0, 1]),
    ],
)
def test_labels_are_those_at_the_frames_times(rate: float, expected: list[int]) -> None:
    sequence = StepSequence("a", 1.0, (Segment(1, 0.3, 0.7), Segment(2, 0.7, 1.0)))
    assert sequence.labels(rate).tolist() == expected


def test_the_later_segment_wins() -> None:
    sequence = StepSequence("a", 4.0, (Segment(1, 0.0, 3.0), Segment(2, 2.0, 4.0)))
    assert sequence.labels(1.0).tolist() == [1, 1, 2, 2]


def test_mistakes_belong_to_segments() -> None:
    with pytest.raises(ValueError, match="as many mistakes"):
        StepSequence("a", 1.0, (Segment(1, 0.0, 1.0),), mistakes=((), ()))


def test_overlaps_are_counted_even_behind_a_short_segment() -> None:
    sequence = StepSequence(
        "a", 9.0, (Segment(1, 0.0, 5.0), Segment(2, 1.0, 2.0), Segment(3, 4.0, 6.0), Segment(1, 6.0, 7.0))
    )
    assert sequence.overlaps == 2
    assert StepSequence("a", 0.0, ()).overlaps == 0


def test_remarks_say_what_a_reader_of_figures_should_know() -> None:
    sequence = StepSequence("a", 3.0, (Segment(1, 0.0, 2.0), Segment(2, 1.0, 3.0)), has_length=False)
    task = TaskSequences("tea", (), (sequence,), missing=("the video of a",), changes=("line 1 was left out",))
    assert task.remarks() == [
        "missing: the video of a",
        "changed: line 1 was left out",
        "1 step starts before an earlier one has ended: the later one wins",
    ]
    assert TaskSequences("tea", (), ()).remarks() == []


def test_one_file_is_found_none_or_two_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="found none"):
        find_file(tmp_path, "names*.json")
    (tmp_path / "names_a.json").write_text("{}")
    assert find_file(tmp_path, "names*.json").name == "names_a.json"
    (tmp_path / "names_b.json").write_text("{}")
    with pytest.raises(InputError, match=r"names_a\.json, names_b\.json"):
        find_file(tmp_path, "names*.json")


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe\x00"])
def test_damaged_json_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"a\.json should hold JSON"):
        read_json(path)


def test_missing_json_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.json was expected"):
        read_json(tmp_path / "a.json")

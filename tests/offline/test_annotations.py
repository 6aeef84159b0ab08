"""Label files: strict by default, each problem named, lenient repairs listed, and frames that keep their labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.domain import Segment
from guide.errors import InputError, OutputError
from offline.annotations import labels_to_segments, read_label_folder, read_labels, segments_to_labels, write_labels
from offline.videos import Recording, RecordingFacts


def write(folder: Path, text: str, name: str = "a.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_good_file(tmp_path: Path) -> None:
    path = write(tmp_path, '\ufeff0.5,2,"1 open box"\r\n\r\n2.0, 3.5, "2 cut, then glue"\n9,9.9,1 open box\n')
    labels = read_labels(path, duration_s=9.8, steps=[1, 2, 3])
    assert labels.segments == (Segment(1, 0.5, 2.0), Segment(2, 2.0, 3.5), Segment(1, 9.0, 9.8))
    assert labels.names == {1: "open box", 2: "cut, then glue"}
    assert labels.changes == ()


PROBLEMS = [
    ("0,1\n", "line 1: expected start,end", []),
    ("start,end,step\n0,1,1 a\n", "line 1: start and end must be seconds", [(1, 0, 1)]),
    ("nan,1,1 a\n", "line 1: start and end", []),
    ("-1,1,1 a\n", "line 1: start and end", []),
    ("0,1,open box\n", "line 1: a step is a number", []),
    ("0,1,0 background\n", "line 1: a step is a number", []),
    ("0,1,2\n", "line 1: step 2 has no name", [(2, 0, 1)]),
    ("3,1,1 a\n", "line 1: the step ends at 1 s, before it starts at 3 s", [(1, 1, 3)]),
    ("1,1,1 a\n", "line 1: the step starts and ends at 1 s", []),
    ("0,1,1 a\n1,30,2 b\n", "line 2: the step ends at 30 s, past the recording's end at 10.0", [(1, 0, 1), (2, 1, 10)]),
    ("0,1,1 a\n20,30,2 b\n", "line 2: the step ends at 30 s, past", [(1, 0, 1)]),
    ("0,1,9 a\n", "line 1: step 9 is unknown, the steps are 1, 2, 3", []),
    ("0,2,1 a\n1,3,2 b\n", "line 2: the step starts at 1 s, before the one in line 1 ends", [(1, 0, 1), (2, 1, 3)]),
    ("0,2,1 a\n0,3,2 b\n", "line 2: the step starts at 0 s", [(2, 0, 3)]),
    ("0,2,1 a\n2,3,1 b\n", "line 2: step 1 is called 'b' here and 'a' before", [(1, 0, 2), (1, 2, 3)]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sentence", "repaired"), PROBLEMS)
def test_each_problem_is_named_and_repaired_only_leniently(
    tmp_path: Path, text: str, sentence: str, repaired: list[tuple[int, float, float]]
) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read_labels(path, duration_s=10.0, steps={1, 2, 3})
    assert f"{path} {sentence}" in str(caught.value)
    labels = read_labels(path, duration_s=10.0, steps={1, 2, 3}, lenient=True)
    assert labels.segments == tuple(Segment(*row) for row in repaired)
    assert any(sentence in change for change in labels.changes)
    assert all(len(change) > len(sentence) for change in labels.changes)


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    path = write(tmp_path, "0,1\n3,1,1 a\n4,5,nothing\n")
    with pytest.raises(InputError, match=r"3 problems .*line 1.*line 2.*line 3"):
        read_labels(path)


@pytest.mark.parametrize(
    ("content", "sentence"), [(None, "does not exist"), (b"\xff\xfe\x00", "UTF-8 text"), (b'0,1,"1 a\x00"\n', "")]
)
def test_files_that_are_no_text_are_named(tmp_path: Path, content: bytes | None, sentence: str) -> None:
    path = tmp_path / "a.csv"
    if content is None or sentence:
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(InputError, match=sentence):
            read_labels(path)
    else:
        path.write_bytes(content)
        read_labels(path, lenient=True)  # odd, but no crash


def some_facts(*names: str) -> list[RecordingFacts]:
    return [RecordingFacts(Recording(name, Path(name), "video"), 101, 10.0, 10.0) for name in names]


def test_a_folder_labels_some_recordings(tmp_path: Path) -> None:
    write(tmp_path, "0,1,1 a\n", "anna.csv")
    write(tmp_path, "not,a,label\n", "stranger.csv")  # belongs to no recording: not read
    read = read_label_folder(tmp_path, some_facts("anna", "bert"))
    assert set(read) == {"anna"}


def test_problems_of_all_files_are_told_together(tmp_path: Path) -> None:
    write(tmp_path, "0,99,1 a\n", "anna.csv")
    write(tmp_path, "5,4,1 a\n", "bert.csv")
    with pytest.raises(InputError, match=r"2 problems .*anna\.csv line 1.*bert\.csv line 1"):
        read_label_folder(tmp_path, some_facts("anna", "bert"))
    assert len(read_label_folder(tmp_path, some_facts("anna", "bert"), lenient=True)) == 2


def test_a_step_has_one_name_in_all_files(tmp_path: Path) -> None:
    write(tmp_path, "0,1,1 open\n", "anna.csv")
    write(tmp_path, "0,1,1 close\n", "bert.csv")
    with pytest.raises(InputError, match="step 1 is 'open' for anna and 'close' for bert"):
        read_label_folder(tmp_path, some_facts("anna", "bert"))


def test_a_folder_without_fitting_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"such as anna\.csv"):
        read_label_folder(tmp_path, some_facts("anna"))
    with pytest.raises(InputError, match="is not a folder"):
        read_label_folder(tmp_path / "none", some_facts("anna"))


def test_what_is_written_is_the_agreed_form(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    segments = [Segment(1, 0.0, 1.25), Segment(-1, 1.25, 2.0), Segment(3, 2.0, 3.0004)]
    write_labels(path, segments, {1: 'say "hello", wait'})
    assert path.read_text() == '0.000,1.250,"1 say ""hello"", wait"\n2.000,3.000,"3 step 3"\n'
    assert read_labels(path).names == {1: 'say "hello", wait', 3: "step 3"}
    with pytest.raises(OutputError, match="cannot be written"):
        write_labels(tmp_path / "none" / "a.csv", segments, {})


@settings(derandomize=True, deadline=None, max_examples=150)
@given(
    labels=st.lists(st.integers(0, 4), min_size=1, max_size=80),
    rate=st.sampled_from([1.0, 2.0, 9.2, 29.97, 59.94]),
    jitter=st.integers(0, 2**16),
)
def test_frames_keep_their_labels_through_segments_and_files(
    labels: list[int], rate: float, jitter: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    given_labels = np.array(labels, np.int64)
    times = (np.arange(len(labels)) + np.random.default_rng(jitter).uniform(0, 0.5, len(labels))) / rate
    segments = labels_to_segments(given_labels, times, rate)
    np.testing.assert_array_equal(segments_to_labels(segments, times), given_labels)
    path = tmp_path_factory.getbasetemp() / "labels.csv"
    write_labels(path, segments, {})
    np.testing.assert_array_equal(segments_to_labels(read_labels(path).segments, times), given_labels)


def test_no_frames_no_segments() -> None:
    assert labels_to_segments(np.zeros(0, np.int64), np.zeros(0), 1.0) == []

"""Label files: strict by default, each problem named, lenient repairs listed, and frames that keep their labels."""

from __future__ import annotations

import csv
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.domain import Segment
from guide.errors import InputError, OutputError
from guide.record.elan import Annotation, Tier, write_elan
from guide.teach.annotations import labels_to_segments, read_label_folder, read_labels, segments_to_labels, write_labels
from guide.teach.label_rows import clean_name


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
    ("start,end,step\n0,1,1 a\n", "line 1: a label file has no header: start and end must be", [(1, 0, 1)]),
    ("0,1,1 a\nstart,end,step\n", "line 2: start and end must be seconds", [(1, 0, 1)]),
    ("", "line 1: the file is empty", []),
    ("\n \n", "line 1: the file is empty", []),
    ("0;1;1 a\n", "line 1: values are separated by commas, here by semicolons", []),
    ("0,5;1,5;1 a\n", "line 1: values are separated by commas, here by semicolons", []),
    ("0\t1\t1 a\n", "line 1: values are separated by commas, here by tabs", []),
    ("0|1|1 a\n", "line 1: values are separated by commas, here by bars", []),
    ("0,1,1 cut, then glue\n", "line 1: expected start,end,\"number name\", got 4 values: put a name", []),
    ("nan,1,1 a\n", "line 1: start and end", []),
    ("inf,1,1 a\n", "line 1: start and end", []),
    ("0,1e309,1 a\n", "line 1: start and end must be seconds from 0 on, got '0' and '1e309'", []),
    ("0,1e7,1 a\n", "line 1: start and end", []),
    ("0,1_0,1 a\n", "line 1: start and end", []),
    ("0,\u0663,1 a\n", "line 1: start and end", []),
    ("0,1,\u0663 a\n", "line 1: a step is a number", []),
    ('0,1,"1 fit\tboard"\n', "line 1: the name 'fit\\tboard' holds characters that cannot be seen", [(1, 0, 1)]),
    ('0,1,"1 fit\nboard"\n', "line 2: the name 'fit\\nboard' holds characters that cannot be seen", [(1, 0, 1)]),
    ("0,1,1 \u202etaob\n", "line 1: the name '\\u202etaob' holds characters that cannot be seen", [(1, 0, 1)]),
    ("0,1,1 a\x00b\n", "line 1: the name 'a\\x00b' holds characters that cannot be seen", [(1, 0, 1)]),
    ("0,1,1 \x07\n", "line 1: step 1 has no name", [(1, 0, 1)]),
    ("1,1.0002,1 a\n", "line 1: the step starts and ends at 1 s", []),
    ("0,1,1 a\n10.1,10.4,2 b\n", "line 2: the step ends at 10.4 s, past the recording's end", [(1, 0, 1)]),
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
    ("content", "sentence"),
    [
        (None, r"a\.csv does not exist"),
        ("0,1,1 a".encode("utf-16"), r"a\.csv cannot be read as UTF-8 text"),
        (b"0,1,1 caf\xe9", r"a\.csv cannot be read as UTF-8 text"),
        (b"0,1,1 " + b"a" * 200_000, r"a\.csv cannot be read as UTF-8 text with commas \(field larger"),
    ],
)
def test_files_that_are_no_text_are_named(tmp_path: Path, content: bytes | None, sentence: str) -> None:
    path = tmp_path / "a.csv"
    if content is not None:
        path.write_bytes(content)
    for lenient in (False, True):
        with pytest.raises(InputError, match=sentence):
            read_labels(path, lenient=lenient)


def test_numbers_may_end_in_a_dot_and_names_may_need_joiners(tmp_path: Path) -> None:
    path = write(tmp_path, "0,1,1. cut onion\n1,2,2 \u0645\u06cc\u200c\u062e\u0648\u0631\u0645\n")
    assert read_labels(path).names == {1: "cut onion", 2: "\u0645\u06cc\u200c\u062e\u0648\u0631\u0645"}


def test_a_long_value_is_cut_in_the_message(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_labels(write(tmp_path, '0,1,"' + "x" * 9000 + '"\n'))
    assert len(str(caught.value)) < 400 + len(str(tmp_path))


def ends(*names: str) -> dict[str, float]:
    return dict.fromkeys(names, 10.1)


def test_a_folder_labels_some_recordings(tmp_path: Path) -> None:
    write(tmp_path, "0,1,1 a\n", "helmet.csv")
    write(tmp_path, "not,a,label\n", "stranger.csv")  # belongs to no recording: not read
    read = read_label_folder(tmp_path, ends("helmet", "visor"))
    assert set(read) == {"helmet"}


def test_problems_of_all_files_are_told_together(tmp_path: Path) -> None:
    write(tmp_path, "0,99,1 a\n", "helmet.csv")
    write(tmp_path, "5,4,1 a\n", "visor.csv")
    with pytest.raises(InputError, match=r"2 problems .*helmet\.csv line 1.*visor\.csv line 1"):
        read_label_folder(tmp_path, ends("helmet", "visor"))
    assert len(read_label_folder(tmp_path, ends("helmet", "visor"), lenient=True)) == 2


def test_a_step_has_one_name_in_all_files(tmp_path: Path) -> None:
    write(tmp_path, "0,1,1 open\n", "helmet.csv")
    write(tmp_path, "0,1,1 close\n", "visor.csv")
    with pytest.raises(InputError, match="step 1 is 'open' for helmet and 'close' for visor"):
        read_label_folder(tmp_path, ends("helmet", "visor"))


def test_a_folder_without_fitting_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"such as helmet\.csv"):
        read_label_folder(tmp_path, ends("helmet"))
    with pytest.raises(InputError, match="is not a folder"):
        read_label_folder(tmp_path / "none", ends("helmet"))


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
    read = read_labels(path, lenient=not segments)  # a file without rows is refused otherwise
    np.testing.assert_array_equal(segments_to_labels(read.segments, times), given_labels)


def test_no_frames_no_segments() -> None:
    assert labels_to_segments(np.zeros(0, np.int64), np.zeros(0), 1.0) == []


TIMES = st.integers(0, 12_000).map(lambda at: at / 1000)
NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\ufffe\uffff"), min_size=1, max_size=8)


@pytest.mark.parametrize("suffix", [".csv", ".eaf"])
@settings(derandomize=True, deadline=None, max_examples=80)
@given(
    lengths=st.lists(
        st.tuples(st.integers(0, 900), st.integers(1, 4000), st.integers(1, 999_999)), min_size=1, max_size=6
    ),
    name=NAMES,
)
def test_what_is_written_reads_back_the_same(
    suffix: str, lengths: list[tuple[int, int, int]], name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    segments, at = [], 0
    for pause, length, step in lengths:
        segments.append(Segment(step, (at + pause) / 1000, (at + pause + length) / 1000))
        at += pause + length
    path = tmp_path_factory.getbasetemp() / f"round{suffix}"
    names = {segment.step: clean_name(name) or f"step {segment.step}" for segment in segments}
    write_labels(path, segments, dict.fromkeys(names, name))
    labels = read_labels(path)
    assert labels.segments == tuple(segments)
    assert labels.names == names


CELL = st.one_of(
    TIMES.map(str), st.floats(0, 20).map(str), st.sampled_from(["nan", "1e309", "-1", "", "x", "3;4", "1.0005"]),
    st.integers(0, 5).map(lambda step: f"{step} {'abcde'[step - 1]}"), NAMES,
)  # fmt: skip
ROW = st.tuples(TIMES.map(str) | CELL, st.floats(0, 20).map(str) | CELL, st.integers(1, 5).map("{} a".format) | CELL)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(rows=st.lists(ROW | st.lists(CELL, max_size=5), max_size=8), duration_s=st.none() | st.floats(0.5, 15))
def test_lenient_reading_never_raises_and_what_it_gives_is_strictly_right(
    rows: list[tuple[str, ...]], duration_s: float | None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "wild.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    labels = read_labels(path, duration_s, steps={1, 2, 3, 4}, lenient=True)
    assert all(a.end <= b.start for a, b in pairwise(labels.segments))
    if labels.segments:
        write_labels(path, labels.segments, labels.names)
        again = read_labels(path, duration_s, steps={1, 2, 3, 4})
        assert (again.segments, dict(again.names)) == (labels.segments, dict(labels.names))


def test_elan_files_stand_beside_csv_files_and_share_their_numbers(tmp_path: Path) -> None:
    write(tmp_path, "0,1,2 close lid\n", "helmet.csv")
    rows = (Annotation(0.5, 2.0, "Open box"), Annotation(3.0, 4.0, "close  lid"))
    write_elan(tmp_path / "visor.eaf", [Tier("work", rows), Tier("empty", ())])
    read = read_label_folder(tmp_path, ends("helmet", "visor", "phone"))
    assert read["visor"].segments == (Segment(3, 0.5, 2.0), Segment(2, 3.0, 4.0))
    assert set(read) == {"helmet", "visor"}


def test_names_that_differ_in_case_are_still_told(tmp_path: Path) -> None:
    write(tmp_path, "0,1,2 close lid\n", "helmet.csv")
    write_elan(tmp_path / "visor.eaf", [Tier("work", (Annotation(0.0, 1.0, "Close lid"),))])
    with pytest.raises(InputError, match="step 2 is 'close lid' for helmet and 'Close lid' for visor"):
        read_label_folder(tmp_path, ends("helmet", "visor"))


def test_problems_of_elan_files_are_named_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "visor.eaf"
    write_elan(path, [Tier("steps", (Annotation(0.0, 2.0, "1 a"), Annotation(1.0, 3.0, "b")))])
    with pytest.raises(InputError, match=r"visor\.eaf line \d+: a step is a number from 1 on and a name.* got 'b'"):
        read_labels(path)
    write_elan(path, [Tier("steps", (Annotation(0.0, 2.0, "1 a"), Annotation(1.0, 3.0, "2 b")))])
    with pytest.raises(InputError, match=r"visor\.eaf line \d+: the step starts at 1 s, before the one in line"):
        read_labels(path)
    text = path.read_text().replace("</HEADER>", '<MEDIA_DESCRIPTOR MEDIA_URL="x" TIME_ORIGIN="1500"/></HEADER>')
    path.write_text(text)
    with pytest.raises(InputError, match=r"line 1: the annotations are shifted by 1\.5 s against the video"):
        read_labels(path)
    assert read_labels(path, lenient=True).segments == (Segment(1, 0.0, 1.0), Segment(2, 1.0, 3.0))


def test_two_label_files_for_one_recording_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "0,1,1 a\n", "helmet.csv")
    write_elan(tmp_path / "helmet.eaf", [])
    with pytest.raises(InputError, match=r"helmet\.csv and helmet\.eaf both stand"):
        read_label_folder(tmp_path, ends("helmet"))


def test_a_file_with_mistakes_alone_is_not_called_background(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """One sentence says what is wrong; that no row is left of it is no second finding."""
    (tmp_path / "a.csv").write_text('zero,2.5,"1 open box"\n', encoding="utf-8")
    with pytest.raises(InputError, match="a problem in the labels"):
        read_label_folder(tmp_path, {"a": 9.0})
    assert "background" not in caplog.text
    read_label_folder(tmp_path, {"a": 9.0}, lenient=True)
    assert "the whole recording counts as background" in caplog.text

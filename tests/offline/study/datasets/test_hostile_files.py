"""Files nobody would write on purpose: every reader answers with tasks or with one sentence, and drops nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from guide.errors import InputError
from guide.teach.label_rows import LATEST_S
from offline.study.datasets.folder import read_all
from offline.study.datasets.label_folder import ReadOptions
from offline.study.datasets.sequence import TaskSequences
from offline.study.statistics import measure
from tests.made_datasets import MAKERS, make_captaincook, make_crosstask, make_egoprocel, make_egoprocel_json, write

ODD = (
    b"\xef\xbb\xbf", b"\r\n", b"\r", b"\n", b"\n\n\n", b"", b"\x00", b"\xff\xfe", b'"', b"'", b",", b";", b"\t",
    b"NaN", b"nan", b"Infinity", b"-Infinity", b"1e999", b"-1", b"-0.0", b"1e300", b"99999999999999999999",
    b"9" * 5000, b"0", b"0.1", b"1.5", b"\xc2\xb2", b"\xe2\x80\xa8", b"null", b"true", b"[]", b"{}", b"[" * 3000,
    b"{", b"}", b"]", b"start,end,step\n", b"<", b"&#0;", b"..", b"../../x", b" ", b"step",
)  # fmt: skip


@st.composite
def damage(draw: st.DrawFn) -> Callable[[bytes], bytes]:
    """Some bytes of a file, anywhere, give way to something odd; or a word does wherever it stands first."""
    start, length = draw(st.floats(0, 1)), draw(st.integers(0, 12))
    odd = draw(st.sampled_from(ODD))

    def change(content: bytes) -> bytes:
        at = round(start * len(content))
        return content[:at] + odd + content[at + length :]

    return change


@st.composite
def values(draw: st.DrawFn) -> Callable[[bytes], bytes]:
    """One of the file's words (numbers, names) becomes another, so that its form stays whole."""
    number, odd = draw(st.integers(0, 60)), draw(st.sampled_from(ODD))

    def change(content: bytes) -> bytes:
        spots = [at for at in range(len(content)) if content[at : at + 1].isalnum()]
        spots = [at for at in spots if not content[at - 1 : at].isalnum()] or [0]
        at = spots[number % len(spots)]
        end = at
        while end < len(content) and (content[end : end + 1].isalnum() or content[end : end + 1] in b".-_"):
            end += 1
        return content[:at] + odd + content[end:]

    return change


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {name: make(tmp_path_factory.mktemp(name.replace(".", "_"))) for name, (make, _) in MAKERS.items()}


def outcome(folder: Path, lenient: bool) -> dict[str, TaskSequences] | str:
    """The tasks, or the sentence; anything else is a fault of ours and passes through."""
    try:
        return read_all(folder, options=ReadOptions(lenient))
    except InputError as error:
        return str(error)


def check(found: dict[str, TaskSequences] | str) -> None:
    if isinstance(found, str):
        assert found.strip()
        assert "\n" not in found, found
        assert found.endswith("."), found
        return
    for word, task in found.items():
        measure(word, task)
        for sequence in task.sequences:
            assert 0 <= sequence.duration_s <= LATEST_S
            assert len(sequence.labels(0.01)) <= LATEST_S
            assert all(0 <= one.start <= one.end for one in sequence.segments)
            assert all(1 <= one.step <= len(task.steps) for one in sequence.segments)


@pytest.mark.parametrize("dataset", MAKERS)
@settings(derandomize=True, deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(damage() | values(), min_size=1, max_size=2), which=st.integers(0, 20), lenient=st.booleans())
def test_a_damaged_file_gives_tasks_or_one_sentence(
    dataset: str, changes: list[Callable[[bytes], bytes]], which: int, lenient: bool, made: dict[str, Path]
) -> None:
    files = sorted(path for path in made[dataset].rglob("*") if path.is_file())
    path = files[which % len(files)]
    whole = path.read_bytes()
    content = whole
    for change in changes:
        content = change(content)
    path.write_bytes(content)
    try:
        check(outcome(made[dataset], lenient))
    finally:
        path.write_bytes(whole)


ROWS = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(1, 3)).map(
        lambda row: f'{row[0]},{row[1]},"{row[2]} step, the {row[2]}"'
    )
    | st.sampled_from(["start,end,step", "1;2;1 a", "nan,2,1 a", "-1,2,1 a", "1,2,a", "1,1e999,1 a", "1,2,0 a", "x"]),
    min_size=1,
    max_size=8,
)


@settings(derandomize=True, deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS, end=st.sampled_from(["\n", "\r\n"]), mark=st.sampled_from(["", "\ufeff"]))
def test_every_row_is_a_step_or_is_told_of(rows: list[str], end: str, mark: str, tmp_path: Path) -> None:
    path = tmp_path / "01.csv"
    path.write_bytes((mark + end.join([*rows, ""])).encode())
    write(tmp_path / "02.csv", '0,1,"1 step, the 1"\n1,2,"2 step, the 2"\n2,3,"3 step, the 3"\n')
    strict, lenient = outcome(tmp_path, lenient=False), outcome(tmp_path, lenient=True)
    assert not isinstance(lenient, str)
    (task,) = lenient.values()
    is_other = any("not read: 01.csv" in remark for remark in task.remarks())
    kept = sum(len(one.segments) for one in task.recordings if one.id == "01")
    told = sum("changed: " in remark and "01.csv" in remark for remark in task.remarks())
    assert is_other or kept + told >= len(rows)
    if isinstance(strict, str):
        assert "01.csv line" in strict
        assert told > 0
    else:
        assert is_other or kept == len(rows)


@pytest.mark.parametrize(
    ("dataset", "file", "old", "new", "words"),
    [
        ("captaincook", "error_annotations_made.json", "6.0", "NaN", "times are seconds"),
        ("captaincook", "error_annotations_made.json", "6.0", "1e999", "times are seconds"),
        ("captaincook", "error_annotations_made.json", "6.0", "3.0", "ends before it starts"),
        ("captaincook", "error_annotations_made.json", "6.0", "9" * 5000, "error_annotations_made"),
        ("egoprocel.json", "egoprocel.json", "29", "29.5", "no whole number"),
        ("egoprocel.json", "egoprocel.json", "29", "Infinity", "no whole number"),
        ("egoprocel.json", "egoprocel.json", "29", "99999999999", "more than 1e+06 s"),
        ("egoprocel.json", "egoprocel.json", "[0, 10]", "[-5, 10]", "no whole number"),
        ("egoprocel.json", "egoprocel-id2action.txt", "5 fit", "\u00b2 fit", "line 2 should be a number and a name"),
        ("egoprocel.json", "egoprocel-id2action.txt", "0 back", "5 back", "line 2 names step 5 a second time"),
        ("egoprocel.json", "egoprocel-id2action.txt", "0 background\n5 fit_board\n", "\n", "names none"),
        ("crosstask", "crosstask_release/tasks_primary.txt", "16815", "23521", "names a task's number twice"),
    ],
)
def test_values_that_cannot_be_are_named(
    dataset: str, file: str, old: str, new: str, words: str, tmp_path: Path
) -> None:
    path = MAKERS[dataset][0](tmp_path) / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    said = outcome(tmp_path, lenient=False)
    assert isinstance(said, str)
    assert words in said
    assert path.name in said


@pytest.mark.parametrize("make", [make_captaincook, make_egoprocel_json, make_crosstask])
def test_a_byte_order_mark_and_windows_line_ends_are_no_matter(make: Callable[[Path], Path], tmp_path: Path) -> None:
    plain = outcome(make(tmp_path), lenient=False)
    for path in [path for path in tmp_path.rglob("*") if path.is_file()]:
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert not isinstance(plain, str)
    assert outcome(tmp_path, lenient=False) == plain


def test_a_recording_that_comes_twice_is_named(tmp_path: Path) -> None:
    path = make_captaincook(tmp_path) / "error_annotations_made.json"
    path.write_text(json.dumps(json.loads(path.read_text()) * 2))
    assert "3_1 comes twice" in str(outcome(tmp_path, lenient=False))


def test_labels_that_lie_too_deep_are_named(tmp_path: Path) -> None:
    for place in ("tea/01.csv", "tea/monday/02.csv", "coffee/monday/03.csv", "coffee/.hidden/04.csv"):
        write(tmp_path / place, "0,1,1 boil\n")
    write(tmp_path / "tea" / "monday" / "prices.csv", "tea,2\ncoffee,3\n")
    found = outcome(tmp_path, lenient=False)
    assert not isinstance(found, str)
    assert found["tea"].remarks() == [
        "not read: coffee/monday/03.csv, which lies where no labels are looked for",
        "not read: tea/monday/02.csv, which lies where no labels are looked for",
    ]


def test_labels_beside_the_folders_of_a_sub_set_are_named(tmp_path: Path) -> None:
    make_egoprocel(tmp_path)
    for number in range(7):
        write(tmp_path / "annotations" / "EGTEA_Gaze+" / f"lost{number}.csv", "0,1,1 boil\n")
    found = outcome(tmp_path, lenient=False)
    assert not isinstance(found, str)
    told = [remark for task in found.values() for remark in task.remarks() if "not read" in remark]
    assert "EGTEA_Gaze+/lost0.csv" in told[0]
    assert told[-1] == "not read: 2 more such files"


def test_a_link_to_nowhere_and_endings_in_capitals(tmp_path: Path) -> None:
    write(tmp_path / "01.CSV", "0,1,1 boil\n")
    (tmp_path / "02.csv").symlink_to(tmp_path / "gone.csv")
    assert "02.csv is a link to a file that is not there" in str(outcome(tmp_path, lenient=False))
    (tmp_path / "02.csv").unlink()
    (tmp_path / "02.csv").symlink_to(tmp_path / "01.CSV")
    found = outcome(tmp_path, lenient=False)
    assert not isinstance(found, str)
    assert [one.id for one in found[tmp_path.name].recordings] == ["01", "02"]


def test_one_name_in_two_cases_is_two_recordings_and_with_two_endings_a_fault(tmp_path: Path) -> None:
    for name in ("Tea.csv", "tea.csv"):
        write(tmp_path / name, "0,1,1 boil\n")
    if len(list(tmp_path.iterdir())) < 2:
        pytest.skip("this file system takes the two names for one")
    found = outcome(tmp_path, lenient=False)
    assert not isinstance(found, str)
    assert [one.id for one in found[tmp_path.name].recordings] == ["Tea", "tea"]
    write(tmp_path / "tea.CSV", "0,1,1 boil\n")
    assert "are both of tea: keep one" in str(outcome(tmp_path, lenient=False))

"""The paper's data set table, by hand and on the real labels where they are at hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from guide.domain import KeyStep, Segment
from guide.errors import InputError
from offline.study.datasets.folder import read_all
from offline.study.datasets.sequence import StepSequence, TaskSequences
from offline.study.published import STATISTICS
from offline.study.statistics import (
    PAPER_NAMES,
    Config,
    TaskStatistics,
    agreement,
    measure,
    more_visits,
    published,
    run,
    task_statistics,
)
from tests.made_datasets import MAKERS, make_egoprocel, write

SHARED = os.environ.get("CNC_SHARED_DATA")


def test_the_ratios_by_hand() -> None:
    """K = 4; a: steps 1 2 1 in 6 of 10 s; b: step 2 in 1 of 5 s. u = 2 + 1, g = 3 + 1."""
    a = StepSequence("a", 10.0, (Segment(1, 0.0, 2.0), Segment(2, 3.0, 5.0), Segment(1, 6.0, 8.0)))
    b = StepSequence("b", 5.0, (Segment(2, 1.0, 2.0),))
    line = task_statistics([a, b], key_steps=4, videos=2)
    assert line.foreground == pytest.approx((0.6 + 0.2) / 2)
    assert line.missing == pytest.approx(1 - 3 / 8)
    assert line.repeated == pytest.approx(1 - 3 / 4)


def test_how_often_steps_come_once_more_by_hand() -> None:
    """Of five steps of recordings one comes once more, and then again; a pause is no second time."""
    a = StepSequence("a", 10.0, (Segment(1, 0.0, 2.0), Segment(1, 3.0, 5.0), Segment(2, 6.0, 8.0)))
    turns = tuple(Segment(step, float(at), at + 0.5) for at, step in enumerate((1, 3, 1, 4, 1)))
    steps = tuple(KeyStep(number, str(number)) for number in range(1, 5))
    task = TaskSequences("tea", steps, (a, StepSequence("b", 10.0, turns)))
    assert more_visits([task], most=3) == pytest.approx([1 / 5, 1.0, 0.0])


def test_overlapping_steps_fill_their_time_once() -> None:
    sequence = StepSequence("a", 10.0, (Segment(1, 0.0, 4.0), Segment(2, 2.0, 5.0), Segment(3, 2.5, 3.0)))
    assert task_statistics([sequence], 3, 1).foreground == 0.5


def test_nothing_recorded_is_no_division_by_zero() -> None:
    assert task_statistics([], 0, 0) == TaskStatistics(0, 0, 0.0, 0.0, 0.0)
    assert task_statistics([StepSequence("a", 0.0, ())], 3, 1) == TaskStatistics(1, 3, 0.0, 1.0, 0.0)


def test_every_task_of_the_paper_has_its_line() -> None:
    assert set(PAPER_NAMES.values()) == {name for name, _ in STATISTICS.rows}
    assert published("tent") == TaskStatistics(29, 12, 0.63, 0.14, 0.73)
    assert published("soup") is None


def test_merged_names_count_against_the_papers_number_of_steps() -> None:
    """Tent has 12 steps in the paper: one distinct step in one recording misses 11 of 12."""
    sequence = StepSequence("a", 2.0, (Segment(1, 0.0, 1.0),))
    line = measure("tent", TaskSequences("tent", (KeyStep(1, "spread tent"),), (sequence,)))
    assert line.key_steps == 1
    assert line.missing == pytest.approx(11 / 12)


@pytest.mark.skipif(SHARED is None, reason="CNC_SHARED_DATA does not point to the real data")
def test_the_papers_table_reproduces_as_far_as_the_file_allows(capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(str(SHARED)) / "egoprocel"
    lines = [(measure(word, task), published(word)) for word, task in read_all(folder).items()]
    assert agreement(lines, "foreground") == (16, 16)
    assert agreement(lines, "missing") == (13, 16)
    assert agreement(lines, "repeated") == (15, 16)
    run(Config(folder))
    assert "foreground: within 0.02 of the paper in 16 of 16 tasks" in capsys.readouterr().out


@pytest.mark.parametrize("name", MAKERS)
def test_every_data_set_has_its_table(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    make, _ = MAKERS[name]
    run(Config(make(tmp_path)))
    out = capsys.readouterr().out
    assert "foreground" in out
    assert ("of the paper's 16 tasks are not here" in out) == name.startswith("egoprocel")


def test_one_view_counts_one_camera(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_egoprocel(tmp_path)
    run(Config(folder, view="rhs"))
    assert "2 / 34" in capsys.readouterr().out
    run(Config(folder, view="top"))
    out = capsys.readouterr().out
    assert "1 / 34" in out
    assert "Brownie: missing: S08_Brownie has no view top" in out
    assert "1 missing in all" in out
    with pytest.raises(InputError, match="no task here has a view 'side'"):
        run(Config(folder, view="side"))


def test_repairs_and_guesses_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "soup" / "helmet.csv", "0,1,1 stir\n5,4,2 pour\n")
    with pytest.raises(InputError, match=r"helmet\.csv line 2.*--lenient"):
        run(Config(tmp_path))
    run(Config(tmp_path, lenient=True))
    out = capsys.readouterr().out.replace("\n", " ")
    assert "start and end exchanged" in out
    assert "The length of 1 of 1 videos is not known" in out

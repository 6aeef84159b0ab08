"""Jobs: what is done is kept, what was cut off goes on, and two processes do what one does."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from guide.errors import InputError
from offline.study.fault_trial.conditions import Conditions
from offline.study.fault_trial.mistakes import Mistaken
from offline.study.jobs import MOST_WORLDS, Job, Shift, do_all, read_seeds, require_workers
from offline.study.keep import Kept, Plain
from tests.faulty_task import make_task


@dataclass
class Counting:
    """Says how often it ran."""

    key: str
    fails: bool = False
    ran: list[str] = field(default_factory=list)
    title: str = "counting"

    def run(self) -> list[Plain]:
        if self.fails:
            raise InputError("the recording is damaged: leave it out.")
        self.ran.append(self.key)
        return [{"kind": self.key, "value": 0.5, "nothing": None}]


def quiet() -> Console:
    return Console(file=io.StringIO(), width=120)


def test_rows_come_in_the_order_of_the_jobs_and_are_kept(tmp_path: Path) -> None:
    jobs: list[Job] = [Counting("b"), Counting("a")]
    rows = [[{"kind": key, "value": 0.5, "nothing": None}] for key in "ba"]
    assert do_all(jobs, Kept(tmp_path), Shift(), quiet()) == rows
    again: list[Job] = [Counting("b", fails=True), Counting("a", fails=True)]
    assert do_all(again, Kept(tmp_path), Shift(), quiet()) == rows, "nothing is run a second time"


def test_a_run_that_was_cut_off_goes_on(tmp_path: Path) -> None:
    first, broken, last = Counting("a"), Counting("b", fails=True), Counting("c")
    with pytest.raises(InputError, match="damaged"):
        do_all([first, broken, last], Kept(tmp_path), Shift(), quiet())
    do_all([first, Counting("b"), last], Kept(tmp_path), Shift(), quiet())
    assert first.ran == ["a"]
    assert last.ran == ["c"]


def test_what_is_done_is_shown_when_the_time_is_up(tmp_path: Path) -> None:
    do_all([Counting("a")], Kept(tmp_path), Shift(), quiet())
    console = quiet()
    for workers in (1, 2):
        jobs = [Counting("a"), Counting("b", fails=True), Counting("c", fails=True)]
        assert do_all(jobs, Kept(tmp_path), Shift(workers, until=0.0), console)[1:] == [[], []]
    said = console.file.getvalue()  # type: ignore[attr-defined]
    assert "1 of 3 parts were done before" in said
    assert "2 of 3 parts are not done" in said


def test_the_same_job_twice_is_done_once(tmp_path: Path) -> None:
    one = Counting("a")
    assert len(do_all([one, one], Kept(tmp_path), Shift(), quiet())) == 2
    assert one.ran == ["a"]


@pytest.mark.parametrize("damage", [b"nothing", None])
def test_results_that_are_damaged_or_no_rows_are_made_again(tmp_path: Path, damage: bytes | None) -> None:
    Kept(tmp_path).write("a", {"other": np.zeros(1)})
    if damage is not None:
        (tmp_path / "a.npz").write_bytes(damage)
    again = Counting("a")
    do_all([again], Kept(tmp_path), Shift(), quiet())
    assert again.ran == ["a"]


def test_two_processes_find_what_one_finds(tmp_path: Path) -> None:
    tasks = [make_task([(1, 2, 4)], first=80), make_task([(1, 2, 3, 4)], first=90)]
    jobs: list[Job] = [Mistaken(make_task([(1, 2, 3, 4)] * 3), each, Conditions(tmp_path)) for each in tasks]
    alone = [job.run() for job in jobs]
    assert do_all(jobs, Kept(tmp_path), Shift(2), quiet()) == alone


@pytest.mark.parametrize(("workers", "words"), [(0, "from 1 up, got 0"), (257, "at most 256, got 257")])
def test_too_few_or_too_many_workers_are_refused(workers: int, words: str) -> None:
    require_workers(256)
    with pytest.raises(InputError, match=f"--workers is .*{words}"):
        require_workers(workers)


@settings(derandomize=True, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 20)), min_size=1, max_size=5))
def test_ranges_of_seeds_are_written_out_and_each_comes_once(ranges: list[tuple[int, int]]) -> None:
    text = " , ".join(f"{first}-{first + more}" if more else str(first) for first, more in ranges)
    written_out = [seed for first, more in ranges for seed in range(first, first + more + 1)]
    assert read_seeds(text, "--seed") == list(dict.fromkeys(written_out))


@pytest.mark.parametrize(
    "text",
    [
        "", ",", "1,", "some", "-1", "5-3", "1.5", "1;2", "1-2-3", "²", "٣", f"0-{MOST_WORLDS}",
        f"0-{MOST_WORLDS - 1},5000", "9" * 5000,
    ],
)  # fmt: skip
def test_seeds_that_are_none_get_one_sentence(text: str) -> None:
    assert len(read_seeds(f"1-{MOST_WORLDS}", "--drawn")) == MOST_WORLDS
    with pytest.raises(InputError, match=r"--drawn takes at most 1000 worlds, whole numbers from 0 up and ranges"):
        read_seeds(text, "--drawn")

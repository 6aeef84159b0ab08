"""Tasks side by side: every one is done once, whatever dies meanwhile, and nobody waits for what nobody wants."""

from __future__ import annotations

import io
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from guide.domain import KeyStep
from guide.errors import GuideError, InputError
from guide.teach.collection import Collection
from guide.teach.describe import learn_recognition, rehearse_all
from offline.executor import MOST_TRIES, Executor, Here, Processes, _in_order, _single_threads, open_executor, tracked
from offline.keysteps.choose import choose_k
from tests.executor_tasks import count_threads, die_at_first, fail, never_end
from tests.small_task import make_demonstrations, make_labels


class Dying(Here):
    """Does tasks here, a few at once, after as many deaths as are planned for each."""

    deaths: tuple[type[BaseException], ...] = (ConnectionError,)

    def __init__(self, planned: list[int], slots: int) -> None:
        self._planned, self._slots = planned, slots

    def slots(self) -> int:
        return self._slots

    def submit(self, task: Callable[[], Any]) -> Future[Any]:
        future: Future[Any] = Future()
        number = task()
        if self._planned[number] > 0:
            self._planned[number] -= 1
            future.set_exception(ConnectionError())
        else:
            future.set_result(number)
        return future


@settings(derandomize=True, deadline=None)
@given(st.lists(st.integers(0, MOST_TRIES), max_size=12), st.integers(1, 4))
def test_every_task_is_done_once_unless_one_kills_its_workers_again_and_again(planned: list[int], slots: int) -> None:
    tasks = [partial(int, number) for number in range(len(planned))]
    is_deadly = MOST_TRIES in planned
    done = Executor(Dying(list(planned), slots)).run(tasks)
    if is_deadly:
        with pytest.raises(GuideError, match=f"died {MOST_TRIES} times of one piece of work"):
            list(done)
    else:
        assert sorted(done) == [(number, number) for number in range(len(planned))]


@settings(derandomize=True, deadline=None)
@given(
    st.lists(st.floats(0.01, 1e4), min_size=1, max_size=8).flatmap(lambda sizes: st.permutations([*enumerate(sizes)]))
)
def test_progress_ends_at_the_whole_in_whatever_order_tasks_end(ended: list[tuple[int, float]]) -> None:
    said, sizes = io.StringIO(), [size for _, size in sorted(ended)]
    console = Console(file=said, width=120)
    assert list(tracked(iter(ended), sizes, "seeing", console)) == ended
    assert f"seeing: 100 % {len(sizes)} of {len(sizes)}, " in said.getvalue()


@settings(derandomize=True, deadline=None)
@given(st.integers(0, 8).flatmap(lambda count: st.permutations(range(count))))
def test_results_come_in_the_order_of_their_tasks_as_soon_as_they_can(ended: list[int]) -> None:
    heard: list[int] = []

    def done() -> Iterator[tuple[int, int]]:
        for count, number in enumerate(ended):
            assert heard == [*range(next(due for due in range(count + 1) if due not in ended[:count]))]
            yield number, number

    for result in _in_order(done()):
        heard.append(result)
    assert heard == sorted(ended)


def test_nothing_is_begun_after_the_end_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("offline.executor.time.monotonic", lambda: now[0])
    assert list(Executor(Here()).run([fail], until=0.0)) == []
    begun: list[int] = []
    tasks = [partial(begun.append, number) for number in range(3)]
    for _ in Executor(Here()).run(tasks, until=1.0):
        now[0] = 1.0
    assert begun == [0]


@pytest.fixture
def processes() -> Iterator[Executor]:
    with open_executor(Processes(2)) as executor:
        yield executor


def test_workers_are_other_processes_of_one_thread(processes: Executor) -> None:
    found = [result for _, result in processes.run([count_threads, count_threads])]
    assert os.getpid() not in {process for process, _ in found}
    assert {threads for _, threads in found} == {(1, 1, "1")}


def test_a_process_that_dies_has_its_work_done_again(processes: Executor, tmp_path: Path) -> None:
    tasks: list[Callable[[], object]] = [partial(die_at_first, tmp_path), os.getpid, os.getpid]
    results = dict(processes.run(tasks))
    assert results[0] == 2
    assert len(results) == 3


def test_what_nobody_waits_for_is_ended_and_others_may_follow(processes: Executor, tmp_path: Path) -> None:
    def wait_and_complain() -> None:
        tasks: list[Callable[[], object]] = [partial(never_end, tmp_path / "begun"), os.getpid]
        for _ in processes.run(tasks):
            while not (tmp_path / "begun").exists():
                time.sleep(0.01)
            raise KeyError("enough")

    before = set(multiprocessing.active_children())
    with pytest.raises(KeyError):
        wait_and_complain()
    processes.back.stop()
    assert set(multiprocessing.active_children()) <= before
    with pytest.raises(InputError, match="damaged"):
        list(processes.run([fail, os.getpid]))


def test_steps_are_counted_and_demonstrations_rehearsed_in_processes_as_here(processes: Executor) -> None:
    demonstrations, steps = make_demonstrations(), [KeyStep(number, f"step {number}") for number in (1, 2, 3)]
    collection = Collection(demonstrations.embeddings, demonstrations.times, demonstrations.rate)
    seen = learn_recognition(demonstrations, make_labels(), steps)
    here, there = (
        (choose_k(collection, 0, (3, 4, 5), each=executor.map), rehearse_all(seen, steps, each=executor.map))
        for executor in (Executor(Here()), processes)
    )
    assert there[1] == here[1]
    assert (there[0].k, there[0].reason) == (here[0].k, here[0].reason)
    np.testing.assert_allclose(there[0].scores, here[0].scores, rtol=1e-9, err_msg="as many threads, the same digits")


def test_surroundings_are_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    with _single_threads():
        assert os.environ["OMP_NUM_THREADS"] == os.environ["MKL_NUM_THREADS"] == "1"
    assert os.environ["OMP_NUM_THREADS"] == "3"
    assert "MKL_NUM_THREADS" not in os.environ

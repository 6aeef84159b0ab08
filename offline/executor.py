"""Tasks done side by side in processes of this machine or on a Ray cluster; what a dead worker held is done again.

A task is a picklable callable without arguments that depends on no other task.
"""

from __future__ import annotations

import logging
import math
import multiprocessing
import os
import signal
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, Protocol, TypeVar

import cv2
from rich.console import Console

from guide.errors import GuideError
from offline.progress import progress

log = logging.getLogger(__name__)

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_TRIES: Final = 3  # of a task whose worker dies: a task that kills every worker must come to an end
LOOK_EVERY_S: Final = 1.0
ONE_THREAD: Final = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""How libraries of maths are asked for one thread."""


class Back(Protocol):
    """Where tasks are done."""

    deaths: tuple[type[BaseException], ...]
    """What a task that was begun ends with where its worker dies."""

    def slots(self) -> int:
        """How many tasks can be done at once, at the moment."""
        ...

    def submit(self, task: Callable[[], Any]) -> Future[Any]: ...

    def result(self, future: Future[Any]) -> Any:
        """What the task gave; raises what it raised."""
        ...

    def stop(self) -> None:
        """Ends the tasks that are being done; others may follow."""
        ...

    def close(self) -> None:
        """Ends all that it started."""
        ...


class Executor:
    """Does tasks side by side.

    >>> list(Executor(Here()).run([lambda: "a", lambda: "b"]))
    [(0, 'a'), (1, 'b')]
    """

    def __init__(self, back: Back) -> None:
        self.back = back

    def run(self, tasks: Sequence[Callable[[], Result]], until: float = math.inf) -> Iterator[tuple[int, Result]]:
        """The number of each task with its result, as they are done; whoever stops asking ends what is being done.

        Nothing is begun after the moment `until` of the steady clock. Raises what a task raises, and GuideError where
        workers die of a task again and again.
        """
        waiting, running, deaths = deque(range(len(tasks))), dict[Future[Any], int](), Counter[int]()
        try:
            while waiting or running:
                while waiting and len(running) < self.back.slots() and time.monotonic() < until:
                    number = waiting.popleft()
                    running[self.back.submit(tasks[number])] = number
                if not running:
                    return
                for future in wait(running, LOOK_EVERY_S, FIRST_COMPLETED).done:
                    number = running.pop(future)
                    try:
                        result = self.back.result(future)
                    except self.back.deaths as death:
                        deaths[number] += 1
                        _require_life(deaths[number], death)
                        waiting.appendleft(number)
                    else:
                        yield number, result
        finally:
            if running:
                self.back.stop()

    def map(
        self, do: Callable[[Item], Result], items: Sequence[Item], what: str = "", console: Console | None = None
    ) -> Iterator[Result]:
        """The same done to each item, with progress where there is a console: results in the order of the items.

        >>> list(Executor(Here()).map(len, ["a", "bc"]))
        [1, 2]
        """
        tasks = [partial(do, item) for item in items]
        return _in_order(tracked(self.run(tasks), [1.0] * len(tasks), what, console or Console(quiet=True)))


def _in_order(done: Iterator[tuple[int, Result]]) -> Iterator[Result]:
    waiting: dict[int, Result] = {}
    due = 0
    for number, result in done:
        waiting[number] = result
        while due in waiting:
            yield waiting.pop(due)
            due += 1


def _require_life(count: int, death: BaseException) -> None:
    if count >= MOST_TRIES:
        raise GuideError(
            f"workers died {count} times of one piece of work ({type(death).__name__}), perhaps for want of memory: "
            "let fewer work at the same time, or on machines with more of it; what is done is kept."
        ) from death
    log.warning("a worker died (%s): its work is done again.", type(death).__name__)


def tracked(
    done: Iterator[tuple[int, Result]], sizes: Sequence[float], what: str, console: Console, titles: Sequence[str] = ()
) -> Iterator[tuple[int, Result]]:
    """What `Executor.run` gives, while progress is shown: tasks done, how many a minute, and the time left by sizes.

    >>> list(tracked(iter([(0, "a")]), [1.0], "spelling", Console(quiet=True)))
    [(0, 'a')]
    """
    began, size, total = time.monotonic(), 0.0, sum(sizes)
    with progress(console, what, total) as advance:
        for count, (number, result) in enumerate(done, start=1):
            size += sizes[number]
            rate = 60 * count / max(time.monotonic() - began, 1e-9)
            title = f": {titles[number]}" if titles else ""
            # Added up in another order, sizes may come to less than their total in the last digit.
            done_size = total if count == len(sizes) else size
            advance(done_size, f"{count} of {len(sizes)}, {rate:.1f} a minute{title}")
            yield number, result


class Here:
    """In this process, one task after another, with all of its threads."""

    deaths: tuple[type[BaseException], ...] = ()

    def slots(self) -> int:
        return 1

    def submit(self, task: Callable[[], Any]) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(task())
        return future

    def result(self, future: Future[Any]) -> Any:
        return future.result()

    def stop(self) -> None:
        """Nothing is being done between two tasks."""

    close = stop


class Processes:
    """In processes of this machine, of one thread each; a new set of them after one has died."""

    deaths: tuple[type[BaseException], ...] = (BrokenProcessPool,)

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._others = set(multiprocessing.active_children())
        self._pool: ProcessPoolExecutor | None = None

    def slots(self) -> int:
        return self._workers

    def submit(self, task: Callable[[], Any]) -> Future[Any]:
        with _single_threads():  # processes are started as tasks come
            try:
                return self._open().submit(task)
            except BrokenProcessPool:
                self.stop()
                return self._open().submit(task)

    def result(self, future: Future[Any]) -> Any:
        return future.result()

    def stop(self) -> None:
        for child in set(multiprocessing.active_children()) - self._others:
            child.terminate()  # a task may take minutes: nobody waits for it after Ctrl-C
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    close = stop

    def _open(self) -> ProcessPoolExecutor:
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self._workers, context, initializer=_prepare_process)
        return self._pool


def _prepare_process() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears Ctrl-C and ends its workers
    use_one_thread()


def use_one_thread() -> None:
    """Lets the libraries of this process compute in one thread: many processes share the machine."""
    if "torch" in sys.modules:  # who loads it later finds ONE_THREAD
        sys.modules["torch"].set_num_threads(1)
    cv2.setNumThreads(1)


@contextmanager
def _single_threads() -> Iterator[None]:
    """Processes that are started meanwhile compute in one thread each."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def open_executor(back: Back) -> Iterator[Executor]:
    """An executor whose workers end with the block.

    >>> with open_executor(Here()) as executor:
    ...     list(executor.run([lambda: 2]))
    [(0, 2)]
    """
    try:
        yield Executor(back)
    finally:
        back.close()

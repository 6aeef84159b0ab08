"""Processes of one run: the first goes first, all meet, and nobody waits for ever."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import torch
from torch._C._distributed_c10d import HashStore
from torch.distributed.distributed_c10d import Store

from guide.errors import GuideError, InputError
from offline import processes
from offline.processes import LOCK, Group, joined, lock_run
from tests.tiny import Learned, learn_again


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr(processes, "LOOK_EVERY_S", 0.005)
    monkeypatch.setattr(processes, "HEARTBEAT_S", 0.02)
    monkeypatch.setattr(processes, "SILENCE_S", 0.3)
    made = HashStore()
    made.set_timeout(timedelta(seconds=5))
    return made


def run_all(work: list[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=one) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()


def test_alone_nothing_is_waited_for() -> None:
    with joined("cpu") as group, group.in_turn():
        assert group == Group()
        assert group.is_first
    group.leave()


def test_the_first_goes_first_then_one_of_each_machine_then_the_rest(store: Store) -> None:
    came: list[int] = []
    left: list[int] = []

    def work(rank: int, local_rank: int) -> Callable[[], None]:
        def run() -> None:
            with Group(rank, 4, local_rank, store).in_turn():
                came.append(rank)
            left.append(len(came))

        return run

    run_all([work(3, 1), work(2, 0), work(1, 1), work(0, 0)])
    assert came[0] == 0
    assert came.index(2) < came.index(3)
    assert sorted(came) == [0, 1, 2, 3]
    assert left == [4, 4, 4, 4], "none goes on before all are through"


def test_one_that_gives_up_is_not_waited_for(store: Store) -> None:
    store.set("failed", "yes")
    with pytest.raises(GuideError, match="another process of this run gave up"), Group(1, 2, 1, store).in_turn():
        pytest.fail("it was not its turn")


def test_one_that_is_silent_is_not_waited_for_either(store: Store) -> None:
    with pytest.raises(GuideError, match="has not been heard of"):
        Group(0, 2, 0, store).meet("end")


def test_long_work_of_another_is_waited_for(store: Store) -> None:
    def work() -> None:
        with Group(0, 2, 0, store).in_turn():
            threading.Event().wait(0.8)  # longer than the patience with a silent one

    def wait() -> None:
        with Group(1, 2, 1, store).in_turn():
            waited.append(True)

    waited: list[bool] = []
    run_all([work, wait])
    assert waited == [True]


def test_more_processes_than_gpus_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("LOCAL_RANK", "1")
    with pytest.raises(InputError, match="has 1 and process 2 was started: lower --nproc-per-node"), joined("auto"):
        pytest.fail("it joined")


def test_words_of_torch_are_cut_to_what_a_reader_needs() -> None:
    error = RuntimeError(
        "[/build/pair.cc:545] Read error [127.0.0.1]:1: Connection reset by peer. Look elsewhere.\nA\nB"
    )
    assert processes._first_line(error) == "Read error [127.0.0.1]:1: Connection reset by peer"


@pytest.mark.parametrize(
    ("world", "sentence"),
    [("2", r"one of 2 processes.*RANK expected.*start them with torchrun, or unset WORLD_SIZE"), ("two", "got 'two'")],
)
def test_an_environment_of_another_launcher_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, world: str, sentence: str
) -> None:
    for name in ("RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("WORLD_SIZE", world)
    with pytest.raises(InputError, match=sentence), joined("cpu"):
        pass


class Waiting:
    """Somebody else who wants the run, in a thread of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.has_it = folder, threading.Event()
        self._said = threading.Event()
        self.thread = threading.Thread(target=self._take, daemon=True)
        self.thread.start()
        assert self._said.wait(20.0)
        assert not self.has_it.is_set()

    def _take(self) -> None:
        with lock_run(self._folder, lambda words: self._said.set()):
            self.has_it.set()


def test_one_process_at_a_time_the_other_says_that_it_waits(tmp_path: Path) -> None:
    with lock_run(tmp_path / "run"):
        other = Waiting(tmp_path / "run")
    assert other.has_it.wait(20.0)
    other.thread.join(20.0)
    with lock_run(tmp_path / "run", lambda words: pytest.fail("nobody has it any more")):
        assert (tmp_path / "run" / LOCK).is_file()


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path; from offline.processes import lock_run\n"
        "with lock_run(Path(sys.argv[1])):\n    print('held', flush=True); time.sleep(60)"
    )
    words = [sys.executable, "-c", program, str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        other = Waiting(tmp_path)
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    assert other.has_it.wait(20.0)


def test_a_second_training_of_the_same_inputs_uses_what_was_made(features_task: Learned, tmp_path: Path) -> None:
    options = replace(features_task.options, out=tmp_path / "again")
    # Other tests learn from the same recordings in other ways and keep their runs there too.
    runs = (features_task.options.cache / "runs").iterdir()
    run = next(one for one in runs if f"run {one}" in features_task.said)
    again = learn_again(options)
    assert again.bundle.facts["training"] == features_task.bundle.facts["training"]
    assert f"run {run}" in again.said

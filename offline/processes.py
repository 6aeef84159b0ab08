"""Several processes at work on one run, as torchrun starts them: who goes first, and waiting that always ends."""

from __future__ import annotations

import fcntl
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from torch.distributed.distributed_c10d import PrefixStore, Store
from torch.distributed.rendezvous import rendezvous

from guide.errors import GuideError, InputError

log = logging.getLogger(__name__)

LOCK = "lock"
HEARTBEAT_S = 5.0
SILENCE_S = 120.0  # without a heartbeat for so long, a process counts as gone
LOOK_EVERY_S = 0.1
EXCHANGE_S = 600.0  # the longest one exchange of tensors in training may take
_FAILED, _HEARTBEATS = "failed", "beats"


@dataclass(frozen=True, slots=True)
class Group:
    """This process among those of its run; `store` is what they leave one another messages in.

    >>> Group().is_first
    True
    """

    rank: int = 0
    world: int = 1
    local_rank: int = 0
    store: Store | None = None

    @property
    def is_first(self) -> bool:
        """Whether this process is the one that speaks and writes."""
        return self.rank == 0

    @contextmanager
    def in_turn(self) -> Iterator[None]:
        """The first process does the work, then one of each other machine, then the rest, who find it cached.

        Ends when all are through. Raises GuideError when another process gave up or fell silent.
        """
        if self.store is None:
            yield
            return
        self._wait_for([rank for rank in {0, self.rank - self.local_rank} if rank != self.rank], "turn")
        with _beating(self.store):
            yield
        self.meet("turn")

    def meet(self, where: str) -> None:
        """Waits until every process has come to this point."""
        if self.store is not None:
            self.store.set(f"{where}/{self.rank}", "there")
            self._wait_for(range(self.world), where)

    def leave(self) -> None:
        """Parts with the others, once all are here: none leaves while another still talks to it."""
        if self.store is not None and dist.is_initialized():
            self.meet("end")
            dist.destroy_process_group()

    def _wait_for(self, ranks: Sequence[int], where: str) -> None:
        assert self.store is not None
        keys = [f"{where}/{rank}" for rank in ranks]
        heartbeats, heard = -1, time.monotonic()
        while keys and not self.store.check(keys):
            if self.store.check([_FAILED]):
                raise GuideError("another process of this run gave up: what it says tells why.")
            now = self.store.add(_HEARTBEATS, 0)
            if now != heartbeats:
                heartbeats, heard = now, time.monotonic()
            elif time.monotonic() - heard > SILENCE_S:
                raise GuideError(
                    f"another process of this run has not been heard of for {SILENCE_S:.0f} s: "
                    "look at its machine, then start all of them again; the work done so far is kept."
                )
            time.sleep(LOOK_EVERY_S)


@contextmanager
def joined(device: str) -> Iterator[Group]:
    """The group of processes that torchrun started this one in; a group of one where it was started plainly."""
    world = _stated("WORLD_SIZE", 1)
    if world == 1:
        yield Group()
        return
    uses_gpu = device != "cpu" and torch.cuda.is_available()
    group = _join(world, _stated("LOCAL_RANK", 0), uses_gpu)
    assert group.store is not None
    try:
        yield group
    except BaseException as error:
        _tell_failure(group.store)
        if _is_broken_exchange(error):
            raise GuideError(
                f"an exchange with the other processes of this run failed ({_first_line(error)}): look at what they "
                "say, then start all of them again; the work done so far is kept."
            ) from error
        raise
    group.leave()


def _stated(name: str, default: int) -> int:
    """A number that the environment states."""
    text = os.environ.get(name, str(default))
    if not text.isdecimal():
        raise InputError(f"{name} in the environment is a whole number, got {text!r}: unset it, or use torchrun.")
    return int(text)


def _join(world: int, local_rank: int, uses_gpu: bool) -> Group:
    if uses_gpu:
        if local_rank >= torch.cuda.device_count():
            raise InputError(
                f"each process needs a GPU of its own, but this machine has {torch.cuda.device_count()} and process "
                f"{local_rank + 1} was started: lower --nproc-per-node, or add --device cpu."
            )
        torch.cuda.set_device(local_rank)
    patience = timedelta(seconds=EXCHANGE_S)
    try:
        store, rank, _ = next(rendezvous("env://", timeout=patience))
    except ValueError as cause:  # what other launchers leave in the environment is not enough
        raise InputError(
            f"the environment says that this is one of {world} processes, but not how they meet "
            f"({_first_line(cause)}): start them with torchrun, or unset WORLD_SIZE."
        ) from cause
    backend = "nccl" if uses_gpu else "gloo"
    exchange = PrefixStore("exchange", store)
    dist.init_process_group(backend, store=exchange, rank=rank, world_size=world, timeout=patience)
    return Group(rank, world, local_rank, PrefixStore("run", store))


@contextmanager
def _beating(store: Store) -> Iterator[None]:
    """Shows the others signs of life for as long as the block takes."""
    done = threading.Event()

    def beat() -> None:
        while not done.is_set():
            store.add(_HEARTBEATS, 1)
            done.wait(HEARTBEAT_S)

    thread = threading.Thread(target=beat, name="beat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join(HEARTBEAT_S)


def _tell_failure(store: Store) -> None:
    try:
        store.set(_FAILED, "yes")
    except RuntimeError:  # the machine that keeps the messages is gone too: nobody is left to tell
        return


def _is_broken_exchange(error: BaseException) -> bool:
    """Whether this is what torch raises when the other end of an exchange is gone: a RuntimeError like many."""
    is_ours = isinstance(error, torch.OutOfMemoryError | NotImplementedError)
    return isinstance(error, RuntimeError) and dist.is_initialized() and not is_ours


def _first_line(error: BaseException) -> str:
    """The error's words up to the first full stop, without the place in torch's source they begin with."""
    line = next(iter(str(error).strip().splitlines()), type(error).__name__)
    return re.sub(r"^\[[^]]*\] ", "", line).split(". ")[0][:160]


@contextmanager
def lock_run(folder: Path, tell: Callable[[str], None] = log.warning) -> Iterator[None]:
    """Locks the folder of a run for this process; where another one works on it, says so and waits until it has ended.

    The system frees the lock when the process dies, however it dies.

    >>> import tempfile
    >>> with lock_run(Path(tempfile.mkdtemp())):
    ...     pass
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("a") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell(
                "another process is learning from these recordings with these settings at the moment: waiting until it "
                "has ended, then what it made is used."
            )
            fcntl.flock(held, fcntl.LOCK_EX)
        yield

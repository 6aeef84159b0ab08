"""One network for many sessions: what several ask for within a few milliseconds runs as one batch."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import numpy as np

from guide.errors import GuideError
from guide.perceive.embedder import Device, Floats, OnnxHead, OnnxModel, OnnxTrunk

MOST_ON_PROCESSOR = 4  # a row costs as much time alone there, and every further one 15 MB (EfficientNet-Lite0)

Run = Callable[[Floats, list[str]], list[Floats]]


@dataclass(frozen=True, slots=True)
class BatchSettings:
    """How long the first of a batch waits for others, and how many fit in one.

    >>> BatchSettings().most
    16
    """

    gather_s: float = 0.003
    """A few milliseconds: little beside a trunk's run, enough for clients that send at the same moment."""
    most: int = 16
    """Rows of one run; more would only make the first of them wait."""


@dataclass(slots=True, eq=False)
class _Asked:
    """One caller's rows, waiting."""

    inputs: Floats
    outputs: tuple[str, ...]
    results: list[Floats] | None = None
    error: Exception | None = None
    done: threading.Event = field(default_factory=threading.Event)

    @property
    def kind(self) -> tuple[object, ...]:
        """Only what agrees in this can run together."""
        return self.inputs.shape[1:], self.inputs.dtype, self.outputs


class Batcher:
    """Runs a function of rows for many threads, their rows stacked; each gets its own rows back.

    An error is raised to every caller of the batch that met it. `rows` and `runs` count what was done.

    >>> with Batcher(lambda inputs, outputs: [2 * inputs]) as batcher:
    ...     batcher.ask(np.ones((1, 3), np.float32), ["doubled"])[0].tolist(), batcher.runs
    ([[2.0, 2.0, 2.0]], 1)
    """

    def __init__(self, run: Run, settings: BatchSettings | None = None, name: str = "network") -> None:
        self._run, self._settings = run, settings or BatchSettings()
        self._changed = threading.Condition()
        self._waiting: deque[_Asked] = deque()
        self._is_closed = False
        self.rows = self.runs = 0
        self.busy_s = 0.0
        """Seconds spent in the function so far."""
        self.timed: Callable[[float], None] | None = None
        """Who hears how long each caller waited for its rows."""
        self._thread = threading.Thread(target=self._work, name=f"batches of {name}", daemon=True)
        self._thread.start()

    def __enter__(self) -> Batcher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def ask(self, inputs: Floats, outputs: list[str]) -> list[Floats]:
        """The outputs for these rows (N, ...), waited for."""
        began, asked = time.monotonic(), _Asked(inputs, tuple(outputs))
        with self._changed:
            if self._is_closed:
                raise GuideError("the networks were stopped: start the session again.")
            self._waiting.append(asked)
            self._changed.notify_all()
        asked.done.wait()
        if self.timed is not None:
            self.timed(time.monotonic() - began)
        if asked.error is not None:
            raise asked.error
        assert asked.results is not None  # the worker sets one of the two before it lets us go
        return asked.results

    def close(self) -> None:
        """Ends the thread once what waits is done."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        self._thread.join(10.0)

    def _work(self) -> None:
        while batch := self._gather():
            self._serve(batch)

    def _gather(self) -> list[_Asked]:
        """The next batch; nothing once it was closed and nobody waits."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_closed)
            deadline = time.monotonic() + self._settings.gather_s
            while len(self._waiting) < self._settings.most and not self._is_closed:
                if not self._changed.wait(max(0.0, deadline - time.monotonic())):
                    break
            return self._take()

    def _take(self) -> list[_Asked]:
        """The longest waiting and those that can run with it, in order, as many as fit."""
        batch: list[_Asked] = []
        rest: deque[_Asked] = deque()
        rows = 0
        for asked in self._waiting:
            fits = not batch or (asked.kind == batch[0].kind and rows + len(asked.inputs) <= self._settings.most)
            (batch if fits else rest).append(asked)
            rows += len(asked.inputs) if fits else 0
        self._waiting = rest
        return batch

    def _serve(self, batch: list[_Asked]) -> None:
        began = time.monotonic()
        try:
            together = np.concatenate([asked.inputs for asked in batch]) if len(batch) > 1 else batch[0].inputs
            results = self._run(together, list(batch[0].outputs))
            start = 0
            for asked in batch:
                stop = start + len(asked.inputs)
                # A copy: a view would keep the whole batch alive for as long as one session remembers its part.
                asked.results = [result[start:stop].copy() for result in results]
                start = stop
        except Exception as error:  # kept, and raised to those who asked
            for asked in batch:
                asked.error = error
        self.rows += sum(len(asked.inputs) for asked in batch)
        self.runs += 1
        self.busy_s += time.monotonic() - began
        for asked in batch:
            asked.done.set()


class Batched(OnnxModel):
    """A network that sessions share: what they ask for at the same time runs as one batch.

    >>> issubclass(BatchedTrunk, Batched)
    True
    """

    def __init__(
        self, path: str | Path, device: Device = "auto", threads: int = 0, settings: BatchSettings | None = None
    ) -> None:
        super().__init__(path, device, threads)
        self.batcher = _batcher(self, super().run, settings)

    def run(self, inputs: Floats, outputs: list[str]) -> list[Floats]:
        return self.batcher.ask(inputs, outputs)


class BatchedTrunk(Batched, OnnxTrunk):
    """A trunk that sessions share.

    >>> BatchedTrunk("trunk.onnx")
    Traceback (most recent call last):
    ...
    guide.errors.BundleError: a network was expected in trunk.onnx, but the file does not exist: export again.
    """


class BatchedHead(Batched, OnnxHead):
    """A head that sessions share.

    >>> BatchedHead("head.onnx")
    Traceback (most recent call last):
    ...
    guide.errors.BundleError: a network was expected in head.onnx, but the file does not exist: export again.
    """


def _batcher(model: OnnxModel, run: Run, settings: BatchSettings | None) -> Batcher:
    """A batcher for a network; one that was exported for single rows gets them one by one."""
    if settings is None:
        on_processor = model.provider == "CPUExecutionProvider"
        settings = BatchSettings(most=MOST_ON_PROCESSOR) if on_processor else BatchSettings()
    if isinstance(model.input_shape[0], int):
        settings = BatchSettings(gather_s=0.0, most=1)
    return Batcher(run, settings, model.path.name)

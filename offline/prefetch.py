"""Prefetched batches: while a GPU works on one, threads read the next ones from the cache and copy them to it."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType

import torch

from offline.batches import Batch, Batches

PREFETCHED = (
    4  # batches of 128 MB under the paper's preset: enough to hide a slow one, and little beside a GPU's memory
)
READERS = 5  # a batch is one thread's work: as many are read at a time, since a GPU is done with one in 6 ms

SentBatch = tuple[Batch, torch.cuda.Event]


class PrefetchedBatches:
    """The batches of `batches` on a device, the same ones whatever the timing: each depends on its number alone.

    On a CPU nothing is prefetched: a batch is drawn when it is asked for.

    >>> import numpy as np
    >>> from offline.batches import Clip
    >>> clip = Clip(np.zeros((32, 3), np.float16), np.arange(32)[:, None], np.arange(32.0))
    >>> with PrefetchedBatches(Batches([clip, clip], videos=2, frames=8, seed=0), torch.device("cpu")) as batches:
    ...     batches.training(0).inputs.dtype
    torch.float32
    """

    def __init__(self, batches: Batches, device: torch.device) -> None:
        self._batches, self._device = batches, device
        self._sent: dict[int, Future[SentBatch]] = {}
        self._readers: ThreadPoolExecutor | None = None
        if device.type == "cuda":
            self._readers = ThreadPoolExecutor(READERS, "batches")
            # Copies on a stream of their own do not wait for what the GPU computes.
            self._stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]

    def __enter__(self) -> PrefetchedBatches:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._readers is not None:
            self._readers.shutdown(cancel_futures=True)

    def training(self, iteration: int) -> Batch:
        """The batch of one iteration, in float32 on the device."""
        if self._readers is None:
            return self._batches.training(iteration).to(self._device)
        for number in range(iteration, iteration + PREFETCHED + 1):
            if number not in self._sent:
                self._sent[number] = self._readers.submit(self._send, number)
        batch, is_copied = self._sent.pop(iteration).result()
        stream = torch.cuda.current_stream(self._device)
        stream.wait_event(is_copied)
        for part in (batch.inputs, batch.steps, batch.lengths):
            part.record_stream(stream)  # or its memory would be given to the next copy while it is still read
        return batch.float()

    def _send(self, iteration: int) -> SentBatch:
        batch = self._batches.training(iteration, is_pinned=True)
        is_copied = torch.cuda.Event()  # type: ignore[no-untyped-call]
        with torch.cuda.stream(self._stream):
            sent = batch.send(self._device)
            is_copied.record(self._stream)
        return sent, is_copied

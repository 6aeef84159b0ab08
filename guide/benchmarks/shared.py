"""Several recordings at once on one set of networks: alone, and with what they ask for run in small batches."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from guide.benchmarks.clocks import Span, now, on_cores, percentile_ms, see_frames
from guide.benchmarks.figures import Figure, Part, processor
from guide.bundle import Bundle
from guide.networks import Networks, start_networks
from guide.perceive.batching import BatchedHead, BatchedTrunk
from guide.perceive.embedder import OnnxHead, OnnxTrunk
from guide.session import Session
from guide.settings import LiveSettings


@dataclass(slots=True)
class ReplayTimes:
    """The times of one recording: seconds from frame to line for each frame, and in all.

    >>> ReplayTimes([0.1, 0.2], 0.5).rate
    4.0
    """

    took_s: list[float] = field(default_factory=list)
    whole_s: float = 0.0
    error: Exception | None = None

    @property
    def rate(self) -> float:
        return len(self.took_s) / self.whole_s


def measure_shared(bundle: Bundle, video: Path | None, count: int, streams: int, cores: int) -> Part:
    """`streams` recordings of `count` frames each, as fast as they go, batched and not."""
    with on_cores(cores) as chosen:
        plain = start_networks(bundle, "cpu", chosen)
        began = now()
        alone = replay_together(bundle, plain, video, count, streams)
        middle = now()
        batched = start_networks(bundle, "cpu", chosen, trunk_type=BatchedTrunk, head_type=BatchedHead)
        try:
            together = replay_together(bundle, batched, video, count, streams)
            ended = now()
        finally:
            rows = _close(batched)
    figures = (
        *_figures("in batches", together, ended - middle),
        *_figures("one by one", alone, middle - began),
    )
    gain = np.mean([each.rate for each in together]) / np.mean([each.rate for each in alone])
    return Part(
        f"{streams} recordings at once on one set of networks in {plain.precision} precision, {cores} cores, "
        f"{bundle.folder}",
        processor(),
        (*figures, Figure("pictures in a batch", rows), Figure("batches over one by one, rate", float(gain))),
        (f"{count} frames each, as fast as they go; frame to line includes waiting for the others",),
    )


def replay_together(
    bundle: Bundle, networks: Networks, video: Path | None, count: int, streams: int
) -> list[ReplayTimes]:
    """All recordings side by side, a thread and a session each; the first error of any is raised."""
    replays = [ReplayTimes() for _ in range(streams)]
    sessions = [Session(bundle, networks, LiveSettings()) for _ in range(streams)]
    threads = [
        threading.Thread(target=_replay, args=(each, session, video, count), name=f"replay {number}")
        for number, (each, session) in enumerate(zip(replays, sessions, strict=True))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for each in replays:
        if each.error is not None:
            raise each.error
    return replays


def _replay(each: ReplayTimes, session: Session, video: Path | None, count: int) -> None:
    began = now()
    try:
        each.took_s = [span.wall_s for span in see_frames(session, video, count)]
    except Exception as error:  # kept for the thread that waits
        each.error = error
    each.whole_s = (now() - began).wall_s


def _figures(name: str, replays: list[ReplayTimes], whole: Span) -> tuple[Figure, ...]:
    took = [second for each in replays for second in each.took_s]
    return (
        Figure(f"{name}: rate of each", float(np.mean([each.rate for each in replays])), "fps"),
        Figure(f"{name}: rate of the slowest", min(each.rate for each in replays), "fps"),
        Figure(f"{name}: frame to line, p50", percentile_ms(took, 50), "ms"),
        Figure(f"{name}: frame to line, p95", percentile_ms(took, 95), "ms"),
        Figure(f"{name}: processor a frame", 1000 * whole.cpu_s / len(took), "ms"),
    )


def _close(networks: Networks) -> float:
    """Ends the batching threads; gives the mean number of rows in a run of the trunk (of the head, without one)."""
    models: list[OnnxHead | OnnxTrunk | None] = [networks.trunk, networks.head]
    batchers = [model.batcher for model in models if isinstance(model, BatchedTrunk | BatchedHead)]
    for batcher in batchers:
        batcher.close()
    return batchers[0].rows / max(batchers[0].runs, 1)

"""What the loop costs around its networks, on one core."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from guide.benchmarks.clocks import Span, TimedHead, TimedTrunk, now, on_cores, percentile_ms, see_frames
from guide.benchmarks.figures import Figure, Part, processor
from guide.bundle import Bundle
from guide.errors import InputError
from guide.networks import Networks, start_networks
from guide.session import Session
from guide.settings import LiveSettings, Precision

MOST_MS = 8.0
MOST_RATIO = 1.15


@dataclass(frozen=True, slots=True)
class LoopTimes:
    """For each frame with a full window: the whole from source to lines, and the networks' part of it.

    >>> one = LoopTimes((Span(0.06, 0.05),), (Span(0.05, 0.04),))
    >>> round(one.ratio(by_clock=False), 2)
    1.25
    """

    whole: tuple[Span, ...]
    networks: tuple[Span, ...]

    def rest_s(self, by_clock: bool) -> list[float]:
        """Seconds of each frame outside trunk and head."""
        spans = [whole - part for whole, part in zip(self.whole, self.networks, strict=True)]
        return [span.wall_s if by_clock else span.cpu_s for span in spans]

    def ratio(self, by_clock: bool) -> float:
        """The whole loop over trunk and head, of the medians: one frame that had to wait says nothing of the loop."""
        whole, part = (
            np.median([span.wall_s if by_clock else span.cpu_s for span in spans])
            for spans in (self.whole, self.networks)
        )
        return float(whole / part)


def measure_loop(
    bundle: Bundle, video: Path | None, count: int, is_held: bool = True, precision: Precision = "float"
) -> Part:
    """Everything but trunk and head for `count` frames; `is_held` holds the figures against their limits."""
    settings = LiveSettings(precision=precision)
    with on_cores(1):
        networks = start_networks(bundle, "cpu", 1, precision, TimedTrunk, TimedHead)
        session = Session(bundle, networks, settings)
        times = time_frames(session, networks, video, count)
    steps = len(session.procedure.steps)
    source = "drawn frames" if video is None else f"{video.name}, decoding included"
    return Part(
        f"The loop around the networks, {bundle.folder}: {source}, networks in {networks.precision} precision, "
        f"{settings.window_frames}-frame window, K = {steps}",
        f"one core of {processor()}",
        _figures(times, is_held),
        (f"{len(times.whole)} frames; processor time is what a free core would take, the clock waits for others too",),
    )


def time_frames(session: Session, networks: Networks, video: Path | None, count: int) -> LoopTimes:
    """The times of the frames after the window has filled, or of all where there are too few."""
    trunk, head = networks.trunk, networks.head
    if not isinstance(trunk, TimedTrunk) or not isinstance(head, TimedHead):
        raise InputError("this bundle was learned from features: the benchmark needs one learned from pictures.")
    whole, parts = [], []
    began, before = now(), trunk.watch.total + head.watch.total
    for _ in see_frames(session, video, count):
        ended, after = now(), trunk.watch.total + head.watch.total
        whole.append(ended - began)
        parts.append(after - before)
        began, before = ended, after
    first = session.settings.window_frames if len(whole) > 2 * session.settings.window_frames else 0
    return LoopTimes(tuple(whole[first:]), tuple(parts[first:]))


def _figures(times: LoopTimes, is_held: bool) -> tuple[Figure, ...]:
    cpu, wall = times.rest_s(by_clock=False), times.rest_s(by_clock=True)
    most_ms, most_ratio = (MOST_MS, MOST_RATIO) if is_held else (None, None)
    networks = [span.cpu_s for span in times.networks]
    return (
        Figure("all but trunk and head, p50, processor", percentile_ms(cpu, 50), "ms"),
        Figure("all but trunk and head, p95, processor", percentile_ms(cpu, 95), "ms", most=most_ms),
        Figure("all but trunk and head, p50, clock", percentile_ms(wall, 50), "ms"),
        Figure("all but trunk and head, p95, clock", percentile_ms(wall, 95), "ms"),
        Figure("trunk and head, p50, processor", percentile_ms(networks, 50), "ms"),
        Figure("whole loop over trunk + head, processor", times.ratio(by_clock=False), most=most_ratio),
        Figure("whole loop over trunk + head, clock", times.ratio(by_clock=True)),
    )

"""Memory over hours of video, and undo at their end: the real loop, with a stand-in for the trunk for speed."""

from __future__ import annotations

import gc
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from guide import wire
from guide.benchmarks.figures import Figure, Part, peak_mb, processor
from guide.benchmarks.frames import frames_of
from guide.bundle import Bundle
from guide.errors import InputError
from guide.networks import Networks, start_networks
from guide.perceive.embedder import Floats, OnnxTrunk, TrunkOutput
from guide.procedure.actions import Action
from guide.session import Session
from guide.settings import LiveSettings

MOST_MB = 20.0
SETTLED_S = 600.0  # of media time: what is set up once is set up by then
UNDO_S = 1800.0  # how long before the end the actions are taken that are taken back there
MOST_UNDO_S = 0.3
MOST_RECORDINGS = 4  # whose features the stand-in gives, over and over

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Sample:
    """The memory held at a moment of the recording, after so many frames and lines of steps and guidance."""

    at: float
    held_mb: float
    frames: int
    lines: int


class StandInTrunk(OnnxTrunk):
    """Gives what the trunk gave for the demonstrations, row after row, whatever the picture: steps come and go."""

    def __init__(self, trunk: OnnxTrunk, rows: Floats) -> None:
        self.path, self.reason, self.provider = trunk.path, trunk.reason, trunk.provider
        self.metadata, self.input_shape = trunk.metadata, trunk.input_shape
        self._rows, self._next = rows.reshape(-1, int(trunk.metadata["pooled_width"])), 0  # looks one after another
        self._map_shape = tuple(int(part) for part in trunk.metadata["map_shape"].split("x"))

    def pool(self, inputs: Floats) -> Floats:
        chosen = (self._next + np.arange(len(inputs))) % len(self._rows)
        self._next = int(chosen[-1]) + 1
        return self._rows[chosen]

    def forward(self, inputs: Floats) -> TrunkOutput:
        pooled = self.pool(inputs)
        channels, height, width = self._map_shape
        maps = np.broadcast_to(pooled[:, :channels, None, None], (len(pooled), channels, height, width))
        return TrunkOutput(np.ascontiguousarray(maps), pooled)


def measure_memory(bundle: Bundle, hours: float, video: Path | None = None, say: Say | None = None) -> Part:
    """The memory held over `hours` of media, told every ten minutes of it."""
    began = time.monotonic()
    samples, undo_s = sample_memory(bundle, hours, video, say)
    settled = next((one for one in samples if one.at >= SETTLED_S - 1), samples[0])
    later = [one.held_mb for one in samples if one.at >= settled.at]
    figures = (
        Figure(f"held after {settled.at / 60:.0f} min", settled.held_mb, "MB"),
        Figure(f"held after {samples[-1].at / 60:.0f} min", samples[-1].held_mb, "MB"),
        Figure("growth since, at most", max(later) - settled.held_mb, "MB", most=MOST_MB),
        Figure(f"undo after {min(UNDO_S, samples[-1].at / 2) / 60:.0f} min", undo_s, "s", most=MOST_UNDO_S),
    )
    took_s = time.monotonic() - began
    rows = ", ".join(f"{one.at / 60:.0f} min {one.held_mb:.1f}" for one in samples)
    return Part(
        f"Memory over {hours:g} h of video at full speed, {bundle.folder}, a stand-in for the trunk",
        processor(),
        figures,
        (f"MB held: {rows}", f"{samples[-1].frames} frames, {samples[-1].lines} lines, {took_s:.0f} s"),
    )


def sample_memory(
    bundle: Bundle, hours: float, video: Path | None, say: Say | None = None
) -> tuple[list[Sample], float]:
    """Frames through the whole loop to its lines, a sample now and then; and the longest undo, in processor time."""
    session = Session(bundle, stand_in(bundle), LiveSettings())
    rate = session.perceiver.rate
    count = max(1, round(hours * 3600 * rate))
    every = max(1, min(round(SETTLED_S * rate), count // 12 or 1))
    samples: list[Sample] = []
    lines = 0
    acting = count - min(count // 2, round(UNDO_S * rate))
    for number, frame in enumerate(frames_of(video, rate, count, session.perceiver.is_due), start=1):
        for update in session.see(frame):
            lines += sum(1 for _ in wire.lines(update, session.procedure))
        if number == acting:
            session.act(Action("mark_done", frame.at, step=session.procedure.numbers[-1]))
            session.act(Action("restart", frame.at))
        if number % every == 0 or number == count:
            gc.collect()
            samples.append(Sample(number / rate, held_mb(), number, lines))
            if say is not None:
                say(f"  {samples[-1].at / 60:5.0f} min  {samples[-1].held_mb:7.1f} MB")
    undo_s = max(_undo(session, target) for target in (2, 1))
    session.finish()
    return samples, undo_s


def _undo(session: Session, target: int) -> float:
    """The processor time of taking an action back."""
    began = time.process_time()
    session.act(Action("undo", session.tracker.state.at, target=target))
    return time.process_time() - began


def stand_in(bundle: Bundle) -> Networks:
    """The bundle's networks, its trunk replaced by the stand-in."""
    networks = start_networks(bundle, "cpu", 1)
    if networks.trunk is None:
        raise InputError("this bundle was learned from features: the benchmark needs one learned from pictures.")
    arrays = bundle.arrays("demonstrations.npz")
    seen = [arrays[name] for name in sorted(arrays) if name.startswith("pooled_")][:MOST_RECORDINGS]
    return replace(networks, trunk=StandInTrunk(networks.trunk, np.concatenate(seen).astype(np.float32)))


def held_mb(with_files: bool = True) -> float:
    """Memory this process holds now, in MB (1,000,000 bytes); the most it ever held where the system says no more.

    Pages of files that are mapped count, unless they should not.
    """
    status = Path("/proc/self/statm")
    if status.is_file():
        _, resident, shared, *_ = map(int, status.read_text(encoding="ascii").split())
        return (resident if with_files else resident - shared) * resource.getpagesize() / 1e6
    return peak_mb()

"""The rate that can be kept up and the time from frame to line, for each bundle and precision."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from guide.benchmarks.clocks import now, on_cores, percentile_ms, see_frames
from guide.benchmarks.figures import Figure, Part, processor
from guide.bundle import Bundle
from guide.errors import BundleError
from guide.networks import start_networks
from guide.session import Session
from guide.settings import LiveSettings, Precision


def measure_rates(bundles: Sequence[Bundle], video: Path | None, count: int, cores: int) -> Part:
    """A row for each bundle and precision; what a bundle does not have is said."""
    figures: list[Figure] = []
    notes: list[str] = []
    with on_cores(cores) as chosen:
        for bundle in bundles:
            for precision in (each for each in get_args(Precision) if each != "auto"):
                name = f"{bundle.folder.name} ({bundle.facts['input'].get('backbone', 'features')}), {precision}"
                try:
                    figures += _measure(bundle, precision, video, count, chosen, name)
                except BundleError as lack:
                    notes.append(f"{name}: {lack}")
    source = "drawn frames" if video is None else f"{video.name}, decoding included"
    lag = f"a line is printed {LiveSettings().lag_s:g} s of media later"
    notes.append(f"{count} frames a row, as fast as they go: {source}; {lag}")
    return Part(f"Sustained rate and frame to line, {cores} cores", processor(), tuple(figures), tuple(notes))


def _measure(
    bundle: Bundle, precision: Precision, video: Path | None, count: int, threads: int, name: str
) -> list[Figure]:
    networks = start_networks(bundle, "cpu", threads, precision)
    session = Session(bundle, networks, LiveSettings(precision=precision))
    began = now()
    took = [span.wall_s for span in see_frames(session, video, count)]
    whole = now() - began
    return [
        Figure(f"{name}: rate", len(took) / whole.wall_s, "fps"),
        Figure(f"{name}: frame to line, p95", percentile_ms(took, 95), "ms"),
        Figure(f"{name}: processor a frame", 1000 * whole.cpu_s / len(took), "ms"),
    ]

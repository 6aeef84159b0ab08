"""`python -m guide bench`: what the live side costs on this machine, each ratio measured in one run."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from guide.benchmarks.figures import Part, machine
from guide.benchmarks.loop import measure_loop
from guide.benchmarks.memory import Say, measure_memory
from guide.benchmarks.rates import measure_rates
from guide.benchmarks.shared import measure_shared
from guide.bundle import read_bundle
from guide.errors import InputError, OutputError
from guide.session import choose_precision

FEWEST_FRAMES = 2
SHORTEST_S = 10  # of the server's measurements, half of which it takes to start


@dataclass(frozen=True, slots=True)
class LiveBenchmarkOptions:
    """Measure the live loop: around its networks, its rate, several recordings at once, and memory over hours."""

    bundle: Path = Path("exported/demo")
    """The bundle of the default preset, which is held against the limits."""
    also: tuple[Path, ...] = ()
    """Other bundles to measure beside it, such as one with ResNet-50 or of the paper preset."""
    video: Path | None = None
    """A video to play, over and over where it is short; without one frames are drawn."""
    frames: int = 400
    """Frames of each measurement."""
    streams: int = 8
    """Recordings that are replayed at once."""
    cores: int = 2
    """Cores for the rate and for the recordings at once."""
    hours: float = 0.0
    """Measure memory over so many hours of video instead; 2 take some minutes."""
    serve: bool = False
    """Measure the server instead: a crowd of headsets (on the first of --also, if given), then how many are held."""
    endure: float = 0.0
    """Measure the server's memory instead: 16 headsets for so many seconds (say 600), 50 reconnecting for a tenth."""
    seconds: float = 120.0
    """With --serve: how long the crowd sends."""
    json: Path | None = None
    """Write all figures to this file as well."""

    def __post_init__(self) -> None:
        least = {"frames": FEWEST_FRAMES, "streams": 1, "cores": 1, "hours": 0, "endure": 0, "seconds": SHORTEST_S}
        for name, lowest in least.items():
            if not lowest <= getattr(self, name) < 1e9:
                raise InputError(f"--{name} needs a number from {lowest} up, got {getattr(self, name)}: give another.")


def main(options: LiveBenchmarkOptions) -> None:
    """Runs the command."""
    console = Console(highlight=False, markup=False, soft_wrap=True)
    told = machine()
    console.print(told)
    if options.serve:
        figures = _serve(options)
        if options.json is not None:
            _write({"machine": told, "serve": figures}, options.json)
            console.print(f"\nWrote {options.json}.")
        return
    parts = []
    for part in measure(options, console.print):
        console.print("\n" + part.text())
        parts.append(part)
    if options.json is not None:
        _write({"machine": told, "parts": [part.as_json() for part in parts]}, options.json)
        console.print(f"\nWrote {options.json}.")


def measure(options: LiveBenchmarkOptions, say: Say | None = None) -> Iterator[Part]:
    """The parts that were asked for, one by one."""
    if options.endure:
        endurance = _server_part("endurance")
        yield endurance.measure_endurance(endurance.EnduranceOptions(options.bundle, options.endure))
        return
    bundle = read_bundle(options.bundle)
    if options.hours:
        yield measure_memory(bundle, options.hours, options.video, say)
        return
    others = [read_bundle(folder) for folder in options.also]
    yield measure_loop(bundle, options.video, options.frames)
    if (taken := choose_precision(bundle, "cpu", "auto")) != "float":
        yield measure_loop(bundle, options.video, options.frames, precision=taken)
    for other in others:
        yield measure_loop(other, options.video, max(FEWEST_FRAMES, options.frames // 4), is_held=False)
    yield measure_rates([bundle, *others], options.video, options.frames, options.cores)
    yield measure_shared(
        bundle, options.video, max(1, options.frames // options.streams), options.streams, options.cores
    )


def _serve(options: LiveBenchmarkOptions) -> list[dict[str, object]]:
    return [one.as_json() for one in _server_part("headsets").run(options)]


def _server_part(name: str) -> Any:
    try:
        return importlib.import_module(f"guide.benchmarks.{name}")
    except ModuleNotFoundError as lack:
        raise InputError(
            "the server's own measurements are not installed here: leave --serve and --endure out."
        ) from lack


def _write(figures: dict[str, object], path: Path) -> None:
    try:
        path.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise OutputError(f"figures cannot be written to {path} ({error.strerror}): give another --json.") from error

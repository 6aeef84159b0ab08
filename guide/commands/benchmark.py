"""`python -m guide bench`: what the live side costs on this machine, each ratio measured in one run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from guide.benchmarks import headsets
from guide.benchmarks.endurance import EnduranceOptions, measure_endurance
from guide.benchmarks.figures import Part, machine, tell, write_figures
from guide.benchmarks.loop import measure_loop
from guide.benchmarks.memory import Say, measure_memory
from guide.benchmarks.rates import measure_rates
from guide.benchmarks.shared import measure_shared
from guide.bundle import read_bundle
from guide.errors import InputError
from guide.networks import choose_precision

FEWEST_FRAMES = 2
SHORTEST_S = 10  # of the server's measurements, half of which it takes to start


@dataclass(frozen=True, slots=True)
class LiveBenchmarkOptions:
    """Measure the live loop: around its networks, its rate, several recordings at once, and memory over hours."""

    bundle: Path = Path("exported/demo")
    """The bundle of the default preset, which is compared with the limits."""
    also: tuple[Path, ...] = ()
    """Other bundles to measure beside it, such as one with ResNet-50 or of the paper preset."""
    video: Path | None = None
    """A video to play, repeated if it is short; without one, synthetic frames are used."""
    frames: int = 400
    """Frames of each measurement."""
    streams: int = 8
    """Recordings that are replayed at once."""
    cores: int = 2
    """Cores for the rate and for the recordings at once."""
    hours: float = 0.0
    """Measure memory over so many hours of video instead; 2 take some minutes."""
    serve: bool = False
    """Measure the server instead: a crowd of headsets (on the first of --also, if given), then how many it holds."""
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
    if not options.serve:
        tell(machine(), measure(options, console.print), console, options.json)
        return
    console.print(told := machine())
    figures = [one.as_json() for one in headsets.run(options)]
    write_figures({"machine": told, "serve": figures}, console, options.json)


def measure(options: LiveBenchmarkOptions, say: Say = lambda _: None) -> Iterator[Part]:
    """The parts that were asked for, one by one."""
    if options.endure:
        yield measure_endurance(EnduranceOptions(options.bundle, options.video, options.endure), say)
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

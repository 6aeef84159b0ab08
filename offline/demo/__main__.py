"""`python -m offline.demo`: draw the demo world."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import tyro
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from guide.errors import GuideError

from .contact import write_contact_sheet
from .recording import Recording
from .world import World, draw_world, holds


@dataclass(frozen=True, slots=True)
class Config:
    """Draw recordings of the demo task: demonstrations, live recordings with planted faults, labels and truth."""

    out: Path = Path("build/demo")
    """Folder to write to: empty, new, or an earlier drawn world (which is replaced)."""
    recordings: int = 12
    """How many demonstrations to draw, from 1 up."""
    live: int = 5
    """How many live recordings; they cycle through none, missed, out_of_order, repeated and unknown."""
    seed: int = 1
    """Chooses people, tables, orders and durations; never the task. From 0 up."""
    jobs: int = 0
    """How many processes draw at once; 0 takes one per core."""
    contact_sheet: Path | None = None
    """Write a picture with every step as done by six people to this JPEG file, and nothing else."""


def run(config: Config) -> None:
    """Draw, with progress, and say what was written and what to run next."""
    console = Console()
    if config.contact_sheet is not None:
        write_contact_sheet(config.contact_sheet, config.seed)
        console.print(f"Wrote {config.contact_sheet}.")
        return
    world = World(config.seed, config.recordings, config.live)
    if holds(config.out, world):
        console.print(f"{config.out} already holds this world: nothing to draw.")
        return
    columns = (TextColumn("drawing"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"))
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console) as progress:
        bar = progress.add_task("drawing", total=len(world.all), rate="")

        def advance(recording: Recording) -> None:
            progress.advance(bar)
            elapsed = progress.tasks[0].elapsed or 1.0
            progress.update(bar, rate=f"{60 * progress.tasks[0].completed / elapsed:.1f} recordings/min")

        draw_world(world, config.out, config.jobs, advance)
    console.print(
        f"Wrote {world.recordings} demonstrations, {world.live} live recordings and truth.json to {config.out}.\n"
        f"Next: python -m offline.train {config.out / 'train'}"
    )


def main() -> int:
    try:
        run(tyro.cli(Config))
    except GuideError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped; nothing half-written was left.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())

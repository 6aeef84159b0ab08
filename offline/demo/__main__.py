"""`python -m offline.demo`: draw the demo world."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from guide.commands.entry import entry

from .contact import write_contact_sheet
from .task import TASKS, TaskName
from .world import World, draw_once


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
    """Chooses people, tables, orders and durations; never what the task is. From 0 up."""
    task: TaskName = "box"
    """The box that is assembled, each step once but for wiping; or the one serviced in rounds, where steps repeat."""
    jobs: int = 0
    """How many processes draw at once; 0 takes one per core."""
    contact_sheet: Path | None = None
    """Write a picture with every step as done by six people to this JPEG file, and nothing else."""


def main(config: Config) -> None:
    """Runs the command."""
    console = Console(highlight=False, markup=False, soft_wrap=True)
    if config.contact_sheet is not None:
        write_contact_sheet(config.contact_sheet, config.seed)
        console.print(f"Wrote {config.contact_sheet}.")
        return
    world = World(config.seed, config.recordings, config.live, task=config.task)
    if draw_once(world, config.out, console, config.jobs):
        console.print(
            f"Wrote {world.recordings} demonstrations, {world.live} live recordings and truth.json to {config.out}."
        )
    if world.recordings > 1:  # learning compares recordings with one another
        console.print(f"Next: {_next_command(config.out, config.task)}")


def _next_command(out: Path, task: TaskName) -> str:
    bundle = Path("exported") / (out.resolve().name or "demo")
    return shlex.join(
        ["python", "-m", "offline.train", str(out / "train"), "--k", str(len(TASKS[task].steps)), "--out", str(bundle)]
    )


if __name__ == "__main__":
    entry(Config, main)

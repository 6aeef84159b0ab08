"""Drawing a world with progress, once: what every command that needs one does first."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from offline.progress import progress

from .recording import Recording
from .world import World, draw_world, holds


def draw_once(world: World, out: Path, console: Console, jobs: int = 0) -> bool:
    """Draw the world into `out` unless it stands there already; gives whether anything was drawn."""
    if holds(out, world):
        console.print(f"{out} already holds the recordings", soft_wrap=True, markup=False)
        return False
    done, total = 0, len(world.all)
    with progress(console, "drawing", total) as advance:

        def count(recording: Recording) -> None:
            nonlocal done
            done += 1
            advance(done, f"{done} of {total} recordings")

        draw_world(world, out, jobs, count)
    return True

"""What the training command says: its settings, where it goes on, what was found and written."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from rich.console import Console

from guide.teach.describe import Learned
from offline import paper
from offline.config import NATIVE_FPS, PresetName, Recipe
from offline.curves import METRICS, has_tensorboard, read_points
from offline.export import Written
from offline.loop import CHECKPOINT

FEW_ORDERS = 5


def settings_told(preset: PresetName, recipe: Recipe) -> list[str]:
    """A line for every setting; for the paper also what it counts in other units or leaves no choice of."""
    lines = [f"{field.name:<18} {getattr(recipe, field.name)}" for field in fields(recipe)]
    if preset == "paper":
        lines += [
            f"the paper counts in frames of {NATIVE_FPS:g} a second: context stride {paper.CONTEXT_STRIDE} frames, "
            f"window (sigma) {paper.WINDOW_FRAMES} frames",
            f"its pictures are {paper.IMAGE_SIZE_PX} px, its trunk ends at {paper.BACKBONE_LAYER}, "
            f"its optimizer is {paper.OPTIMIZER}",
        ]
    return [*lines, _window_rule(recipe)]


def _window_rule(recipe: Recipe) -> str:
    """How C-IDM's window follows from the recordings, which a dry run does not know."""
    if recipe.window_s:
        return f"C-IDM's window is the smaller of {recipe.window_s:g} s and a quarter of the shortest recording"
    return (
        "C-IDM's window is the smaller of half an average step (the median recording over twice k) and a quarter of "
        "the shortest recording; window_s = 10 in a --config file takes the smaller of 10 s and that quarter"
    )


def tell_earlier(folder: Path, console: Console) -> None:
    """Says so where a run of before is continued."""
    points = read_points(folder)
    if points and (folder / CHECKPOINT).is_file():
        console.print(f"going on from the checkpoint of an earlier run, about iteration {points[-1].iteration}")


def tell_learned(learned: Learned, console: Console) -> None:
    procedure = learned.procedure
    for note in learned.notes:
        console.print(f"note: {note}", soft_wrap=True)
    seen = {segment.step for segments in learned.segments for segment in segments}
    unseen = f" of {len(procedure.steps)}" if len(seen) < len(procedure.steps) else ""
    console.print(f"{len(seen)}{unseen} key-steps found; orders seen:")
    for ordering in procedure.orderings[:FEW_ORDERS]:
        console.print(f"  {ordering.count} x  {' > '.join(str(step) for step in ordering.steps)}", soft_wrap=True)


def tell_written(written: Written, console: Console) -> None:
    for name, parity in written.parities.items():
        console.print(
            f"{name}: cosine {parity.cosine:.6f} to torch, largest difference {parity.largest_difference:.1e}"
        )
    if written.agreement is not None:
        told = written.agreement
        console.print(
            f"8-bit networks, on {told.frames} frames of {told.recordings} demonstrations: embedding cosine "
            f"{told.cosine:.4f} (least {told.least_cosine:.4f}), {100 * told.same_labels:.1f} % of labels the same, "
            f"{told.int8_ms:.1f} ms a frame instead of {told.float_ms:.1f}: {told.speed}",
            soft_wrap=True,
        )


def tell_curves(folder: Path, console: Console) -> None:
    """Says where the curves of training lie; a run of before may have been trained without TensorBoard."""
    if has_tensorboard():
        console.print(f"training curves: tensorboard --logdir {folder}, or {folder / METRICS}", soft_wrap=True)
    else:
        console.print(
            f"training curves: {folder / METRICS} (note: tensorboard is not installed, so there are no event files)",
            soft_wrap=True,
        )

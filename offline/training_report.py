"""What the training command prints: its settings, where it resumes, what was learned and written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from rich.console import Console

from guide.procedure.explain import watching
from guide.teach.describe import Learned
from offline import paper
from offline.config import NATIVE_FPS, PresetName, Recipe
from offline.curves import METRICS, has_tensorboard, read_points
from offline.export import Written
from offline.loop import CHECKPOINT

FEW_ORDERS = 5


def settings_lines(preset: PresetName, recipe: Recipe) -> list[str]:
    """A line for every setting; for the paper's preset also its own units and fixed choices."""
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
    """How C-IDM's window is derived from the recordings, which a dry run does not know."""
    if recipe.window_s:
        return f"C-IDM's window is the smaller of {recipe.window_s:g} s and a quarter of the shortest recording"
    return (
        "C-IDM's window is the smaller of half an average step (the median recording over twice k) and a quarter of "
        "the shortest recording; window_s = 10 in a --config file takes the smaller of 10 s and that quarter"
    )


def print_resumed(folders: Sequence[Path], console: Console) -> None:
    """Says so where training resumes from the checkpoints of an earlier run, in the folders of its heads."""
    ends = [read_points(folder)[-1:] for folder in folders if (folder / CHECKPOINT).is_file()]
    if reached := sum(point.iteration for points in ends for point in points):
        console.print(f"resuming from the checkpoint of an earlier run, at about iteration {reached}")


def print_learned(learned: Learned, console: Console) -> None:
    procedure = learned.procedure
    for note in (*learned.notes, *filter(None, [watching(procedure)])):
        console.print(f"note: {note}", soft_wrap=True)
    seen = {segment.step for segments in learned.segments for segment in segments}
    unseen = f" of {len(procedure.steps)}" if len(seen) < len(procedure.steps) else ""
    console.print(f"{len(seen)}{unseen} key-steps found; orders seen:")
    for ordering in procedure.orderings[:FEW_ORDERS]:
        console.print(f"  {ordering.count} x  {' > '.join(str(step) for step in ordering.steps)}", soft_wrap=True)


def print_written(written: Written, console: Console) -> None:
    for name, parity in written.parities.items():
        console.print(
            f"{name}: cosine {parity.cosine:.6f} to torch, largest difference {parity.largest_difference:.1e}"
        )
    if written.agreement is not None:
        agreement = written.agreement
        console.print(
            f"8-bit network, on {agreement.frames} frames of {agreement.recordings} demonstrations: embedding cosine "
            f"{agreement.cosine:.4f} (least {agreement.least_cosine:.4f}), "
            f"{100 * agreement.same_labels:.1f} % of labels the same, "
            f"{agreement.int8_ms:.1f} ms a frame instead of {agreement.float_ms:.1f}: {agreement.speed}",
            soft_wrap=True,
        )


def print_curves(folder: Path, console: Console) -> None:
    """Says where the training curves are, with TensorBoard or without it."""
    lines = folder / "head-*" / METRICS
    if has_tensorboard():
        console.print(f"training curves: tensorboard --logdir {folder}, or {lines}", soft_wrap=True)
    else:
        note = "(note: tensorboard is not installed, so there are no event files)"
        console.print(f"training curves: {lines} {note}", soft_wrap=True)

"""Camera views: the same performance seen from the head and from the room, as the paper compares them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from guide.errors import InputError
from offline.study.datasets.sequence import StepSequence, TaskSequences

EGO: Final = "ego"
THIRD: Final = "third"
"""Chooses every view that is not `ego`."""
CMU_VIEWS: Final = {"7150991": EGO, "6510211": "back", "7151020": "top", "7151062": "rhs", "8421130": "lhs"}
"""CMU-MMAC's cameras by the number in the file names."""
PAPER_VIEWS: Final = {EGO: "Egocentric", "top": "TP (Top)", "back": "TP (Back)", "lhs": "TP (LHS)", "rhs": "TP (RHS)"}
"""The row of the paper's table 4 (`offline.study.published.VIEWS`) for each view of CMU-MMAC."""


def views_of(task: TaskSequences) -> tuple[str, ...]:
    """The named views a task has, `ego` first.

    >>> views_of(TaskSequences("tea", (), (StepSequence("a", 1.0, (), view="top"),)))
    ('top',)
    """
    names = {sequence.view for sequence in task.sequences} - {""}
    return tuple(sorted(names, key=lambda name: (name != EGO, name)))


def choose_view(task: TaskSequences, view: str) -> TaskSequences:
    """The task as one camera saw it: its recordings are that view's, under the names of the view's own files.

    `ego` is the camera on the head, `third` all others together, any other word one camera. A performance that
    camera did not film is named in `missing`. Raises InputError naming the views where the task has none such.
    """
    there = task.sequences
    chosen = tuple(sequence for sequence in there if is_view(sequence, view))
    if not chosen:
        raise InputError(f"{task.name} has no view {view!r}, {_known(views_of(task))}.")
    filmed = {sequence.recording or sequence.id for sequence in chosen}
    unseen = tuple(f"{one.id} has no view {view}" for one in task.recordings if (one.recording or one.id) not in filmed)
    kept = tuple(word for word in task.missing if " has no view " not in word)
    return replace(task, recordings=chosen, views=(), stated_videos=None, missing=kept + unseen)


def choose_views(tasks: dict[str, TaskSequences], view: str | None) -> dict[str, TaskSequences]:
    """Every task that has the view, as that camera saw it; all as they are where `view` is None.

    Raises InputError where not one task has it.
    """
    if view is None:
        return tasks
    chosen = {
        word: choose_view(task, view)
        for word, task in tasks.items()
        if any(is_view(sequence, view) for sequence in task.sequences)
    }
    if not chosen:
        names = sorted({name for task in tasks.values() for name in views_of(task)})
        raise InputError(f"no task here has a view {view!r}, {_known(names)}.")
    return chosen


def _known(names: Sequence[str]) -> str:
    if not names:
        return "and nothing here says which camera is which: leave --view out"
    return f"the views are {', '.join(names)}: choose one of them"


def is_view(sequence: StepSequence, view: str) -> bool:
    """Whether a sequence is of this view, or of any third person's for `third`."""
    return sequence.view == view or (view == THIRD and sequence.view not in {"", EGO})

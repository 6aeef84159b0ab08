"""`python -m offline.study.strangers`: what other light, gloves, a mirrored bench and a tilted camera cost.

Each recording is left out in turn and all others teach with their labels. The one left out is followed unchanged and
with its pictures changed; so are the faults made in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np
from rich.console import Console
from rich.table import Table

from guide.commands.entry import entry
from offline.config import resolve
from offline.extraction import open_extractor
from offline.progress import open_console
from offline.study.evaluation.task import LabelledTask
from offline.study.evaluation.teaching import require_enough
from offline.study.fault_trial.conditions import Conditions
from offline.study.fault_trial.leaving import read_labels
from offline.study.flags import score_of
from offline.study.jobs import ShiftOptions, do_all, require_from
from offline.study.keep import Kept, Plain, source_hash
from offline.study.looks.seeing import WHOLE, Seer, see_set
from offline.study.looks.sources import LabelledSet, Pictures, SetOptions, read_sets
from offline.study.real.finding import figures_of
from offline.study.strangers.changes import Change, Hands, changes, hand_pixels
from offline.study.strangers.following import Stranger
from offline.study.tables import UNPRINTED, grid
from offline.views import VERSION as VIEWS_VERSION
from offline.views import VIEWS

AS_THEY_ARE: Final = "as they are"
WITH_VIEWS: Final = "with views"
WITH_CHANGES: Final = "with these changes"


@dataclass(frozen=True)
class StrangersOptions(SetOptions, ShiftOptions):
    """Follow recordings left out as strangers would make them (darker, warmer light, gloves, mirrored, camera tilted):
    live labels and flags against unchanged ones, taught as demonstrations are, with their views too and with copies
    changed in just these ways."""

    hands: Hands = "skin"
    """What the gloves are drawn on: skin, or the black, steel and white plastic of a robot's hands."""
    chosen_on: int = 0
    """So many first recordings teach only: those on which something was chosen."""
    each: int = 1
    """Faults of each kind (a step cut out, two exchanged, one repeated) made from a recording, at most."""


def main(options: StrangersOptions) -> None:
    """Runs the command."""
    console = open_console()
    require_from("each", options.each, 1)
    require_from("chosen-on", options.chosen_on, 0)
    shift = options.shift()
    recipe = resolve("default", None, {})
    seer = Seer(open_extractor(recipe.backbone, options.cache / "trunks"), options.cache / "looks")
    conditions = Conditions(options.cache.resolve(), ("on",), options.each)
    kept = Kept(options.cache / "strangers" / "done")
    for one in read_sets(options, recipe):
        task = _seen(one, seer, console)
        require_enough(task)
        changed = see_changed(one, options.hands, seer, console)
        others = [_made(one, "another view", f"{view!r} {VIEWS_VERSION}", view.of) for view in VIEWS]
        viewed = [_seen(other, seer, console) for other in others]
        copies = {AS_THEY_ARE: (), WITH_VIEWS: viewed, WITH_CHANGES: [*changed.values()]}
        jobs = _jobs(task, changed, copies, range(options.chosen_on, len(task.recordings)), conditions)
        rows = [row for each in do_all(jobs, kept, shift, console) for row in each]
        console.print(table_of(task, rows))
        share = np.mean([hand_pixels(image, options.hands).mean() for _, image in one.recordings[0].pictures()])
        console.print(f"gloves: {100 * share:.0f} % of the first recording's pixels are taken for hands")


def see_changed(one: LabelledSet, hands: Hands, seer: Seer, console: Console) -> dict[str, LabelledTask]:
    """The set as the trunk sees it with its pictures changed, by how they are."""
    return {name: _seen(_changed(one, name, how, hands), seer, console) for name, how in changes(hands).items()}


def _jobs(
    task: LabelledTask,
    changed: Mapping[str, LabelledTask],
    copies: Mapping[str, Sequence[LabelledTask]],
    left_out: Sequence[int],
    conditions: Conditions,
) -> list[Stranger]:
    """Each of these recordings left out, by others that teach in each way, with `copies` of theirs."""
    count = len(task.recordings)
    shown = {how: [tuple(one.recordings[n] for one in made) for n in range(count)] for how, made in copies.items()}
    return [
        Stranger(
            task,
            number,
            {name: made.recordings[number] for name, made in changed.items()},
            how,
            tuple(each for place, each in enumerate(own) if place != number and each),
            conditions,
        )
        for number in left_out
        for how, own in shown.items()
    ]


def _seen(one: LabelledSet, seer: Seer, console: Console) -> LabelledTask:
    return see_set(one, seer, [WHOLE], console).task([WHOLE])


def _changed(one: LabelledSet, name: str, how: Change, hands: Hands) -> LabelledSet:
    """The set with its pictures changed."""
    return _made(one, name, f"{name}, {hands}, {source_hash('offline.study.strangers.changes')}", how)


def _made(one: LabelledSet, name: str, mark: str, how: Change) -> LabelledSet:
    """The set with its pictures made others; what is seen of it is kept apart, by the `mark`."""
    made = [
        replace(each, key=f"{each.key} {mark}", pictures=partial(_change, each.pictures, how))
        for each in one.recordings
    ]
    return replace(one, title=f"{one.title}, {name}", recordings=tuple(made))


def _change(pictures: Callable[[], Pictures], how: Change) -> Pictures:
    return ((at, how(image)) for at, image in pictures())


def table_of(task: LabelledTask, rows: Sequence[Plain]) -> Table:
    """A row for each change; taught in all ways side by side, over the recordings that were left out in each."""
    ways = [*dict.fromkeys(str(row["taught"]) for row in rows)]
    columns = ["change"]
    for way in ways:
        columns += [f"taught {way}: accuracy", "macro F1", "precision", "recall", "false alarms"]
    left_out = set.intersection(*({str(row["recording"]) for row in rows if row["taught"] == way} for way in ways))
    shared = [row for row in rows if row["recording"] in left_out]
    lines = []
    for name in dict.fromkeys(str(row["change"]) for row in shared):
        own = [row for row in shared if row["change"] == name]
        lines.append([name, *(cell for way in ways for cell in _cells(task, [r for r in own if r["taught"] == way]))])
    return grid(f"{task.title}: {len(left_out)} recordings left out, all others labelled", columns, lines, ("change",))


def _cells(task: LabelledTask, rows: Sequence[Plain]) -> list[str]:
    live = [row for row in rows if row["kind"] == "live"]
    truth = {one.id: labels for one, labels in zip(task.recordings, task.truth, strict=True)}
    figures = figures_of([truth[str(row["recording"])] for row in live], [read_labels(row) for row in live])
    score = score_of(row for row in rows if row["kind"] != "live")
    shares = (score.precision, score.recall, score.clean_alarms / score.clean)
    percent = [f"{100 * value:.1f}" for value in figures.values()]
    return [*percent, *(UNPRINTED if np.isnan(share) else f"{share:.2f}" for share in shares)]


if __name__ == "__main__":
    entry(StrangersOptions, main)

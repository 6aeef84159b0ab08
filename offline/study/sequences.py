"""True step sequences as JSON lines: `python -m offline.study.sequences DIR --task T --out FILE`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console

from guide.commands.entry import entry
from guide.whole_file import write_whole
from offline.study.datasets.folder import choose, read_all
from offline.study.datasets.label_folder import ReadOptions
from offline.study.datasets.sequence import StepSequence, TaskSequences
from offline.study.datasets.views import choose_view


@dataclass(frozen=True, slots=True)
class Config:
    """Write which step was done when, one line a recording, from a data set with true steps."""

    folder: Annotated[Path, tyro.conf.Positional]
    """Folder of a data set: EgoProceL, CaptainCook4D, CrossTask, ProceL, or label files (.csv, .eaf)."""
    task: str
    """EgoProceL's task (such as Pizza.cmu), CaptainCook4D's recipe or CrossTask's task by number or name, ..."""
    out: Path
    """File to write: {"id", "steps": [{"name", "start", "end"}]} a line, in seconds."""
    clean_only: bool = False
    """Leave out recordings marked as holding a mistake."""
    mistakes: str = "Order Error"
    """Which of the data set's tags make a step a mistake; `any` takes all of them."""
    view: str | None = None
    """Take one camera only: ego, back, top, rhs or lhs, or third for all but ego."""
    tier: str | None = None
    """The tier of ELAN files that holds the steps."""
    steps: Path | None = None
    """A file of lines `number name` with the steps of a task: others in label files are then unknown."""
    lenient: bool = False
    """Repair wrong labels and list what was changed, instead of refusing them."""


def to_line(sequence: StepSequence, task: TaskSequences, mistakes: str = "any") -> str:
    """One recording as a JSON line, as `guide order` reads it.

    A tagged step has its `tags`, and `mistake` where one of them is `mistakes`; a step left out starts at -1.
    """
    steps: list[dict[str, Any]] = []
    for number, segment in enumerate(sequence.segments):
        step: dict[str, Any] = {"name": task.step_name(segment.step), "start": segment.start, "end": segment.end}
        tags = list(sequence.mistakes[number]) if sequence.mistakes else []
        if tags:
            step["tags"] = tags
        if mistakes in tags or (tags and mistakes == "any"):
            step["mistake"] = True
        steps.append(step)
    steps += [{"name": task.step_name(number), "start": -1.0, "end": -1.0} for number in sequence.skipped]
    return json.dumps({"id": sequence.id, "steps": steps}, ensure_ascii=False)


def run(config: Config) -> None:
    """Read, choose the task, write, and say what was written."""
    options = ReadOptions(config.lenient, tier=config.tier, steps=config.steps)
    tasks = read_all(config.folder, config.clean_only, options)
    ((_, task),) = choose(tasks, [config.task], lambda one: one.name)
    task = task if config.view is None else choose_view(task, config.view)
    lines = (to_line(recording, task, config.mistakes) + "\n" for recording in task.recordings)
    write_whole(config.out, "".join(lines))  # a full disk or Ctrl-C leaves no half file
    steps = sum(len(recording.segments) for recording in task.recordings)
    console = Console(soft_wrap=True)
    for remark in task.remarks():
        console.print(remark, markup=False, highlight=False)
    console.print(f"{config.out}: {len(task.recordings)} recordings, {steps} steps of {task.name}", highlight=False)


if __name__ == "__main__":
    entry(Config, run)

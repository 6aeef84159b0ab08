"""`python -m offline.study.counterfactual`: faulty recordings made from labelled clean ones."""

from __future__ import annotations

import json
import shlex
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from guide.commands.entry import entry
from guide.errors import InputError, OutputError
from guide.teach.annotations import write_labels
from offline.progress import progress
from offline.study.counterfactual.faults import Kind
from offline.study.counterfactual.plan import Planned, plan
from offline.study.counterfactual.sources import Source, Task, read_task
from offline.study.counterfactual.truth import Truth, segments_of, tell
from offline.study.evaluation.recording_tasks import LabelRequest

MARK = "counterfactual.json"  # says what the folder is and how it was made; written last
LIVE = "live"
TRUTH = "truth.json"


@dataclass(frozen=True, slots=True)
class Options:
    """Make faulty recordings from labelled clean ones: the same frames, a step cut out, exchanged, repeated, or all
    steps shuffled; with labels and a truth.json that says what was done."""

    folder: Annotated[Path, tyro.conf.Positional]
    """Videos or features (.npy with --rate, .npz) with label files beside them, or a folder of CaptainCook4D."""
    out: Path
    """Where to write: a new folder, or an earlier result, which is replaced."""
    labels: Path | None = None
    """The folder of label files, named like the recordings; beside the recordings where it is not given."""
    task: str | None = None
    """Which task, where the folder holds several; the number of a recipe for CaptainCook4D."""
    rate: float | None = None
    """Rows of features or stills a second, where files do not say it."""
    missed: int = 10
    """Recordings with one step cut out."""
    out_of_order: int = 10
    """Recordings with two steps exchanged whose order was the same in every labelled recording."""
    repeated: int = 0
    """Recordings with one step done twice."""
    clean: int = 10
    """Recordings left as they were, written anew like the others."""
    shuffled: int = 0
    """Recordings with all steps in a random order, to see whether recognition depends on it."""
    seed: int = 1
    """Chooses sources, steps and orders. From 0 up."""
    lenient: bool = False
    """Repair wrong labels and list what was changed, instead of refusing them."""

    def __post_init__(self) -> None:
        for name in ("missed", "out_of_order", "repeated", "clean", "shuffled", "seed"):
            if getattr(self, name) < 0:
                option = name.replace("_", "-")
                raise InputError(f"--{option} needs a number from 0 up, got {getattr(self, name)}: give a larger one.")

    @property
    def counts(self) -> dict[Kind, int]:
        return {
            "none": self.clean,
            "missed": self.missed,
            "out_of_order": self.out_of_order,
            "repeated": self.repeated,
            "shuffled": self.shuffled,
        }


def main(options: Options) -> None:
    """Runs the command."""
    console = Console(highlight=False, markup=False, soft_wrap=True)
    task = read_task(options.folder, options.task, options.rate, LabelRequest(options.labels, lenient=options.lenient))
    for note in task.notes:
        console.print(note)
    planned = plan([source.layout for source in task.sources], options.counts, options.seed)
    _report(options, planned, task, console)
    _write(options, planned, task, console)
    console.print(f"Wrote {len(planned)} recordings with labels to {options.out / LIVE}, and {options.out / TRUTH}.")
    example = options.out / LIVE / f"{planned[-1].name}{task.sources[0].suffix}"
    console.print(f"Next: {shlex.join(['python', '-m', 'guide', 'watch', str(example), '--bundle', 'exported/NAME'])}")


def _report(options: Options, planned: list[Planned], task: Task, console: Console) -> None:
    made = Counter(each.variant.kind for each in planned)
    if not planned:
        raise InputError(
            f"nothing can be made of {len(task.sources)} labelled recordings: label more, or ask for other kinds."
        )
    for kind, count in options.counts.items():
        if made[kind] < count:
            console.print(f"{kind}: {made[kind]} of {count} asked for; the labelled recordings allow no more.")


def _write(options: Options, planned: list[Planned], task: Task, console: Console) -> None:
    facts = {"seed": options.seed, "sources": [source.id for source in task.sources], "counts": options.counts}
    truths: dict[str, Truth] = {}
    with new_folder(options.out, facts) as folder, progress(console, "splicing", len(planned)) as advance:
        for number, each in enumerate(planned):
            truths[each.name] = _make(each, task.sources[each.source], task, folder / LIVE)
            advance(number + 1, each.name)
        write_json(folder / TRUTH, dict(truths))


def _make(each: Planned, source: Source, task: Task, folder: Path) -> Truth:
    source.write(source.layout.index(each.variant.order), folder / f"{each.name}{source.suffix}")
    segments = segments_of(each.variant, source.labels, source.times, source.rate)
    write_labels(folder / f"{each.name}.csv", segments, task.names)
    return tell(each.variant, source.id, source.labels, source.times, source.rate, task.names)


@contextmanager
def new_folder(out: Path, facts: Mapping[str, object]) -> Iterator[Path]:
    """A place to write `live/` and truth.json to, which becomes `out` at the end; an earlier result is replaced.

    Raises InputError where `out` holds anything else, OutputError where it cannot be written.
    """
    _refuse_strange(out)
    aside = out.with_name(f".{out.name}.new")
    try:
        shutil.rmtree(aside, ignore_errors=True)
        (aside / LIVE).mkdir(parents=True)
        yield aside
        write_json(aside / MARK, facts)
        shutil.rmtree(out, ignore_errors=True)
        aside.rename(out)
    except OSError as error:
        raise OutputError(
            f"cannot write {out} ({error.strerror or error}): give a writable --out with space."
        ) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def write_json(path: Path, content: Mapping[str, object]) -> None:
    """Writes a file of JSON that a person can read too."""
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _refuse_strange(out: Path) -> None:
    is_ours = not out.exists() or (out.is_dir() and ((out / MARK).is_file() or not any(out.iterdir())))
    if not is_ours:
        raise InputError(f"--out needs a new folder or an earlier result, {out} holds something else: give another.")


if __name__ == "__main__":
    entry(Options, main)

"""`python -m offline.trial --seed 1011 --labelled 0,2,all`: right and wrong flags on unseen drawn recordings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from guide.command import entry
from guide.courses import PRIORS, Prior
from guide.errors import InputError
from offline.demo.orders import FAULTS
from offline.demo.recording import Recording
from offline.demo.seeds import read_seeds
from offline.evaluation.keep import Kept
from offline.jobs import Shift, do_all, require_from, require_workers
from offline.trial.report import flag_table, told_table
from offline.trial.trying import Trying
from offline.trial.worlds import Worlds

KINDS = ("none", "missed", "out_of_order")
LOG_WIDTH = 150  # of tables in a log: nothing wraps


@dataclass(frozen=True, slots=True)
class TrialOptions:
    """Learn drawn tasks with some labels or none, and count right and wrong flags on unseen recordings."""

    seed: str = "1011"
    """The drawn worlds, numbers or ranges with commas between, such as 1021-1025,1031; figures that are reported come
    from seeds above 1000, which nobody tunes on."""
    labelled: str = "0,2,all"
    """How many demonstrations come with their true labels, one row each."""
    recordings: int = 12
    """Demonstrations."""
    each: int = 10
    """Unseen recordings of each kind: clean, a step missed, two steps out of order."""
    priors: tuple[Prior, ...] = PRIORS
    """What counts beside what is seen being done: the usual course, and what steps leave behind."""
    workers: int = 1
    """Processes at work, of one thread each; one alone takes all cores."""
    cache: Path = Path(".cache/cnc")
    """Where drawn recordings, embeddings and what is done are kept between runs: a run that was cut off goes on. A
    world takes about 250 MB."""


def main(options: TrialOptions) -> None:
    """Runs the command."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=LOG_WIDTH)
    counts, seeds = _counts(options), _seeds(options)
    jobs = [job for seed in seeds for job in _jobs(seed, counts, options, console)]
    done = do_all(jobs, Kept(options.cache / "trial" / "done"), Shift(options.workers), console)
    by_count = sorted(zip(jobs, done, strict=True), key=lambda pair: counts.index(pair[0].labelled))
    rows = [row for _, rows in by_count for row in rows]
    words = ", ".join(options.priors) or "none"
    console.print(flag_table(rows, f"flags on {len(KINDS) * options.each} unseen recordings a world, priors {words}"))
    console.print(told_table(rows))


def _jobs(seed: int, counts: list[int], options: TrialOptions, console: Console) -> list[Trying]:
    """A world drawn, and every way of learning it."""
    train = [Recording(seed, "train", number + 1) for number in range(options.recordings)]
    live = [
        Recording(seed, "live", FAULTS.index(kind) + 1 + len(FAULTS) * number)
        for kind in FAULTS
        if kind in KINDS
        for number in range(options.each)
    ]
    console.print(f"world {seed}", style="dim")
    seen = Worlds(options.cache / "drawn").look([*train, *live], console)
    parts = tuple(seen[: len(train)]), tuple(seen[len(train) :])
    return [Trying(seed, *parts, count, options.priors, options.cache) for count in counts]


def _counts(options: TrialOptions) -> list[int]:
    require_from("recordings", options.recordings, 2)
    require_from("each", options.each, 1)
    require_workers(options.workers)
    wanted = [str(options.recordings) if part == "all" else part.strip() for part in options.labelled.split(",")]
    if not all(part.isascii() and part.isdecimal() and int(part) <= options.recordings for part in wanted):
        raise InputError(
            f"--labelled takes numbers up to {options.recordings} or all with commas between, got {options.labelled!r}."
        )
    return list(dict.fromkeys(int(part) for part in wanted))


def _seeds(options: TrialOptions) -> list[int]:
    seeds = read_seeds(options.seed, "--seed")
    if not seeds:
        raise InputError("--seed names at least one world, such as 1011: give one.")
    return seeds


if __name__ == "__main__":
    entry(TrialOptions, main)

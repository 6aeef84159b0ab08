"""`python -m offline.study.trial --seed 1011 --labelled 0,2,all`: right and wrong flags on unseen drawn recordings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from guide.commands.entry import entry
from guide.errors import InputError
from guide.task_model import PRIORS, Prior
from offline.demo.orders import FAULTS
from offline.demo.recording import Recording
from offline.demo.task import TaskName
from offline.progress import open_console
from offline.study.evaluation.teaching import ALL, read_numbers
from offline.study.flag_tables import PLANTED, told_table, world_table
from offline.study.jobs import DEMONSTRATIONS, Shift, do_all, read_seeds, require_from, require_workers
from offline.study.keep import Kept
from offline.study.trial.trying import Trying, demonstrations
from offline.study.trial.worlds import Worlds


@dataclass(frozen=True, slots=True)
class TrialOptions:
    """Learn drawn tasks with some labels or none, and count right and wrong flags on unseen recordings."""

    seed: str = "1011"
    """The drawn worlds, numbers or ranges with commas between, such as 1021-1025,1031; figures that are reported come
    from seeds above 1000, which nobody tunes on."""
    task: TaskName = "box"
    """The box that is assembled, or the one serviced in rounds, where steps repeat."""
    labelled: str = "0,2,all"
    """How many demonstrations come with their true labels, one row each."""
    recordings: int = DEMONSTRATIONS
    """Demonstrations."""
    each: int = 10
    """Unseen recordings of each kind: clean, a step missed, two steps out of order; in rounds, one repeated too."""
    priors: tuple[Prior, ...] = PRIORS
    """What counts beside what is seen being done: the usual course, and what steps leave behind."""
    workers: int = 1
    """Processes that learn and follow, of one thread each; one alone takes all cores, as drawing always does."""
    ray: str | None = None
    """Or a Ray cluster, HOST:PORT or auto: all its machines learn and follow, and see --cache under the same path."""
    cache: Path = Path(".cache/cnc")
    """Where drawn recordings, embeddings and what is done are kept between runs: a run that was cut off goes on. A
    world takes about 250 MB."""


def main(options: TrialOptions) -> None:
    """Runs the command."""
    console = open_console()
    counts, seeds = _counts(options), read_seeds(options.seed, "--seed")
    worlds, kept = Worlds(options.cache / "drawn"), Kept(options.cache / "trial" / "done")
    jobs = [job for seed in seeds for job in _jobs(seed, counts, options, worlds)]
    lacking = [job for job in jobs if kept.read(job.key) is None]
    worlds.draw(list(dict.fromkeys(entry for job in lacking for entry in (*job.train, *job.live))), console)
    done = do_all(jobs, kept, Shift(options.workers, ray=options.ray), console)
    by_count = sorted(zip(jobs, done, strict=True), key=lambda pair: counts.index(pair[0].labelled))
    rows = [row for _, rows in by_count for row in rows]
    words = ", ".join(options.priors) or "none"
    unseen = options.each * (1 + len(PLANTED[options.task]))
    console.print(world_table(rows, f"{options.task}: flags on {unseen} unseen recordings a world, priors {words}"))
    console.print(told_table(rows))


def _jobs(seed: int, counts: list[int], options: TrialOptions, worlds: Worlds) -> list[Trying]:
    """Every way of learning a world."""
    live = [
        Recording(seed, "live", FAULTS.index(kind) + 1 + len(FAULTS) * number, task=options.task)
        for kind in FAULTS
        if kind in ("none", *PLANTED[options.task])
        for number in range(options.each)
    ]
    parts = tuple(demonstrations(worlds, seed, options.recordings, options.task)), tuple(worlds.entries(live))
    return [Trying(seed, *parts, count, options.priors, options.cache.resolve()) for count in counts]


def _counts(options: TrialOptions) -> list[int]:
    require_from("recordings", options.recordings, 2)
    require_from("each", options.each, 1)
    require_workers(options.workers)
    counts = [options.recordings if word == ALL else int(word) for word in read_numbers(options.labelled)]
    if max(counts) > options.recordings:
        raise InputError(
            f"--labelled takes numbers up to {options.recordings} or all with commas between, got "
            f"{options.labelled!r:.80}: change it, or have more --recordings."
        )
    return list(dict.fromkeys(counts))


if __name__ == "__main__":
    entry(TrialOptions, main)

"""What each mechanism of the live side and of the rules brings to flags: recordings left out, followed without it.

What a mechanism has no part in is learned, seen and heard once for all rows.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
from rich.table import Table

from guide.domain import Guidance, KeyStep, Labels, Question
from guide.procedure.events import Event
from guide.procedure.replay import standing_alerts
from guide.teach.demonstrations import Demonstrations
from guide.teach.describe import Recognition, learn_recognition, learn_rules, rehearse_all
from offline.study.evaluation.task import LabelledTask
from offline.study.evaluation.teaching import Way, demonstrations_of, teach, ways, without
from offline.study.fault_trial.conditions import SOURCES as TRIAL_SOURCES
from offline.study.fault_trial.conditions import Conditions, steps_of
from offline.study.fault_trial.made import Made, make_all
from offline.study.flags import FAULT_KINDS, is_asked_of, judge, score_of, total
from offline.study.following import Lesson, Sight, follow_heard, hear, live_labeller, see
from offline.study.keep import Plain, content_key, source_hash
from offline.study.mechanisms import HISTORIES, RECOGNITION, RULES, WHOLE, Instead, switched_off
from offline.study.tables import UNPRINTED, grid

PARTS: Final[dict[str, Instead]] = {WHOLE: {}, **RECOGNITION, **HISTORIES, **RULES}
SOURCES: Final = (*TRIAL_SOURCES, "offline.study.flag_parts", "offline.study.mechanisms")
"""The code that decides the results that are kept; a test compares it with what is imported."""
HEADINGS: Final = (
    "", "precision", "recall", "false alarms a clean one", "found", "wrong", "told or asked of", "questions",
    "other alerts", "flags differ", "words differ",
)  # fmt: skip

Heard: TypeAlias = tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class LeavingOut:
    """Recording `number` of a task is left out, the others teach in one way, with every mechanism and without each.

    Each of the seeds makes faults in the recording, up to `each` of a kind.
    """

    task: LabelledTask
    number: int
    way: Way
    seeds: tuple[int, ...]
    each: int
    cache: Path

    @property
    def title(self) -> str:
        id_ = self.task.recordings[self.number].id
        return f"{self.task.title}: {id_} left out, {self.way.count} labelled"

    @property
    def key(self) -> str:
        truth = [labels.tolist() for labels in self.task.truth]
        what = ["parts", self.number, self.way.count, self.way.chosen, self.seeds, self.each, source_hash(*SOURCES)]
        return content_key(self.task.recordings, what, truth)

    def run(self) -> list[Plain]:
        """A row for each part that is left out and each recording that is made."""
        others = without(self.task, self.number)
        taught = teach(others, self.way, Conditions(self.cache).search)
        steps = steps_of(others, self.way, taught)
        teaching = _Teaching(demonstrations_of(others, self.way), taught.labels, steps)
        every = [(seed, one) for seed in self.seeds for one in make_all(self.task, self.number, self.each, seed)]
        audience = _Audience([made for _, made in every])
        return [
            {
                "task": self.task.title,
                "labelled": self.way.count,
                "part": part,
                "seed": seed,
                **_figures(said, made, taught.names),
            }
            for part, instead in PARTS.items()
            for (seed, made), said in zip(every, _follow(part, instead, teaching, audience), strict=True)
        ]


def jobs_of(
    tasks: Sequence[LabelledTask], counts: Sequence[str], seeds: int, recordings: int, each: int, cache: Path
) -> list[LeavingOut]:
    """So many recordings of each task left out by each seed, others by the next as long as there are any.

    Seeds choose the labelled recordings and the faults; those that leave out the same and label the same share a job.
    """
    shared: dict[tuple[int, int, Way], list[int]] = {}
    for place, task in enumerate(tasks):
        count = len(task.recordings)
        order = np.random.default_rng(0).permutation(count)
        for seed in range(seeds):
            for turn in range(min(recordings, count)):
                number = int(order[(seed * recordings + turn) % count])
                for way in ways(counts, count - 1, 1, seed):
                    shared.setdefault((place, number, way), []).append(seed)
    jobs = [
        LeavingOut(tasks[place], number, way, tuple(own), each, cache) for (place, number, way), own in shared.items()
    ]
    return sorted(jobs, key=lambda job: -job.task.frames)  # the longest first, or the last would be waited for


def part_table(rows: Sequence[Plain], title: str) -> Table:
    """A line for each part that is left out: means and spread over seeds, all tasks together, and sums.

    Questions and other alerts are those of a clean recording.
    """
    by_part = {part: [row for row in rows if row["part"] == part] for part in PARTS}
    return grid(title, HEADINGS, [(part, *_cells(own, by_part[WHOLE])) for part, own in by_part.items()], ("",))


class _Teaching:
    """What demonstrations teach without a mechanism; what it has no part in is learned once."""

    def __init__(self, demonstrations: Demonstrations, labels: Sequence[Labels], steps: Sequence[KeyStep]) -> None:
        self._demonstrations, self._labels, self._steps = demonstrations, labels, steps
        self._whole = self._recognition()
        self._rehearsals = rehearse_all(self._whole, steps)

    def lesson(self, part: str) -> Lesson:
        seen = self._recognition() if part in RECOGNITION else self._whole
        is_heard_anew = part in RECOGNITION or part in HISTORIES
        rehearsals = rehearse_all(seen, self._steps) if is_heard_anew else self._rehearsals
        return Lesson(learn_rules(seen, rehearsals, self._steps), self._demonstrations)

    def _recognition(self) -> Recognition:
        return learn_recognition(self._demonstrations, self._labels, self._steps)


class _Audience:
    """What is seen and heard of some recordings without a mechanism; what it has no part in is heard once."""

    def __init__(self, made: Sequence[Made]) -> None:
        self._made = made
        self._sights: dict[int, Sight] = {}
        self._heard: dict[tuple[int, bytes], Heard] = {}

    def hear(self, part: str, lesson: Lesson) -> Iterator[Heard]:
        """What a tracker hears of each recording."""
        for place, one in enumerate(self._made):
            if part in RECOGNITION:
                yield hear(see(lesson, one.features), lesson)
                continue
            if place not in self._sights:
                self._sights[place] = see(lesson, one.features)
            sight = self._sights[place]
            if part in HISTORIES:
                yield hear(sight, lesson)
                continue
            # Rules decide what is heard by what histories expect, and by nothing else.
            key = place, pickle.dumps(live_labeller(lesson).past.histories.model)
            if key not in self._heard:
                self._heard[key] = hear(sight, lesson)
            yield self._heard[key]


def _follow(part: str, instead: Instead, teaching: _Teaching, audience: _Audience) -> list[tuple[Guidance, ...]]:
    """What is said of each recording without a mechanism."""
    with switched_off(instead):
        lesson = teaching.lesson(part)
        return [follow_heard(heard, lesson.learned.procedure).said for heard in audience.hear(part, lesson)]


def _figures(said: Sequence[Guidance], made: Made, names: Mapping[int, int]) -> Plain:
    """Whether the fault was named, and what was said besides."""
    judged = judge(said, made.planted, names)
    standing = standing_alerts(said)
    told = [(one.kind, one.step, one.before, round(one.at, 3)) for one in standing if one.kind in FAULT_KINDS]
    return {
        "made": made.features.id,
        "kind": made.planted.kind,
        "questions": sum(isinstance(one, Question) for one in said),
        "asked": int(judged.hit is None and is_asked_of(said, made.planted, names)),
        "others": len(standing) - len(told),
        "told": str(told),
        "words": hashlib.sha256(repr(said).encode()).hexdigest(),
        **asdict(total([(made.planted, judged)])),
    }


def _cells(own: Sequence[Plain], whole: Sequence[Plain]) -> list[str]:
    """The figures of a part that is left out, and in how many recordings it makes a difference."""
    scores = [score_of(row for row in own if row["seed"] == seed) for seed in dict.fromkeys(row["seed"] for row in own)]
    score, clean = score_of(own), [row for row in own if row["kind"] == "none"]
    differ = (
        sum(one[name] != other[name] for one, other in zip(own, whole, strict=True)) for name in ("told", "words")
    )
    return [
        _spread([one.precision for one in scores]),
        _spread([one.recall for one in scores]),
        _spread([one.clean_alarms / one.clean for one in scores]),
        f"{score.found} of {score.faults}",
        str(score.flags - score.found),
        f"{score.found + _sum(own, 'asked')} of {score.faults}",
        f"{_sum(clean, 'questions') / len(clean):.2f}",
        f"{_sum(clean, 'others') / len(clean):.2f}",
        *(f"{count} of {len(own)}" for count in differ),
    ]


def _sum(rows: Sequence[Plain], name: str) -> int:
    return sum(int(row[name] or 0) for row in rows)


def _spread(values: Sequence[float]) -> str:
    """Mean and standard deviation of those that there are: where nothing is flagged there is no precision."""
    known = [value for value in values if not np.isnan(value)]
    spread = f" ± {np.std(known, ddof=1):.2f}" if len(known) > 1 else ""
    return f"{np.mean(known):.2f}{spread}" if known else UNPRINTED

"""The three worst failures of a task: a wrong flag, a fault nobody was told of, a step taken for another."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from guide.domain import BACKGROUND, Labels
from guide.words import count_of
from offline.study.evaluation.teaching import ALL
from offline.study.fault_trial.made import FAULTS
from offline.study.keep import Plain
from offline.study.real.results import Result, missed_rows

WORST: Final = 3
About: TypeAlias = tuple[str, int, int | None]  # kind, step, before


@dataclass(frozen=True, slots=True)
class Shown:
    """A moment of a recording, and what is to be seen there."""

    caption: str
    at: float


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong, the evidence in words, and moments of the recording that show it."""

    title: str
    evidence: tuple[str, ...]
    recording: str
    shown: tuple[Shown, ...] = ()


def worst(result: Result) -> list[Failure]:
    """The most frequent wrong flag, the fault missed most often and the worst confusion; where one kind is lacking,
    the next confusions take its place."""
    found = [next(each, None) for each in (_wrong_flags(result), _real_misses(result), _made_misses(result))]
    flags = [found[0], found[1] or found[2]]
    told = [one for one in flags if one is not None]
    confused = _confusions(result)
    return [*told, *(one for _, one in zip(range(WORST - len(told)), confused, strict=False))]


def _wrong_flags(result: Result) -> Iterator[Failure]:
    """The wrong flags by how many recordings have them, those in clean recordings first."""
    flagged = [row for row in result.rows if row.get("labelled") == ALL and row["kind"] in ("none", *FAULTS)]
    for name, rows in (
        ("clean recordings", _of(flagged, "none")),
        ("recordings with made faults", _of(flagged, *FAULTS)),
    ):
        wrong: dict[About, list[tuple[Plain, Mapping[str, Any]]]] = defaultdict(list)
        for row in rows:
            for alert in json.loads(str(row["wrong"])):
                wrong[str(alert["kind"]), int(alert["step"]), alert["before"]].append((row, alert))
        for about, cases in sorted(wrong.items(), key=lambda pair: (-len(pair[1]), str(pair[0]))):
            row, alert = cases[0]
            id_ = str(row["recording"])
            yield Failure(
                f"wrong flag, {in_words(result, *about)}: {len(cases)} of {len(rows)} {name}",
                (str(alert["evidence"]), *_seen(result, id_, about[1])),
                id_,
                (*_middle(result, id_, about[1]), Shown("when it was flagged", float(alert["source_s"]))),
            )


def _real_misses(result: Result) -> Iterator[Failure]:
    """Steps really missed without a flag, the most frequent first."""
    missed = [row for row in missed_rows(result) if row["is_missed"]]
    for step, rows in _most_frequent(missed, lambda row: int(row["step"] or 0)):
        silent = [row for row in rows if not row["is_flagged"]]
        if silent:
            certainty = np.median([float(row["certainty"] or 0) for row in silent])
            yield Failure(
                f"no flag, {in_words(result, 'missed', step, None)}: really missed in {len(rows)} recordings, "
                f"told in {len(rows) - len(silent)}",
                (f"at the end of those without a flag its median probability of lacking was {certainty:.2f}",),
                str(silent[0]["recording"]),
            )


def _made_misses(result: Result) -> Iterator[Failure]:
    """Made faults without a flag, the most frequent first."""
    made = [row for row in result.rows if row.get("labelled") == ALL and row["kind"] in FAULTS]
    for about, rows in _most_frequent(made, lambda row: (str(row["kind"]), int(row["step"] or 0), row["before"])):
        silent = [row for row in rows if not row["found"]]
        if silent:
            row, id_ = silent[0], str(silent[0]["recording"])
            rule = f"the rule that it breaks: {row['rule']}" if row["rule"] else "no rule is known that it breaks"
            yield Failure(
                f"no flag, {in_words(result, *about)}: made {len(rows)} times, told {len(rows) - len(silent)}",
                (rule, *_seen(result, id_, about[1])),
                id_,
                (*_middle(result, id_, about[1]), Shown("when it could be known", float(row["source_s"] or 0))),
            )


def _confusions(result: Result) -> Iterator[Failure]:
    """Pairs of a true step and another live label, by frames."""
    counts, steps = result.confusion, [BACKGROUND, *sorted(result.of.task.steps)]
    wrong = counts * (1 - np.eye(len(steps), dtype=np.int64))
    wrong[0] = 0  # what is laid on background hides no step
    for cell in np.argsort(-wrong, axis=None, kind="stable"):
        true, found = (int(part) for part in np.unravel_index(cell, wrong.shape))
        if not wrong[true, found]:
            return
        id_, at = _longest(result, steps[true], steps[found])
        yield Failure(
            f"{named(result, steps[true])} is labelled {named(result, steps[found])}: {wrong[true, found]} of "
            f"{counts[true].sum()} frames",
            (f"right are {counts[true, true]} frames",),
            id_,
            (Shown(f"{named(result, steps[true])}, labelled otherwise", at), *_middle(result, id_, steps[found])),
        )


def named(result: Result, step: int) -> str:
    """A step as people call it."""
    if step <= BACKGROUND:
        return "background"
    name = result.of.task.steps[step]
    return name if name == f"step {step}" else f"{step} {name}"


def in_words(result: Result, kind: str, step: int, before: int | None) -> str:
    """A fault in few words."""
    if kind == "unknown":
        return "unknown activity"
    about = named(result, step) if step > BACKGROUND else "a step that corresponds to none"
    waited = f" before {named(result, before)}" if kind == "out_of_order" and before else ""
    return f"{kind.replace('_', ' ')} {about}{waited}"


def _seen(result: Result, id_: str, step: int) -> tuple[str, ...]:
    """How a step was labelled live in a recording left as it was."""
    if id_ not in result.live or step <= BACKGROUND:
        return ()
    live = result.live[id_][result.truth[id_] == step]
    if not len(live):
        return (f"{id_} does not hold the step",)
    counts = sorted(((int((live == label).sum()), int(label)) for label in np.unique(live)), reverse=True)
    words = ", ".join(f"{named(result, label)} {100 * count / len(live):.0f} %" for count, label in counts[:3])
    return (f"{count_of(len(live), 'frame')} of the step, labelled live {words}",)


def _middle(result: Result, id_: str, step: int) -> tuple[Shown, ...]:
    """The middle frame of a step in a recording, where it holds the step."""
    if id_ not in result.live or step <= BACKGROUND:
        return ()
    frames = np.flatnonzero(result.truth[id_] == step)
    return (Shown(named(result, step), _at(result, id_, int(frames[len(frames) // 2]))),) if len(frames) else ()


def _longest(result: Result, true: int, found: int) -> tuple[str, float]:
    """The recording and moment amid the longest time that a step was taken for another."""
    runs = [
        (len(run), id_, int(run[len(run) // 2]))
        for id_, truth in result.truth.items()
        for run in _runs((truth == true) & (result.live[id_] == found))
    ]
    _, id_, frame = max(runs)
    return id_, _at(result, id_, frame)


def _runs(is_so: np.ndarray[Any, np.dtype[np.bool_]]) -> list[Labels]:
    frames = np.flatnonzero(is_so)
    return [run for run in np.split(frames, np.flatnonzero(np.diff(frames) > 1) + 1) if len(run)]


def _at(result: Result, id_: str, frame: int) -> float:
    [recording] = [one for one in result.of.task.recordings if one.id == id_]
    return float(recording.times[frame])


def _of(rows: Sequence[Plain], *kinds: str) -> list[Plain]:
    return [row for row in rows if row["kind"] in kinds]


def _most_frequent(rows: Sequence[Plain], about: Any) -> list[tuple[Any, list[Plain]]]:
    """Rows in groups, those with the most silent rows first."""
    groups: dict[Any, list[Plain]] = defaultdict(list)
    for row in rows:
        groups[about(row)].append(row)

    def silent(own: Sequence[Plain]) -> int:
        return sum(not (row.get("found") or row.get("is_flagged")) for row in own)

    return sorted(groups.items(), key=lambda pair: (-silent(pair[1]), str(pair[0])))

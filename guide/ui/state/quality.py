"""How good a bundle is, by leaving demonstrations out: the one card that the Learn and Procedures pages show of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from guide.bundle import Bundle, read_bundle
from guide.domain import BACKGROUND, Labels
from guide.errors import BundleError
from guide.label.energy import LinkSettings
from guide.manifest import is_list
from guide.procedure.model import Procedure
from guide.procedure.reading import from_plain
from guide.task_model import histories_of, labeller_of
from guide.teach.describe import some
from guide.teach.gain import leave_one_out
from guide.teach.progress import Tell, part_of, say_nothing
from guide.teach.prototypes import learn_prototypes
from guide.teach.relearn import begin_review
from guide.teach.review_store import ReviewStore
from guide.words import count_of

KEPT = "quality.json"
# Live labels on recordings left out, and faults found then: .85 found 8 of 8, .78 five or six, .70 half (3-D kit).
GOOD, FAIR = 0.85, 0.7
UNLABELLED = "No recording is labelled yet: label two, and it can be said what a third would gain"
OFTEN = 0.05  # of a step's time under the name of another: less is how edges differ
MOST_CONFUSED = 3

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class StepQuality:
    """A step in the demonstrations: how many hold it, and which share of its time a session would name it right."""

    number: int
    present: int
    right: float | None
    rival: int | None
    """The step whose name it gets most often instead; none where that is seldom."""
    rival_share: float = 0.0

    def taken_for(self, names: Mapping[int, str]) -> str:
        """What it is often called instead, in words; nothing where that is seldom."""
        return "" if self.rival is None else f"{names[self.rival]} for {_percent(self.rival_share)} of its time"


@dataclass(frozen=True, slots=True)
class Quality:
    """What leaving demonstrations out shows.

    >>> Quality(12, 2, 0.9, 0.8, 0.1, 0.95, (), "").headline
    'Good: live labels were right 90 % of the time during steps.'
    >>> Quality(12, 0, None, 0.8, 0.1, 0.95, (), "").headline
    'Nobody has checked the steps: label two recordings to know how right they are.'
    """

    recordings: int
    labelled: int
    right: float | None
    """Of the time in steps, how much a session would name right: recordings that a person labelled, each left out."""
    alike: float
    """The same for recordings that nobody labelled, against the steps found in them: how consistent these are."""
    idle: float
    """Of the time between steps, how much would be called a step."""
    order: float
    """How often the one of two steps comes first that mostly does."""
    steps: tuple[StepQuality, ...]
    gain: str

    @property
    def is_good(self) -> bool:
        return self.right is not None and self.right >= GOOD

    @property
    def headline(self) -> str:
        if self.right is None:
            return "Nobody has checked the steps: label two recordings to know how right they are."
        word = "Good" if self.is_good else "Fair" if self.right >= FAIR else "Weak"
        advice = {"Good": "", "Fair": " Look at what is confused below.", "Weak": " Label one more before you guide."}
        return f"{word}: live labels were right {_percent(self.right)} of the time during steps.{advice[word]}"

    def rows(self, names: Mapping[int, str]) -> tuple[tuple[str, str], ...]:
        """What is known, each with its heading; steps are called by `names`."""
        every = sum(one.present == self.recordings for one in self.steps)
        agree = (
            f"{every} of {count_of(len(self.steps), 'step')} are in every recording; "
            f"two steps come in the same order in {_percent(self.order)} of the recordings"
        )
        worst = sorted((one for one in self.steps if one.rival is not None), key=lambda one: -one.rival_share)
        confused = [f"{names[one.number]} is called {one.taken_for(names)}" for one in worst[:MOST_CONFUSED]]
        told = (
            ("Steps agree between recordings", agree),
            ("Live labels, recordings left out", self._live),
            ("Often confused", "; ".join(confused) or "no two steps"),
            ("One more labelled recording", self.gain if self.labelled else UNLABELLED),
        )
        return tuple((name, f"{words[:1].upper()}{words[1:]}".rstrip(".") + ".") for name, words in told)

    @property
    def _live(self) -> str:
        idle = f"Between steps, a step was shown {_percent(self.idle)} of the time"
        if self.right is None:
            alike = f"during steps they agree with the steps found {_percent(self.alike)} of the time"
            return f"{alike}, which shows that they are consistent, not that they are right. {idle}"
        labels = count_of(self.labelled, "recording")
        checked = f"right {_percent(self.right)} of the time during steps, by the labels of {labels}"
        others = f" In the others they agree with the steps found {_percent(self.alike)} of the time."
        return f"{checked}.{others if self.labelled < self.recordings else ''} {idle}"


def read_quality(folder: Path) -> Quality | None:
    """What was found out about the bundle in `folder`; nothing where nobody asked yet, or it has changed since."""
    try:
        plain = json.loads((ReviewStore(folder).folder / KEPT).read_text("utf-8"))
        if plain.pop("of") != _basis(read_bundle(folder)):
            return None
        return Quality(**plain | {"steps": tuple(StepQuality(**one) for one in plain["steps"])})
    except (OSError, ValueError, TypeError, KeyError, BundleError):
        return None


def find_quality(folder: Path, tell: Tell = say_nothing) -> Quality:
    """Judges the bundle in `folder` and keeps the answer; takes seconds for the demo, minutes for long recordings.

    After-effects are left out: they weigh what has been done, and change hardly a label.
    """
    bundle = read_bundle(folder)
    if is_list(bundle):
        raise BundleError("A written list holds no recordings to judge it by.")
    found = _judge(bundle, tell)
    place = ReviewStore(folder).folder
    place.mkdir(parents=True, exist_ok=True)
    (place / KEPT).write_text(json.dumps({"of": _basis(bundle)} | asdict(found)), encoding="utf-8")
    return found


def _basis(bundle: Bundle) -> str:
    """What an answer is about: what was seen and how it is labelled; names may change."""
    review = bundle.facts.get("review")
    labelled = review.get("labelled") if isinstance(review, dict) else None
    return f"{bundle.facts['files']['demonstrations.npz']['sha256']} {labelled or []}"


def _judge(bundle: Bundle, tell: Tell) -> Quality:
    review = begin_review(bundle)
    demonstrations, result = review.demonstrations, review.result
    procedure, links = from_plain(bundle.json("procedure.json")), LinkSettings(**bundle.facts["links"])
    taught = learn_prototypes(demonstrations, result.labels)
    tell(0.3)
    columns = taught.prototypes.steps
    numbers = np.array([BACKGROUND, *(step for step in sorted(columns) if step > BACKGROUND)])
    checked, found = np.zeros((2, len(numbers), len(numbers)), np.int64)
    followed = [taught.judged[place] for place in some(taught.judged)]
    for count, one in enumerate(followed, 1):
        histories = histories_of(procedure, columns, demonstrations.settings.smoothing_s, demonstrations.rate)
        labelled, _ = labeller_of(histories, links, demonstrations.rate, taught.prototypes.clock).follow(
            one.costs, one.times
        )
        named = np.array([label.step for each in labelled for label, _ in each.settled])
        into = checked if one.place in result.labelled else found
        into += confusion(one.labels, named, numbers)
        tell(0.3 + 0.3 * count / len(followed))
    given = [each if at in result.labelled else None for at, each in enumerate(result.labels)]
    gain = leave_one_out(demonstrations.collection(), given, part_of(tell, 0.6, 1.0))
    both = checked + found
    return Quality(
        recordings=procedure.demonstrations,
        labelled=len(result.labelled),
        right=_right(checked) if checked[1:].any() else None,
        alike=_right(found),
        idle=float(both[0, 1:].sum() / max(both[0].sum(), 1)),
        order=_order(procedure),
        steps=_steps(procedure, both, numbers),
        gain=gain.words,
    )


def confusion(truth: Labels, named: Labels, numbers: NDArray[np.int64]) -> Counts:
    """How many moments of each of `numbers` (C, background first) got which name (C, C); unknown counts as none.

    >>> confusion(np.array([0, 2, 2, 2]), np.array([0, 2, 0, -1]), np.array([0, 2])).tolist()
    [[1, 0], [2, 1]]
    """
    rows, columns = np.searchsorted(numbers, truth), np.searchsorted(numbers, np.maximum(named, BACKGROUND))
    return np.asarray(np.bincount(rows * len(numbers) + columns, minlength=len(numbers) ** 2).reshape(len(numbers), -1))


def _right(counts: Counts) -> float:
    """The share of the time in steps that got its own name."""
    return float(np.trace(counts[1:, 1:]) / max(counts[1:].sum(), 1))


def _order(procedure: Procedure) -> float:
    """How often the one of two steps comes first that mostly does, over the pairs that recordings hold."""
    pairs = [one for one in procedure.precedences if one.first < one.then and one.total]
    kept = sum(max(one.support, one.total - one.support) for one in pairs)
    return kept / max(sum(one.total for one in pairs), 1) if pairs else 1.0


def _steps(procedure: Procedure, counts: Counts, numbers: NDArray[np.int64]) -> tuple[StepQuality, ...]:
    """Every step of the procedure; one that no recording holds is never named."""
    found = []
    for number in procedure.numbers:
        seen = procedure.statistics_of(number)
        present, place = 0 if seen is None else seen.present, int(np.searchsorted(numbers, number))
        if number not in numbers or not counts[place].any():
            found.append(StepQuality(number, present, None, None))
            continue
        shares = counts[place] / counts[place].sum()
        others = np.where((numbers == number) | (numbers == BACKGROUND), 0.0, shares)
        rival = int(others.argmax())
        is_often = others[rival] >= OFTEN
        found.append(
            StepQuality(
                number,
                present,
                float(shares[place]),
                int(numbers[rival]) if is_often else None,
                float(others[rival]) if is_often else 0.0,
            )
        )
    return tuple(found)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"

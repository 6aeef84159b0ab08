"""Leaves each demonstration out in turn and follows it with what the others show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from guide.domain import Guidance, KeyStep, Question
from guide.procedure.evidence import Cutoffs, Demonstrations, Evidence, weigh
from guide.procedure.model import Procedure
from guide.procedure.orderings import rank_orderings
from guide.procedure.replay import follow, standing_alerts
from guide.procedure.visits import Visit, first_order

MOST_FOLDS = 40  # of more demonstrations than this, an evenly spread choice is left out


@dataclass(frozen=True, slots=True)
class Fold:
    """One demonstration left out, and what the others say."""

    left_out: tuple[Visit, ...]
    others: Procedure
    evidence: Evidence

    def follow(self, cutoffs: Cutoffs) -> list[Guidance]:
        """What the others' rules say about the demonstration left out."""
        return follow(replace(self.others, rules=self.evidence.rules(cutoffs)), self.left_out)


def folds_of(demonstrations: Demonstrations, steps: Sequence[KeyStep], is_new_unknown: bool = False) -> list[Fold]:
    """A fold for each demonstration, or for an evenly spread choice of many; none for a single demonstration.

    A step that only the demonstration left out holds is unknown activity where `is_new_unknown`, else passed over.
    """
    count = len(demonstrations)
    chosen = range(count) if count <= MOST_FOLDS else [index * count // MOST_FOLDS for index in range(MOST_FOLDS)]
    return [_fold(demonstrations, steps, index, is_new_unknown) for index in chosen] if count > 1 else []


def _fold(demonstrations: Demonstrations, steps: Sequence[KeyStep], index: int, is_new_unknown: bool) -> Fold:
    others = [*demonstrations[:index], *demonstrations[index + 1 :]]
    evidence = weigh(others, steps)
    seen = {one.step for one in evidence.statistics}
    task = Procedure(
        tuple(step for step in steps if step.number in seen),
        len(others),
        orderings=rank_orderings(first_order(visits) for visits in others),
    )
    return Fold(tuple(v for v in demonstrations[index] if is_new_unknown or v.step in seen), task, evidence)


def count_alarms(folds: Sequence[Fold], cutoffs: Cutoffs) -> int:
    """Alerts that stand at the end of the demonstrations left out: demonstrations are right, so all are false."""
    return sum(len(standing_alerts(fold.follow(cutoffs))) for fold in folds)


def count_questions(folds: Sequence[Fold], cutoffs: Cutoffs) -> int:
    """Questions asked about the demonstrations left out."""
    return sum(isinstance(item, Question) for fold in folds for item in fold.follow(cutoffs))

"""How often a step is done in one recording: learned from demonstrations, drawn towards how often people repeat steps.

Most steps are done once, and few people do what nobody does twice. But a step that was come back to once is likely to
be come back to again, and in some tasks a step comes equally often for everybody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

# The chance that a step that came 1, 2, 3, 4 times in a recording comes once more, over all steps and recordings of
# EgoProceL's 16 tasks: `python -m offline.study.statistics DIR` prints them.
EGOPROCEL = np.array([0.182, 0.457, 0.534, 0.608])
TASKS_WORTH = 1.0  # steps that EgoProceL counts for beside those of the task, for each number of visits
MOST = 12  # visits that are told apart
HARDLY = 1e-6  # dearer than any price
STEPS_WORTH = 1.0  # and recordings that the task's other steps count for beside those that hold the step


@dataclass(frozen=True, slots=True, eq=False)
class VisitCounts:
    """What is known of C steps.

    >>> counts = VisitCounts.learn([[1, 3], [1, 3], [1, 3]])
    >>> counts.more.round(2).tolist()
    [[0.11, 0.86, 0.13, 0.61], [0.86, 0.97, 0.03, 0.61]]
    """

    more: Floats
    """The chance (C, M) that a step that came 1..M times comes once more; after M it stays as it is."""
    usual: Ints
    """How often each step (C,) comes where a rule says so, else 1: more and fewer visits can be asked for."""

    def __post_init__(self) -> None:
        if self.more.ndim != 2 or self.usual.shape != self.more.shape[:1] or (self.usual < 1).any():
            raise ValueError(f"visits of steps need chances (C, M) and numbers (C,), got {self.more.shape}")

    @staticmethod
    def once(columns: int) -> VisitCounts:
        """Of steps that hardly anybody comes back to."""
        return VisitCounts(np.full((columns, 2), HARDLY), np.ones(columns, np.int64))

    @staticmethod
    def learn(counts: Sequence[Sequence[int]] | Ints, usual: Sequence[int] = ()) -> VisitCounts:
        """From how often each recording (R, C) holds each step, and how often it is to come."""
        found = np.minimum(np.asarray(counts, np.int64), MOST)
        numbers = 1 + np.arange(max(int(found.max(initial=0)), 1) + 1)
        prior = _prior(len(numbers))
        # (C, M): the recordings in which the step came at least so often, and more often
        reached, passed = ((found[:, :, None] >= numbers + one).sum(0) for one in (0, 1))
        pooled = (passed.sum(0) + TASKS_WORTH * prior) / (reached.sum(0) + TASKS_WORTH)
        more = (passed + STEPS_WORTH * pooled) / (reached + STEPS_WORTH)
        return VisitCounts(more, np.minimum(np.array(usual or [1] * found.shape[1], np.int64), len(numbers)))

    def freed(self, is_free: Flags) -> VisitCounts:
        """The same with some steps (C,) come back to as readily as in other tasks, or more readily where seen so."""
        return replace(self, more=np.where(is_free[:, None], np.maximum(self.more, _prior(self.most)), self.more))

    def again(self, visits: Ints) -> Floats:
        """The chance (..., C) that steps that came `visits` (..., C) times come once more; 1 where they never came."""
        found = self.more[np.arange(len(self.more)), np.clip(visits, 1, self.most) - 1]
        return np.where(visits > 0, found, 1.0)

    @property
    def most(self) -> int:
        """Visits beyond which nothing changes."""
        return int(self.more.shape[1])


def _prior(most: int) -> Floats:
    return EGOPROCEL[np.minimum(np.arange(most), len(EGOPROCEL) - 1)]

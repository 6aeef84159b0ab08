"""Models of tasks that histories are followed in, for tests."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from guide.label.histories import Expectations, Histories, HistoryModel
from guide.label.history_model import Floats
from guide.label.visit_counts import VisitCounts

TICK_S = 0.5


def model_of(
    steps: tuple[int, ...], rng: np.random.Generator, expectations: Expectations | None = None
) -> HistoryModel:
    count = len(steps)
    return HistoryModel(
        steps,
        usual_s=rng.uniform(0.4, 3.0, count),
        spread=float(rng.uniform(0.3, 0.8)),
        before=(rng.random((count, count)) < 0.5) & ~np.eye(count, dtype=bool),
        needed=rng.random(count) < 0.5,
        visits=VisitCounts(rng.uniform(0.02, 0.98, (count, 3)), rng.integers(1, 3, count)),
        weight=float(rng.uniform(0.5, 3.0)),
        expectations=expectations or Expectations(),
        to_background=float(rng.uniform(0.2, 0.8)),
    )


def plain_model(steps: tuple[int, ...], **changes: object) -> HistoryModel:
    """Steps of four seconds, the rest of two, and no rules."""
    no = np.zeros(len(steps), bool)
    usual_s = np.where(np.array(steps) > 0, 4.0, 2.0)
    visits = VisitCounts.learn(np.zeros((0, len(no)), np.int64))
    model = HistoryModel(steps, usual_s, 0.4, np.zeros((len(no), len(no)), bool), no, visits, weight=2.0)
    return replace(model, **changes)  # type: ignore[arg-type]


def wide(model: HistoryModel) -> Histories:
    """Follows every history there is."""
    return Histories(model, TICK_S, most=10**6, spawning=10**6, width=math.inf)


def follow(histories: Histories, rows: Floats, tick_s: float = TICK_S) -> Histories:
    for number, costs in enumerate(rows):
        histories.push(costs, number * tick_s)
    return histories


def clear(columns: list[int], count: int, probability: float = 0.9) -> Floats:
    """Costs (T, C) of frames that each say one column clearly."""
    rows = np.full((len(columns), count), 1 - (1 - probability) / max(count - 1, 1))
    rows[np.arange(len(columns)), columns] = 1 - probability
    return rows

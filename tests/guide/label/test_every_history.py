"""Rival histories of events against every history there can be."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import groupby, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.label.histories import Expectations, Histories, HistoryModel
from guide.label.history_model import Floats
from tests.made_histories import TICK_S, follow, model_of, wide

seeds = st.integers(0, 10_000)
COUNTED = ("has_more_than_usual", "has_fewer_than_usual")


# Every history there can be, one column a tick, in plain Python.


class Told:
    """One history told from its beginning: its score, and what is true of it."""

    def __init__(
        self, model: HistoryModel, path: tuple[int, ...], evidence: Floats, effects: Floats | None = None
    ) -> None:
        self.model, self.score = model, 0.0
        self.begun: list[int] = []  # steps in the order they were first begun
        self.visits: Counter[int] = Counter()
        self.newest = self.now = -1
        begin = 0
        for column, stretch in groupby(path):
            end = begin + len(list(stretch))
            self.score += self._turn(column) + self._choice(column)
            self.score += self._time(column, end - begin, is_over=end < len(path))
            self.score += model.weight * sum(evidence[tick][column] for tick in range(begin, end))
            self._note(column)
            for left in () if effects is None else effects[begin:end]:
                self.score += model.effect_weight * sum(left[done] for done in self.begun if done != column)
            # With the last frame what goes on then ends.
            self.ended = self.score + self._time(column, end - begin, True) - self._time(column, end - begin, False)
            begin = end

    def _turn(self, column: int) -> float:
        number = self.model.steps[column]
        if number == -1:
            return -self.model.expectations.unknown
        if self.now < 0:
            return math.log(0.5)
        if number == 0:
            return math.log(self.model.to_background)
        return math.log(1 - self.model.to_background if self.model.steps[self.now] > 0 else 1.0)

    def _choice(self, column: int) -> float:
        """The logarithm of the share that a step has among all that can follow."""
        if self.model.steps[column] <= 0:
            return 0.0
        others = [other for other, step in enumerate(self.model.steps) if step > 0 and other != self.now]
        return -self._price(column) - math.log(max(sum(math.exp(-self._price(other)) for other in others), 1.0))

    def _price(self, column: int) -> float:
        expected = self.model.expectations
        if self.model.steps[column] <= 0 or column == self.newest:
            return 0.0
        if column in self.begun:
            return min(-math.log(self._again(column)), expected.repeat)
        lacks = any(
            self.model.before[other, column] and other not in self.begun for other in range(len(self.model.steps))
        )
        return expected.order if lacks else 0.0

    def _time(self, column: int, ticks: int, is_over: bool) -> float:
        """The density of a stretch that ended; the last one lasts at least to the next tick."""
        timed, lasted = self.model.expectations.is_timed, ticks * TICK_S
        usual = float(self.model.usual_s[column] if timed else self.model.usual_s.mean())
        if not timed or self.model.steps[column] <= 0:
            return math.log(TICK_S / usual if is_over else 1.0) - lasted / usual
        away = math.log(lasted / usual) / self.model.spread
        if not is_over:
            return math.log(math.erfc(away / math.sqrt(2)) / 2)
        return math.log(TICK_S * math.exp(-(away**2) / 2) / (lasted * self.model.spread * math.sqrt(2 * math.pi)))

    def _note(self, column: int) -> None:
        self.now = column
        if self.model.steps[column] <= 0:
            return
        if column not in self.begun:
            self.begun.append(column)
        self.visits[column] += column != self.newest
        self.newest = column

    def _again(self, column: int) -> float:
        """The chance that the step comes once more."""
        more = self.model.visits.more[column]
        return float(more[min(self.visits[column], len(more)) - 1])

    def lacking(self) -> float:
        steps = [c for c, step in enumerate(self.model.steps) if step > 0]
        needed = sum(self.model.needed[c] and c not in self.begun for c in steps)
        due = [math.log(self._again(c) / (1 - self._again(c))) for c in steps if c in self.begun]
        most = self.model.expectations.lacking
        return most * int(needed) + sum(min(max(one, 0.0), most) for one in due)

    def has_more_than_usual(self, column: int) -> bool:
        return bool(min(self.visits[column], 3) > self.model.visits.usual[column])

    def has_fewer_than_usual(self, column: int) -> bool:
        return bool(0 < self.visits[column] < self.model.visits.usual[column])

    def is_early(self, first: int, then: int) -> bool:
        return then in self.begun and first not in self.begun[: self.begun.index(then)]


def check_against_every_history(
    model: HistoryModel, histories: Histories, evidence: Floats, effects: Floats | None = None
) -> None:
    columns = range(len(model.steps))
    every = [Told(model, path, evidence, effects) for path in product(columns, repeat=len(evidence))]
    for is_over, has_ended in ((False, False), (True, False), (True, True)):
        if has_ended:
            histories.end()
        scores = np.array([(told.ended if has_ended else told.score) - is_over * told.lacking() for told in every])
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()

        def share(facts: list[bool], weights: Floats = weights) -> float:
            return float(weights[np.array(facts)].sum())

        for c in columns:
            assert histories.done(is_over)[c] == pytest.approx(share([c in told.begun for told in every]), abs=1e-9)
            more, fewer = ([getattr(told, name)(c) for told in every] for name in COUNTED)
            assert histories.again(is_over)[c] == pytest.approx(share(more), abs=1e-9)
            assert histories.fewer(is_over)[c] == pytest.approx(share(fewer), abs=1e-9)
            if not is_over:
                now = histories.marginals([len(evidence) * TICK_S])[0, c]
                assert now == pytest.approx(share([c == told.now for told in every]), abs=1e-9)
        for first, then in zip(*np.nonzero(model.before & model.is_step & model.is_step[:, None]), strict=True):
            early = [told.is_early(first, then) for told in every]
            both = [is_early and first in told.begun for told, is_early in zip(every, early, strict=True)]
            assert histories.both(first, then, is_over) == pytest.approx(share(both), abs=1e-9)


@pytest.mark.parametrize(
    ("steps", "ticks"), [((1, 0), 6), ((1, 2, 0), 6), ((1, 2, -1), 5), ((1, 2, 3), 5), ((1, 2, 3, 0), 5), ((0,), 3)]
)
@settings(derandomize=True, deadline=None, max_examples=5)
@given(seeds, st.booleans())
def test_equals_every_history(steps: tuple[int, ...], ticks: int, seed: int, is_timed: bool) -> None:
    rng = np.random.default_rng(seed)
    model = model_of(steps, rng, replace(Expectations(*rng.uniform(0, 4, 4)), is_timed=is_timed))
    rows = rng.random((ticks, len(steps)))
    check_against_every_history(model, follow(wide(model), rows), TICK_S * np.log(1 - rows))


@settings(derandomize=True, deadline=None, max_examples=5)
@given(seeds)
def test_equals_every_history_with_two_frames_a_tick(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model, rows = model_of((1, 2, 0), rng), rng.random((9, 3))
    histories, logs = wide(model), TICK_S * np.log(1 - rows)
    changed = [histories.push(costs, number * TICK_S / 2) for number, costs in enumerate(rows)]
    assert changed == [True] + [False, True] * 4  # the first frame is a tick of its own
    check_against_every_history(model, histories, np.vstack([logs[:1], (logs[1::2] + logs[2::2]) / 2]))


@settings(derandomize=True, deadline=None, max_examples=5)
@given(seeds)
def test_equals_every_history_with_effects(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = replace(model_of((1, 2, 3, 0), rng), effect_weight=float(rng.uniform(0.2, 2.0)))
    rows, effects = rng.random((5, 4)), rng.normal(size=(5, 4)) * 3 * model.is_step
    histories = wide(model)
    for number, (costs, left) in enumerate(zip(rows, effects, strict=True)):
        histories.push(costs, number * TICK_S, left)
    busy = np.minimum((1 - rows) @ model.is_step, 1.0)[:, None]  # idle time adds nothing
    check_against_every_history(model, histories, TICK_S * np.log(1 - rows), TICK_S * busy * effects)


@pytest.mark.parametrize("steps", [(1, 0), (1, 2, 0), (1, 2, 3), (1, 2, 3, 0, -1)], ids=str)
@settings(derandomize=True, deadline=None, max_examples=10)
@given(seeds)
def test_marginals_equal_those_of_every_history(steps: tuple[int, ...], seed: int) -> None:
    """Over two ticks no two histories become one, so those of the earlier one are exact as well."""
    rng = np.random.default_rng(seed)
    model, rows = model_of(steps, rng), rng.random((2, len(steps)))
    every = {path: Told(model, path, TICK_S * np.log(1 - rows)) for path in product(range(len(steps)), repeat=2)}
    weights = np.exp([told.score for told in every.values()])
    expected = np.zeros((2, len(steps)))
    for path, weight in zip(every, weights / weights.sum(), strict=True):
        expected[0, path[0]] += weight
        expected[1, path[1]] += weight
    histories = follow(wide(model), rows)
    found = histories.marginals([0.0, TICK_S])
    np.testing.assert_allclose(found[1], expected[1], atol=1e-9)
    if not {0, -1} <= set(steps):  # from either of them a step begins alike
        np.testing.assert_allclose(found[0], expected[0], atol=1e-9)

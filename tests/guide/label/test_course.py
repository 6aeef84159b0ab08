"""Rival courses of events against every course there can be, and what holds of them whatever comes."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import groupby, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.label import course as course_module
from guide.label.course import Course, CourseModel, Expectations
from guide.label.course_model import Floats

TICK_S = 0.5
seeds = st.integers(0, 10_000)


def model_of(steps: tuple[int, ...], rng: np.random.Generator, expectations: Expectations | None = None) -> CourseModel:
    count = len(steps)
    return CourseModel(
        steps,
        usual_s=rng.uniform(0.4, 3.0, count),
        spread=float(rng.uniform(0.3, 0.8)),
        before=(rng.random((count, count)) < 0.5) & ~np.eye(count, dtype=bool),
        needed=rng.random(count) < 0.5,
        single=rng.random(count) < 0.5,
        weight=float(rng.uniform(0.5, 3.0)),
        expectations=expectations or Expectations(),
        to_background=float(rng.uniform(0.2, 0.8)),
    )


def plain_model(steps: tuple[int, ...], **changes: object) -> CourseModel:
    """Steps of four seconds, the rest of two, and no rules."""
    no = np.zeros(len(steps), bool)
    usual_s = np.where(np.array(steps) > 0, 4.0, 2.0)
    model = CourseModel(steps, usual_s, 0.4, np.zeros((len(no), len(no)), bool), no, no, weight=2.0)
    return replace(model, **changes)  # type: ignore[arg-type]


def wide(model: CourseModel) -> Course:
    """Follows every course there is."""
    return Course(model, TICK_S, most=10**6, spawning=10**6, width=math.inf)


def follow(course: Course, rows: Floats, tick_s: float = TICK_S) -> Course:
    for number, costs in enumerate(rows):
        course.push(costs, number * tick_s)
    return course


def clear(columns: list[int], count: int, probability: float = 0.9) -> Floats:
    """Costs (T, C) of frames that each say one column clearly."""
    rows = np.full((len(columns), count), 1 - (1 - probability) / max(count - 1, 1))
    rows[np.arange(len(columns)), columns] = 1 - probability
    return rows


# Every course there can be, one column a tick, in plain Python.


class Told:
    """One course told from its beginning: its score, and what is true of it."""

    def __init__(
        self, model: CourseModel, path: tuple[int, ...], evidence: Floats, traces: Floats | None = None
    ) -> None:
        self.model, self.score = model, 0.0
        self.begun: list[int] = []  # steps in the order they were first begun
        self.again: set[int] = set()
        self.newest = self.now = -1
        begin = 0
        for column, stretch in groupby(path):
            end = begin + len(list(stretch))
            self.score += self._turn(column) + self._choice(column)
            self.score += self._time(column, end - begin, is_over=end < len(path))
            self.score += model.weight * sum(evidence[tick][column] for tick in range(begin, end))
            self._note(column)
            for left in () if traces is None else traces[begin:end]:
                self.score += model.trace_weight * sum(left[done] for done in self.begun if done != column)
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
            return expected.repeat if self.model.single[column] else expected.again
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
        elif column != self.newest:
            self.again.add(column)
        self.newest = column

    def lacking(self) -> float:
        needed = sum(
            self.model.needed[c] and c not in self.begun for c, step in enumerate(self.model.steps) if step > 0
        )
        return self.model.expectations.lacking * int(needed)

    def is_early(self, first: int, then: int) -> bool:
        return then in self.begun and first not in self.begun[: self.begun.index(then)]


def check_against_every_course(
    model: CourseModel, course: Course, evidence: Floats, traces: Floats | None = None
) -> None:
    columns = range(len(model.steps))
    every = [Told(model, path, evidence, traces) for path in product(columns, repeat=len(evidence))]
    for is_over, has_ended in ((False, False), (True, False), (True, True)):
        if has_ended:
            course.end()
        scores = np.array([(told.ended if has_ended else told.score) - is_over * told.lacking() for told in every])
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()

        def share(facts: list[bool], weights: Floats = weights) -> float:
            return float(weights[np.array(facts)].sum())

        for c in columns:
            assert course.done(is_over)[c] == pytest.approx(share([c in told.begun for told in every]), abs=1e-9)
            assert course.again(is_over)[c] == pytest.approx(share([c in told.again for told in every]), abs=1e-9)
            if not is_over:
                assert course.now()[c] == pytest.approx(share([c == told.now for told in every]), abs=1e-9)
                assert course.newest()[c] == pytest.approx(share([c == told.newest for told in every]), abs=1e-9)
        for first, then in zip(*np.nonzero(model.before & model.is_step & model.is_step[:, None]), strict=True):
            early = [told.is_early(first, then) for told in every]
            both = [is_early and first in told.begun for told, is_early in zip(every, early, strict=True)]
            assert course.early(first, then, is_over) == pytest.approx(share(early), abs=1e-9)
            assert course.both(first, then, is_over) == pytest.approx(share(both), abs=1e-9)


@pytest.mark.parametrize(
    ("steps", "ticks"), [((1, 0), 6), ((1, 2, 0), 6), ((1, 2, -1), 5), ((1, 2, 3), 5), ((1, 2, 3, 0), 5), ((0,), 3)]
)
@settings(derandomize=True, deadline=None, max_examples=5)
@given(seeds, st.booleans())
def test_equals_every_course(steps: tuple[int, ...], ticks: int, seed: int, is_timed: bool) -> None:
    rng = np.random.default_rng(seed)
    model = model_of(steps, rng, replace(Expectations(*rng.uniform(0, 4, 5)), is_timed=is_timed))
    rows = rng.random((ticks, len(steps)))
    check_against_every_course(model, follow(wide(model), rows), TICK_S * np.log(1 - rows))


@settings(derandomize=True, deadline=None, max_examples=5)
@given(seeds)
def test_equals_every_course_with_two_frames_a_tick(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model, rows = model_of((1, 2, 0), rng), rng.random((9, 3))
    course, logs = wide(model), TICK_S * np.log(1 - rows)
    changed = [course.push(costs, number * TICK_S / 2) for number, costs in enumerate(rows)]
    assert changed == [True] + [False, True] * 4  # the first frame is a tick of its own
    check_against_every_course(model, course, np.vstack([logs[:1], (logs[1::2] + logs[2::2]) / 2]))


@settings(derandomize=True, deadline=None, max_examples=5)
@given(seeds)
def test_equals_every_course_with_traces(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = replace(model_of((1, 2, 3, 0), rng), trace_weight=float(rng.uniform(0.2, 2.0)))
    rows, traces = rng.random((5, 4)), rng.normal(size=(5, 4)) * 3 * model.is_step
    course = wide(model)
    for number, (costs, left) in enumerate(zip(rows, traces, strict=True)):
        course.push(costs, number * TICK_S, left)
    busy = np.minimum((1 - rows) @ model.is_step, 1.0)[:, None]  # idle time adds nothing
    check_against_every_course(model, course, TICK_S * np.log(1 - rows), TICK_S * busy * traces)


def test_a_bare_bench_speaks_against_a_step_that_was_faintly_seen() -> None:
    model = plain_model((1, 2, 0), trace_weight=0.5)
    rows = np.vstack([clear([0] * 8, 3, probability=0.5), clear([1] * 8 + [2] * 40, 3)])

    def chance(odds: float, until: int) -> float:
        course = Course(model, TICK_S)
        for number, costs in enumerate(rows[:until]):
            course.push(costs, number * TICK_S, np.array([odds * (number >= 8), 0.0, 0.0]))
        return float(course.done()[0])

    assert chance(-5.0, 16) < 0.1 < chance(0.0, 16) < chance(5.0, 16)
    # However long one idles, a look at the bench says no more than it said.
    assert chance(-5.0, 24) > 0.01
    assert chance(-5.0, 56) > 0.2 * chance(-5.0, 24)


def test_a_step_just_begun_does_not_make_up_for_its_lacking_at_the_end() -> None:
    model = plain_model((1, 2, 0), needed=np.array([True, True, False]))
    course = follow(Course(model, TICK_S), np.vstack([clear([0] * 12, 3), clear([1], 3, probability=0.4)]))
    before = course.done(is_over=True)[1]
    course.end()
    assert course.done(is_over=True)[1] < 0.1 < before
    course = follow(Course(model, TICK_S), clear([0] * 12 + [1] * 6, 3))
    course.end()
    assert course.done(is_over=True)[1] > 0.9


def test_ending_twice_is_ending_once_and_a_reset_begins_anew() -> None:
    course = Course(plain_model((1, 2, 0)), TICK_S)
    course.end()
    rows = clear([0] * 6 + [1] * 2, 3)
    follow(course, rows)
    course.end()
    once = course.weights().tolist()
    course.end()
    assert course.weights().tolist() == once
    course.reset()
    assert follow(course, rows).weights().tolist() == follow(Course(course.model, TICK_S), rows).weights().tolist()


def test_worked_by_hand() -> None:
    course = follow(Course(plain_model((1, 0)), TICK_S), np.full((1, 2), 0.5))
    # Equal evidence and equal beginnings; nearly every step lasts a tick, exp(-0.5 / 2) = 0.7788 of background does.
    assert course.now().tolist() == pytest.approx([1 / 1.7788, 0.7788 / 1.7788], abs=1e-4)
    assert course.done().tolist() == pytest.approx([1 / 1.7788, 0.0], abs=1e-4)
    assert course.likeliest() == [(1, 0.0, 0.0)]


# What holds of a narrow choice of courses as well.


@settings(derandomize=True, deadline=None, max_examples=25)
@given(seeds, st.integers(1, 30), st.integers(1, 20), st.floats(0.5, 30.0), st.sampled_from([0.1, 1.0]))
def test_few_courses_whose_weights_sum_to_one(seed: int, most: int, spawning: int, width: float, spread: float) -> None:
    rng = np.random.default_rng(seed)
    course = Course(model_of((1, 2, 3, 0, -1), rng), TICK_S, most, spawning, width)
    for number, costs in enumerate(1 - rng.dirichlet(np.full(5, spread), 25)):
        course.push(costs, number * TICK_S)
        assert 1 <= len(course.weights()) <= most
        for weights in (course.weights(), course.weights(is_over=True), course.now()):
            assert weights.sum() == pytest.approx(1.0)
        assert course.newest().sum() <= 1 + 1e-9
        assert (course.again() <= course.done() + 1e-9).all()


@settings(derandomize=True, deadline=None, max_examples=25)
@given(seeds, st.sampled_from([0.1, 1.0]))
def test_stretches_tile_the_time_and_neighbours_differ(seed: int, spread: float) -> None:
    rng = np.random.default_rng(seed)
    rows = 1 - np.repeat(rng.dirichlet(np.full(4, spread), 12), 3, axis=0)
    times = 5.0 + np.cumsum(rng.uniform(0.1, 0.9, len(rows)))
    course = Course(model_of((1, 2, 0, -1), rng), TICK_S)
    for costs, at in zip(rows, times, strict=True):
        course.push(costs, at)
        for stretches in (course.likeliest(), course.likeliest(is_over=True)):
            assert (stretches[0][1], stretches[-1][2]) == (times[0], at)
            for before, after in pairwise(stretches):
                assert before[1] < before[2] == after[1]
                assert before[0] != after[0]


@settings(derandomize=True, deadline=None, max_examples=15)
@given(seeds)
def test_certain_costs_stay_finite(seed: int) -> None:
    rng = np.random.default_rng(seed)
    course = follow(Course(model_of((1, 2, 0, -1), rng), TICK_S), rng.integers(0, 2, (30, 4)).astype(np.float64))
    for found in (course.weights(), course.done(), course.again(True), course.now(), course.newest()):
        assert np.isfinite(found).all()


@settings(derandomize=True, deadline=None, max_examples=15)
@given(seeds)
def test_order_means_nothing_where_nothing_is_expected(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model, rows = model_of((1, 2, 3, 0), rng, Expectations(0.0, 0.0, 0.0, 0.0, 0.0)), rng.random((6, 4))
    order = rng.permutation(4)
    one, other = (
        follow(wide(each), rows) for each in (model, replace(model, before=model.before[np.ix_(order, order)]))
    )
    for is_over in (False, True):
        np.testing.assert_allclose(one.done(is_over), other.done(is_over), atol=1e-9)
        np.testing.assert_allclose(one.again(is_over), other.again(is_over), atol=1e-9)
    np.testing.assert_allclose(one.now(), other.now(), atol=1e-9)
    np.testing.assert_allclose(one.newest(), other.newest(), atol=1e-9)


@settings(derandomize=True, deadline=None, max_examples=20)
@given(seeds)
def test_clear_seconds_overrule_every_expectation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    steps = (1, 2, 3, 4, 0, -1)
    rules = model_of(steps, rng)
    model = plain_model(steps, before=rules.before, needed=rules.needed, single=rules.single)
    truth = [column for column, _ in groupby(rng.integers(0, 6, 7).tolist())]
    lasting = [column for column in truth for _ in range(int(rng.integers(6, 16)))]
    course = follow(Course(model, TICK_S), clear(lasting, 6))
    assert [step for step, _, _ in course.likeliest(is_over=True)] == [steps[column] for column in truth]
    done = [column in truth and steps[column] > 0 for column in range(6)]
    assert (course.done(is_over=True) > 0.5).tolist() == done


def test_faint_evidence_is_left_to_expectations() -> None:
    before = np.zeros((3, 3), bool)
    before[0, 1] = True
    rows = clear([1] * 8, 3, probability=0.4)
    assert follow(Course(plain_model((1, 2, 0)), TICK_S), rows).now().argmax() == 1
    assert follow(Course(plain_model((1, 2, 0), before=before), TICK_S), rows).now()[1] < 0.5


def test_lacking_steps_speak_against_a_course_at_the_end() -> None:
    model = plain_model((1, 2, 0), needed=np.array([True, True, False]))
    course = follow(Course(model, TICK_S), clear([0] * 8, 3, probability=0.5))
    assert (course.done(is_over=True)[:2] > course.done()[:2]).all()


def test_back_after_background_is_no_repeat() -> None:
    course = follow(Course(plain_model((1, 2, 0)), TICK_S), clear([0] * 8 + [2] * 8 + [0] * 8, 3))
    assert course.again()[0] < 0.01
    course = follow(Course(plain_model((1, 2, 0)), TICK_S), clear([0] * 8 + [1] * 8 + [0] * 8, 3))
    assert course.again()[0] > 0.99


@settings(derandomize=True, deadline=None, max_examples=15)
@given(seeds, st.floats(2.0, 10_000.0))
def test_gap_is_no_evidence(seed: int, gap_s: float) -> None:
    rng = np.random.default_rng(seed)
    model, rows = model_of((1, 2, 0, -1), rng), 1 - rng.dirichlet(np.full(4, 0.3), 20)
    short, long = Course(model, TICK_S), Course(model, TICK_S)
    for number, costs in enumerate(rows):
        short.push(costs, number * TICK_S + (number >= 10) * 1.0)
        long.push(costs, number * TICK_S + (number >= 10) * gap_s)
        np.testing.assert_allclose(short.weights(), long.weights(), atol=1e-9)
    np.testing.assert_allclose(short.done(True), long.done(True), atol=1e-9)
    assert [step for step, _, _ in short.likeliest()] == [step for step, _, _ in long.likeliest()]


@settings(derandomize=True, deadline=None, max_examples=10)
@given(seeds)
def test_reset_gives_the_same_again(seed: int) -> None:
    rng = np.random.default_rng(seed)
    course, rows = Course(model_of((1, 2, 0, -1), rng), TICK_S), 1 - rng.dirichlet(np.full(4, 0.3), 20)
    follow(course, rows)
    course.push(rows[0], 9.6)  # a tick that is not complete
    course.weights()
    course.reset()
    fresh = Course(course.model, TICK_S)
    follow(course, rows)
    follow(fresh, rows)
    assert course.weights().tolist() == fresh.weights().tolist()
    assert course.likeliest() == fresh.likeliest()
    assert course.again(is_over=True).tolist() == fresh.again(is_over=True).tolist()


def test_before_the_first_frame_nothing_is_known() -> None:
    course = Course(plain_model((1, 2, 0)), TICK_S)
    assert course.likeliest() == []
    assert course.weights().tolist() == []
    for found in (course.done(), course.again(True), course.now(), course.newest()):
        assert found.tolist() == [0.0, 0.0, 0.0]
    assert course.early(0, 1) == course.both(0, 1, is_over=True) == 0.0


def test_history_stays_bounded_however_long_it_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course_module, "MOST_HISTORY", 60)
    course = Course(plain_model((1, 2, 0)), TICK_S, most=8, spawning=4)
    columns = [column for _ in range(200) for column in [0] * 8 + [1] * 8]
    for number, costs in enumerate(clear(columns, 3)):
        course.push(costs, number * TICK_S)
        assert len(course._past) <= 60 + 4 * 3
    stretches = course.likeliest()
    assert 20 <= len(stretches) <= 60  # the oldest of 400 are forgotten, the newest are as they were
    assert stretches[-1] == (2, 199 * 8.0 + 4.0, 200 * 8.0 - TICK_S)
    assert all(before[2] == after[1] for before, after in pairwise(stretches))
    assert course.done().round(3).tolist() == [1.0, 1.0, 0.0]


def test_forgetting_rivals_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model, rows = plain_model((1, 2, 0)), clear([0] * 40 + [2] * 8 + [1] * 40, 3, probability=0.6)
    whole = follow(Course(model, TICK_S, most=20), rows)
    monkeypatch.setattr(course_module, "MOST_HISTORY", 100)
    often = follow(Course(model, TICK_S, most=20), rows)
    assert len(whole._past) > 200 > len(often._past)
    assert often.likeliest() == whole.likeliest()
    assert often.weights().tolist() == whole.weights().tolist()


@pytest.mark.parametrize(
    "changes",
    [
        {"usual_s": np.array([4.0, 4.0])},
        {"usual_s": np.array([4.0, 0.0, 2.0])},
        {"before": np.zeros((2, 3), bool)},
        {"needed": np.zeros(2, bool)},
        {"spread": 0.0},
        {"to_background": 1.0},
    ],
)
def test_model_that_makes_no_sense_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="need"):
        plain_model((1, 2, 0), **changes)

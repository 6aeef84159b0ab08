"""What may have been done so far: rival histories of events, each with its probability, frame by frame.

A label looks at a few seconds. Whether a step was left out, done too early or done twice is a question about the whole
session, and a step that loses a close race all along still counts in it. So rival histories are followed at
once: each says which step was done when. Evidence of every frame, how long steps usually take, and weak expectations of
the usual course decide between them. Expectations cost a few nats; some seconds of clear evidence overrule them.

The state of a history is what it did, in what order as far as rules ask, and since when it does what it does now.
Histories that agree in this are one. The likeliest are kept, so nothing grows with time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from guide.label.history_model import Expectations, Flags, Floats, HistoryModel, Ints

__all__ = ["Expectations", "Histories", "HistoryModel"]

NOTHING = np.array([-1])  # the column before any
NO_TIME = np.inf  # a step that a history has not done yet
LEAST_PROBABILITY = 1e-4  # of a label: no single frame rules a history out
LONGEST_STEP = 3.0  # ticks that one frame may stand for, where frames were dropped
REMEMBERED = 64  # ticks whose labels each history keeps at hand: as many as a window has frames
MOST_HISTORY = 20_000  # ended stretches kept before the oldest are forgotten
LEAST_HISTORY = 1_000  # and before those of histories given up are; then as often as they are more than the others


class _Beam(NamedTuple):
    """Rival histories, one a row."""

    label: Ints  # (N,), column of what goes on now
    last: Ints  # (N,), column of the newest step, -1 before any
    start: Floats  # (N,), when what goes on now began
    lasted_s: Floats  # (N,), for how long it has been seen: gaps in the stream do not count
    first: Floats  # (N, C), when each step was begun first
    visits: Ints  # (N, C), how often each step was begun, or more often where that makes no difference
    mark: Ints  # (N,), the same where histories agree in what they did
    record: Ints  # (N,), newest of the stretches that ended, -1 before any
    recent: Ints  # (N, W), column of what went on in each of the last ticks, the newest last; -1 before the first
    score: Floats  # (N,), with the evidence so far, without the time of what goes on now

    def take(self, rows: Ints) -> _Beam:
        return _Beam._make(each[rows] for each in self)

    def joined(self, others: _Beam) -> _Beam:
        return _Beam._make(np.concatenate(both) for both in zip(self, others, strict=True))


class _Past:
    """Stretches that ended, each with the one before it: histories that parted share their beginning."""

    def __init__(self) -> None:
        self._before: list[int] = []
        self._column: list[int] = []
        self._start: list[float] = []
        self.room = min(LEAST_HISTORY, MOST_HISTORY)

    def __len__(self) -> int:
        return len(self._before)

    def add(self, before: Ints, columns: Ints, starts: Floats) -> Ints:
        """Their records (N,), later ones higher."""
        count = len(self)
        self._before += before.tolist()
        self._column += columns.tolist()
        self._start += starts.tolist()
        return np.arange(count, len(self))

    def stretches(self, record: int) -> Iterator[tuple[int, float]]:
        """Column and start of a stretch, of the one before it, and so on."""
        while record >= 0:
            yield self._column[record], self._start[record]
            record = self._before[record]

    def forget(self, living: Ints) -> Ints:
        """Drops what no living history remembers, and the oldest if that is not enough; the new records of `living`."""
        wanted: set[int] = set()
        for record in living.tolist():
            while record >= 0 and record not in wanted:
                wanted.add(record)
                record = self._before[record]
        kept = sorted(wanted)[-(MOST_HISTORY // 2) :]
        place = {record: number for number, record in enumerate(kept)}
        self._before = [place.get(self._before[record], -1) for record in kept]
        self._column = [self._column[record] for record in kept]
        self._start = [self._start[record] for record in kept]
        self.room = min(max(LEAST_HISTORY, 2 * len(kept)), MOST_HISTORY)
        return np.array([place.get(record, -1) for record in living.tolist()], np.int64)


class Histories:
    """Follows rival histories; `push` takes the costs of the labels, as the cut does.

    >>> from guide.label.visit_counts import VisitCounts
    >>> model = HistoryModel((1, 2, 0), np.array([4.0, 4.0, 2.0]), 0.4, np.zeros((3, 3), bool), np.ones(3, bool),
    ...                     VisitCounts.once(3), weight=2.0)
    >>> histories = Histories(model, tick_s=0.5)
    >>> first, second = np.array([0.0, 1.0, 1.0]), np.array([1.0, 0.0, 1.0])
    >>> all(histories.push(first if at < 8 else second, at / 2) for at in range(16))
    True
    >>> histories.likeliest(), histories.done().round(2).tolist()
    ([(1, 0.0, 4.0), (2, 4.0, 7.5)], [1.0, 1.0, 0.0])
    """

    def __init__(
        self, model: HistoryModel, tick_s: float, most: int = 400, spawning: int = 120, width: float = 18.0
    ) -> None:
        self.model, self._ticks = model, deque[float](maxlen=REMEMBERED)
        self._tick_s, self._most, self._spawning, self._width = tick_s, most, spawning, width
        self._is_step, self._turn = model.is_step, model.turns()
        count = len(model.steps)
        # Histories agree where the sums of the marks of all they did are the same; chance makes no two sums alike.
        size = count + 2 + model.visits.most, count + 1
        marks = np.random.default_rng(0).integers(-(2**62), 2**62, size, dtype=np.int64)
        self._label_mark, self._last_mark = marks[0, :-1], marks[1]
        self._early_mark = np.where(model.before, marks[2 : count + 2, :-1], 0)
        self._visit_mark = marks[count + 2 :, :-1]  # of being begun once, twice and so on
        self.reset()

    def reset(self) -> None:
        """Nothing has begun."""
        count = len(self.model.steps)
        ints, floats = np.zeros(0, np.int64), np.zeros(0)
        table, visits = np.zeros((0, count)), np.zeros((0, count), np.int64)
        recent = np.zeros((0, REMEMBERED), np.int64)
        self._beam = _Beam(ints, ints, floats, floats, table, visits, ints, ints, recent, floats)
        self._past = _Past()
        self._ticks.clear()
        self._logs = floats  # the scores with the time of what goes on now, the highest 0
        self._weights: dict[bool, Floats] = {}
        self._at: float | None = None
        self._held, self._effects, self._held_s = np.zeros(count), np.zeros(count), 0.0

    def push(self, costs: Floats, at: float, effects: Floats | None = None) -> bool:
        """Takes the costs (C,) of one frame's labels in [0, 1]; whether a tick was completed and histories changed.

        The `effects` (C,) say how much likelier the workplace looks so after each step than before it: they speak for
        histories that have done the step, and do not do it just now.
        """
        is_first = self._at is None
        since = self._tick_s if self._at is None else min(at - self._at, LONGEST_STEP * self._tick_s)
        self._at = at
        self._held += since * np.log(np.clip(1.0 - costs, LEAST_PROBABILITY, 1.0))
        if effects is not None:  # while nothing is done the workplace says nothing new, however long one looks at it
            self._effects += since * min(float((1.0 - costs) @ self._is_step), 1.0) * effects
        self._held_s += since
        if self._held_s < self._tick_s * 0.999:
            return False
        beam = self._begun(at) if is_first else self._continued(at)
        score = beam.score + self.model.weight * self._held[beam.label]
        if self._effects.any():
            score = score + self.model.effect_weight * (_was_done(beam) @ self._effects)
        self._held[:], self._effects[:], self._held_s = 0.0, 0.0, 0.0
        self._ticks.append(at)
        self._keep_likeliest(beam._replace(score=score))
        return True

    def end(self) -> None:
        """What goes on now ends with the last frame.

        A step that has only just begun has hardly come to its end: it does not make up for one that is lacking.
        """
        if self._at is None:
            return
        beam = self._beam
        self._logs = beam.score + self.model.ending(beam.label, beam.lasted_s + self._tick_s, self._tick_s)
        self._weights.clear()

    def weights(self, is_over: bool = False) -> Floats:
        """The probability (N,) of each history, none before the first frame.

        At the end, steps that are lacking speak against a history.
        """
        if is_over not in self._weights:
            logs = self._logs
            if is_over:
                logs = logs - self.model.lacking(self._beam.visits)
            weights = np.exp(logs - logs.max(initial=-np.inf))
            weights /= weights.sum()
            weights.setflags(write=False)  # given out, and asked for several times a tick
            self._weights[is_over] = weights
        return self._weights[is_over]

    def done(self, is_over: bool = False) -> Floats:
        """The probability (C,) that each step was done or is being done."""
        return np.asarray(self.weights(is_over) @ np.isfinite(self._beam.first))

    def lacking(self, is_over: bool = False) -> Floats:
        """The probability (C,) that each step was not done; exactly 0 where every history that is followed has it."""
        if self._at is None:
            return np.ones(len(self.model.steps))
        return np.asarray(self.weights(is_over) @ np.isinf(self._beam.first))

    def again(self, is_over: bool = False) -> Floats:
        """The probability (C,) that each step was done more often than it comes."""
        return np.asarray(self.weights(is_over) @ (self._beam.visits > self.model.visits.usual))

    def fewer(self, is_over: bool = False) -> Floats:
        """The probability (C,) that each step was done, but not as often as it comes."""
        visits = self._beam.visits
        return np.asarray(self.weights(is_over) @ ((visits > 0) & (visits < self.model.visits.usual)))

    def both(self, first: int, then: int, is_over: bool = False) -> float:
        """The probability that the column `then` was begun before `first`, and `first` after that.

        Histories tell this apart only for columns that the model wants in this order.
        """
        begun = self._beam.first
        is_so = (begun[:, then] < begun[:, first]) & np.isfinite(begun[:, first])
        return float(self.weights(is_over) @ is_so)

    @property
    def remembered_since(self) -> float:
        """The time before which it is not known any more what each history did."""
        return self._ticks[0] if len(self._ticks) == REMEMBERED else -np.inf

    def marginals(self, times: Sequence[float] | Floats) -> Floats:
        """The probability (T, C) of each column at recent times (T,), by all that was seen until now.

        Times before the last ticks that are remembered are taken as the oldest of these; rows are alike and sum to 1
        before anything was seen.
        """
        count = len(self.model.steps)
        if not self._ticks:
            return np.full((len(times), count), 1.0 / count)
        ticks = np.minimum(np.searchsorted(np.array(self._ticks), np.asarray(times) - 1e-9), len(self._ticks) - 1)
        places, weights = ticks + REMEMBERED - len(self._ticks), self.weights()
        found = {place: np.bincount(self._beam.recent[:, place], weights, count) for place in set(places.tolist())}
        return np.stack([found[place] for place in places.tolist()])

    def likeliest(self, is_over: bool = False) -> list[tuple[int, float, float]]:
        """The stretches (step, start, end) of the likeliest history, the last one still going on."""
        if self._at is None:
            return []
        best, end = int(self.weights(is_over).argmax()), self._at
        newest = int(self._beam.label[best]), float(self._beam.start[best])
        stretches = []
        for column, start in (newest, *self._past.stretches(int(self._beam.record[best]))):
            stretches.append((self.model.steps[column], start, end))
            end = start
        return stretches[::-1]

    def _begun(self, at: float) -> _Beam:
        """One history for each column, which begins with it."""
        columns = np.arange(len(self.model.steps))
        is_step = np.eye(len(columns), dtype=np.bool_) & self._is_step
        is_early = self.model.before.any(0) & self._is_step
        prices = self.model.prices(np.zeros(len(columns), np.int64), np.zeros_like(is_early), is_early)
        return _Beam(
            label=columns,
            last=np.where(self._is_step, columns, -1),
            start=np.full(len(columns), at),
            lasted_s=np.zeros(len(columns)),
            first=np.where(is_step, at, NO_TIME),
            visits=is_step.astype(np.int64),
            mark=np.where(self._is_step, self._visit_mark[0] + self._early_mark.sum(0), 0),
            record=np.full(len(columns), -1),
            recent=np.full((len(columns), REMEMBERED), -1),
            score=self._turn[-1] + self.model.choices(NOTHING, prices)[0],
        )

    def _continued(self, at: float) -> _Beam:
        """The histories that go on as they do, and those that end it and go on with anything else."""
        beam = self._beam._replace(lasted_s=self._beam.lasted_s + self._held_s)
        ended = beam.score + self.model.ending(beam.label, beam.lasted_s, self._tick_s)
        rows = np.argsort(-ended, kind="stable")[: self._spawning]
        rows = rows[ended[rows] > -self._width]  # the likeliest history has 0
        if not len(rows):
            return beam
        branches = self._branched(beam.take(rows)._replace(score=ended[rows]), at)
        return beam.joined(branches)

    def _branched(self, ended: _Beam, at: float) -> _Beam:
        """What may follow on histories that ended what they did; those that then agree become one."""
        columns = np.arange(len(self._is_step))
        is_done = np.isfinite(ended.first)  # (M, C)
        is_new, is_back = ~is_done & self._is_step, is_done & (columns != ended.last[:, None])
        early = (~is_done).astype(np.int64) @ self._early_mark  # 0 where nothing should have come first
        prices = self.model.prices(ended.visits, is_back, is_new & (early != 0))
        scores = ended.score[:, None] + self._turn[ended.label] + self.model.choices(ended.label, prices)
        visits = np.minimum(ended.visits + (is_new | is_back), self.model.visits.most)
        counted = np.take_along_axis(self._visit_mark, np.maximum(visits - 1, 0), 0)  # (M, C)
        marks = ended.mark[:, None] + is_new * early + (visits > ended.visits) * counted
        newest = np.where(self._is_step, columns, ended.last[:, None])
        keys = marks + self._label_mark + self._last_mark[newest + 1]
        is_likely = scores > -self._width
        best, totals = _merged(keys[is_likely], scores[is_likely])
        rows, columns = (each[best] for each in np.nonzero(is_likely))
        parents, places = ended.take(rows), (np.arange(len(rows)), columns)
        parents.first[places] = np.where(is_new[rows, columns], at, parents.first[places])
        parents.visits[places] = visits[rows, columns]
        return parents._replace(
            label=columns,
            last=newest[rows, columns],
            start=np.full(len(rows), at),
            lasted_s=np.zeros(len(rows)),
            mark=marks[rows, columns],
            record=self._past.add(parents.record, parents.label, parents.start),
            score=totals,
        )

    def _keep_likeliest(self, beam: _Beam) -> None:
        # What goes on now lasts at least until the next tick.
        logs = beam.score + self.model.lasting(beam.label, beam.lasted_s + self._tick_s)
        kept = np.argsort(-logs, kind="stable")[: self._most]
        kept = kept[logs[kept] > logs[kept[0]] - self._width]
        beam, best = beam.take(kept), logs[kept[0]]
        if len(self._past) > self._past.room:
            beam = beam._replace(record=self._past.forget(beam.record))
        recent = np.concatenate([beam.recent[:, 1:], beam.label[:, None]], axis=1)
        self._beam = beam._replace(recent=recent, score=beam.score - best)
        self._logs = logs[kept] - best
        self._weights.clear()


def _was_done(beam: _Beam) -> Flags:
    """Whether each history has done each step (N, C), and does not do it now."""
    is_done = np.isfinite(beam.first)
    is_done[np.arange(len(is_done)), beam.label] = False
    return is_done


def _merged(keys: Ints, scores: Floats) -> tuple[Ints, Floats]:
    """The likeliest (M,) of those with the same key, and the logarithm of their sum."""
    order = np.lexsort((-scores, keys))
    keys, scores = keys[order], scores[order]
    begins = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
    return order[begins], np.logaddexp.reduceat(scores, begins) if len(begins) else scores

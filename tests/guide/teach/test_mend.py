"""Visits that labels lack."""

from __future__ import annotations

import pytest

from guide.domain import Segment
from guide.procedure.rule_selection import Seen
from guide.teach.mend import mended


def recording(*steps: int) -> tuple[Segment, ...]:
    return tuple(Segment(step, 10.0 * place, 10.0 * place + 8) for place, step in enumerate(steps))


def slips(*steps: int, at: float = 9.0) -> Seen:
    """Somebody without rules surely saw these steps, which labels lack."""
    return Seen(frozenset(steps), frozenset(), unlabelled=tuple(Segment(step, at, at + 2) for step in steps))


def orders(sequences: list[tuple[Segment, ...]]) -> list[tuple[int, ...]]:
    return [tuple(one.step for one in each) for each in sequences]


def test_a_step_that_labels_lack_is_put_where_it_was_seen() -> None:
    found = mended([recording(1, 2, 3)] * 4 + [recording(1, 3), recording(3, 1)], {4: slips(2), 5: slips(2, at=30.0)})
    assert orders(found) == [(1, 2, 3)] * 5 + [(3, 1, 2)]
    assert found[4][1] == Segment(2, 9.0, 11.0)


@pytest.mark.parametrize(
    ("lacking", "held", "is_mended"), [(2, 3, True), (3, 4, True), (2, 2, False), (3, 2, False), (1, 0, False)]
)
def test_most_labels_must_hold_a_step(lacking: int, held: int, is_mended: bool) -> None:
    sequences = [recording(1, 3)] * lacking + [recording(1, 2, 3)] * held
    found = mended(sequences, {place: slips(2) for place in range(lacking)})
    assert orders(found[:lacking]) == [(1, 2, 3) if is_mended else (1, 3)] * lacking
    assert found[lacking:] == sequences[lacking:]


def test_a_step_that_somebody_may_leave_out_stays_as_it_is() -> None:
    sequences = [recording(1, 2, 3)] * 4 + [recording(1, 3)] * 2
    assert mended(sequences, {4: slips(2)}) == sequences
    assert mended(sequences, {4: slips(2), 5: slips()}) == sequences
    assert mended(sequences, {}) == sequences


def test_each_step_is_looked_at_by_itself() -> None:
    sequences = [recording(1, 2, 3)] * 3 + [recording(1), recording(1, 3)]
    found = mended(sequences, {3: slips(2, 3), 4: slips()})
    assert orders(found) == [(1, 2, 3)] * 3 + [(1, 3), (1, 3)]


def test_what_was_seen_twice_is_put_in_twice() -> None:
    twice = Seen(frozenset({2}), frozenset({2}), unlabelled=(Segment(2, 9.0, 9.5), Segment(2, 20.0, 22.0)))
    assert orders(mended([recording(1, 2, 3)] * 2 + [recording(1, 3)], {2: twice}))[2] == (1, 2, 3, 2)


def test_whoever_does_a_step_twice_counts_once() -> None:
    sequences = [recording(1, 2, 3, 2), recording(1, 3), recording(1, 3)]
    assert mended(sequences, {2: slips(2)}) == sequences

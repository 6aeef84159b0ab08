"""What a procedure leads one to expect: steps, times and orders find their columns, and each prior can be left out."""

from __future__ import annotations

import numpy as np
import pytest

from guide.domain import KeyStep
from guide.label.histories import Histories
from guide.procedure.model import Procedure, Rules, StepStatistics
from guide.task_model import PRIORS, Prior, expectations, histories_of

STEPS = tuple(KeyStep(number, str(number)) for number in (1, 2, 3))
TIMES = {1: (2.0, 3.0, 4.0, 5.0, 6.0), 2: (7.0, 7.5, 8.0, 8.5, 9.0)}
TASK = Procedure(
    STEPS,
    6,
    statistics=tuple(StepStatistics(step, 6, 0, 1, times) for step, times in TIMES.items()),
    rules=Rules(edges=((1, 2),), asked_edges=((2, 3),), required=(1, 2), single=(1,)),
)
COLUMNS = (0, 3, 1, 2, -1)  # any order of columns


def test_times_and_rules_stand_in_the_column_of_their_step() -> None:
    model = histories_of(TASK, COLUMNS, smoothing_s=0.5, rate=5.0).model
    assert model.usual_s.tolist() == [3.0, 6.0, 4.0, 8.0, 3.0]  # half an average step for what is none
    assert {(COLUMNS[first], COLUMNS[then]) for first, then in np.argwhere(model.before)} == {(1, 2), (2, 3)}
    assert [COLUMNS[column] for column in np.flatnonzero(model.needed)] == [1, 2]
    assert [COLUMNS[column] for column in np.flatnonzero(model.visits.more[:, 0] < 0.1)] == [1]


def test_slow_features_witness_less_often() -> None:
    quick, slow = (histories_of(TASK, COLUMNS, smoothing_s, 5.0).model.weight for smoothing_s in (0.5, 5.0))
    assert quick == pytest.approx(10 * slow)


@pytest.mark.parametrize(
    ("prior", "off"),
    [("order", {"order"}), ("done", {"repeat", "lacking"}), ("duration", {"is_timed"})],
)
def test_each_prior_can_be_switched_off(prior: Prior, off: set[str]) -> None:
    full = expectations(PRIORS)
    less = expectations(tuple(other for other in PRIORS if other != prior))
    names = ("order", "repeat", "lacking", "is_timed")
    changed = {name for name in names if getattr(full, name) != getattr(less, name)}
    assert changed == off
    assert not any(getattr(less, name) for name in off)


def test_an_exchange_is_believed_when_it_is_clearly_seen() -> None:
    histories = histories_of(TASK, COLUMNS, smoothing_s=0.5, rate=5.0)
    show(histories, [2, 1])
    assert [step for step, _, _ in histories.likeliest() if step > 0] == [2, 1]
    assert histories.both(COLUMNS.index(1), COLUMNS.index(2)) > 0.9


def test_what_is_hardly_seen_is_taken_for_the_usual_order() -> None:
    chances = [histories_of(TASK, COLUMNS, 0.5, 5.0, priors) for priors in (PRIORS, ())]
    for histories in chances:
        show(histories, [2, 1], clarity=0.12)
    expected, plain = (histories.both(COLUMNS.index(1), COLUMNS.index(2)) for histories in chances)
    assert expected < plain


def test_a_procedure_without_statistics_still_gives_a_course() -> None:
    histories = histories_of(Procedure(STEPS, 1), COLUMNS, smoothing_s=0.5, rate=5.0)
    show(histories, [3])
    assert histories.done()[COLUMNS.index(3)] > 0.9


def show(histories: Histories, steps: list[int], clarity: float = 0.9) -> None:
    """Five seconds of each step, its probability above the others by `clarity`."""
    for number, step in enumerate(np.repeat(steps, 25)):
        chances = np.full(len(COLUMNS), (1 - clarity) / len(COLUMNS))
        chances[COLUMNS.index(int(step))] += clarity
        histories.push(1 - chances, number / 5.0)

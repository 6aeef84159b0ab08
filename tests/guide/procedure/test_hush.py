"""Rules that cry wolf in rehearsal fall silent; the others stay."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from guide.domain import KeyStep
from guide.procedure.events import Confirmed, Event, Finished
from guide.procedure.hush import _alarms, hush
from guide.procedure.model import Procedure, Rules
from guide.procedure.thresholds import expected

STEPS = tuple(KeyStep(number, f"step {number}") for number in (1, 2, 3))
RULES = Rules(edges=((1, 2), (2, 3), (1, 3)), required=(1, 2, 3), single=(1, 2, 3))
TASK = Procedure(STEPS, 4, rules=RULES)


def rehearsal(steps: Sequence[int]) -> list[Event]:
    return [*(Confirmed(step, float(at)) for at, step in enumerate(steps, start=1)), Finished(float(len(steps) + 1))]


def test_quiet_rehearsals_change_nothing() -> None:
    assert hush(TASK, [rehearsal([1, 2, 3])] * 4, 0.2) is TASK


def test_a_step_that_is_never_made_out_is_asked_about_from_then_on() -> None:
    hushed = hush(TASK, [rehearsal([1, 3])] * 4, 0.2).rules
    assert hushed.required == (1, 3)
    assert hushed.asked_steps == (2,)
    assert hushed.edges == RULES.edges


def test_a_step_seen_twice_may_be_done_twice() -> None:
    assert hush(TASK, [rehearsal([1, 2, 1, 3])] * 4, 0.2).rules.single == (2, 3)


def test_one_slip_among_many_is_within_the_rate() -> None:
    assert hush(TASK, [*[rehearsal([1, 2, 3])] * 19, rehearsal([1, 3])], 0.2) is TASK


def test_a_rule_that_slips_in_one_of_ten_is_silenced_though_the_rate_is_kept() -> None:
    rehearsals = [*[rehearsal([1, 2, 3])] * 9, rehearsal([1, 3])]
    assert expected(1, 10) <= 0.2
    assert hush(TASK, rehearsals, 0.2).rules.required == (1, 3)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.lists(st.lists(st.integers(1, 3), max_size=6), min_size=1, max_size=5))
def test_afterwards_the_rate_is_kept_or_nothing_is_left_to_silence(orders: list[list[int]]) -> None:
    rehearsals = [rehearsal(order) for order in orders]
    hushed = hush(TASK, rehearsals, 0.2)
    alarms = [alert for events in rehearsals for alert in _alarms(hushed, events)]
    assert not alarms or expected(len(alarms), len(rehearsals)) <= 0.2
    assert set(hushed.rules.required) <= set(RULES.required)
    assert set(hushed.rules.edges) <= set(RULES.edges)

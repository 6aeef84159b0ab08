"""The task itself."""

from __future__ import annotations

from offline.demo.task import TASK


def test_task_has_enough_steps_and_freedom() -> None:
    pairs = {(a.number, b.number) for a in TASK.steps for b in TASK.steps if a.number != b.number}
    free = {(a, b) for a, b in pairs if (a, b) not in TASK.closure and (b, a) not in TASK.closure}
    assert [step.number for step in TASK.steps] == list(range(1, 10))
    assert any(step.is_optional for step in TASK.steps)
    assert any(step.is_repeatable for step in TASK.steps)
    assert len(TASK.closure) >= 5
    assert len(free) >= 5


def test_closure_is_a_strict_partial_order() -> None:
    assert all(first != then and (then, first) not in TASK.closure for first, then in TASK.closure)

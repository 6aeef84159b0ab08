import pytest

from guide.domain import KeyStep, Ordering, Precedence, Segment
from guide.errors import InputError
from guide.procedure.learn import learn_procedure
from guide.procedure.model import Transition


def recording(*steps: int) -> list[Segment]:
    return [Segment(step, 10.0 * place, 10.0 * place + 8) for place, step in enumerate(steps)]


def test_what_is_learnt_from_three_demonstrations() -> None:
    task = learn_procedure([recording(1, 2, 3), recording(1, 3, 2), recording(1, 2, 3)])
    assert task.orderings == (Ordering((1, 2, 3), 2), Ordering((1, 3, 2), 1))
    assert task.precedence(1, 2) == Precedence(1, 2, 3, 3)
    assert task.precedence(3, 2) == Precedence(3, 2, 1, 3)
    assert Transition(0, 1, 3) in task.transitions
    assert Transition(1, 2, 2) in task.transitions
    assert task.longest_pause_s == 2.0
    assert [(edge.first, edge.then) for edge in task.graph] == [(1, 2), (1, 3)]
    assert task.steps[0].name == "step 1"


def test_left_out_and_repeated_steps_become_optional_and_repeatable_with_a_reason() -> None:
    demonstrations = [recording(1, 2, 3), recording(1, 3), recording(1, 2, 3, 2), recording(1, 3), recording(1, 2, 3)]
    task = learn_procedure(demonstrations, [KeyStep(1, "cut"), KeyStep(2, "taste"), KeyStep(3, "serve")])
    taste = task.steps[1]
    assert taste.is_optional
    assert taste.is_repeatable
    reason = "optional: in 3 of 5 demonstrations; repeatable: more than once in 1 of 5 demonstrations"
    assert dict(task.reasons) == {2: reason}
    assert not task.steps[0].is_optional


def test_no_demonstrations_give_a_procedure_that_says_nothing() -> None:
    task = learn_procedure([], [KeyStep(1, "cut")])
    assert task.demonstrations == 0
    assert task.rules.edges == ()
    assert task.rules.required == ()


def test_strange_and_double_steps_are_refused() -> None:
    with pytest.raises(InputError, match=r"hold steps \[2\]"):
        learn_procedure([recording(1, 2)], [KeyStep(1, "cut")])
    with pytest.raises(InputError, match="distinct numbers"):
        learn_procedure([], [KeyStep(1, "cut"), KeyStep(1, "fold")])

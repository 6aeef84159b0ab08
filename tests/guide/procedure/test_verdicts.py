from dataclasses import replace

import pytest

from guide.domain import KeyStep
from guide.procedure.model import Procedure, Rules, Transition
from guide.procedure.orders import Orders
from guide.procedure.verdicts import judge

TASK = Procedure(
    tuple(KeyStep(number, f"s{number}") for number in range(1, 5)),
    demonstrations=5,
    rules=Rules(edges=((1, 2), (2, 3)), required=(1, 2, 3), single=(1, 2, 3)),
)


@pytest.mark.parametrize(
    ("steps", "both", "early"),
    [
        pytest.param([1, 2, 3, 4], "....", "....", id="clean"),
        pytest.param([4, 1, 2, 3], "....", "....", id="a free step anywhere"),
        pytest.param([2, 1, 3], "xx.", "x..", id="neighbours"),
        pytest.param([2, 1], "xx", "x.", id="a needed one comes last"),
        pytest.param([3, 1, 4], "...", "...", id="nothing follows from orders with a step that was left out"),
        pytest.param([2, 3], "..", "..", id="what was never done is not out of order"),
        pytest.param([1, 2, 1, 3], "..x.", "..x.", id="repeated"),
        pytest.param([1, 1, 2], "...", "...", id="going on"),
        pytest.param([2, 1, 2, 3], "xx..", "x...", id="redone after an early start"),
        pytest.param([1, 9, 2, 9], ".x.x", ".x.x", id="unknown"),
    ],
)
def test_each_step_is_judged(steps: list[int], both: str, early: str) -> None:
    assert "".join("x" if flag else "." for flag in judge(TASK, steps)) == both
    assert "".join("x" if flag else "." for flag in judge(TASK, steps, blame="early")) == early


VARIANTS = Procedure(
    TASK.steps,
    demonstrations=8,
    orders=Orders(((1, 2, 4), (3, 4)) * 4),
    transitions=(Transition(4, 0, 8),),
    rules=Rules(edges=((1, 2),), needs=((1, 2),), variant_risk=0.05),
)


@pytest.mark.parametrize(
    ("steps", "verdict"),
    [
        pytest.param([1, 2, 4], "...", id="clean"),
        pytest.param([2, 4], "xx", id="lacks what it needs"),
        pytest.param([2, 1], "xx", id="what is needed comes late"),
        pytest.param([4], "x", id="lacks either of two"),
        pytest.param([1, 4], ".x", id="lacks what it needs in this variant"),
        pytest.param([3, 1], ".x", id="of another variant"),
    ],
)
def test_what_a_variant_needs_is_judged(steps: list[int], verdict: str) -> None:
    assert "".join("x" if flag else "." for flag in judge(VARIANTS, steps)) == verdict


@pytest.mark.parametrize(
    ("steps", "verdict"),
    [
        pytest.param([1, 3], ".x", id="stopped: 4 lacks too, which nothing needs yet"),
        pytest.param([1, 3, 4], "...", id="carried on: 2 was left out"),
        pytest.param([2, 3], "..", id="the work had gone on without 1 before it stopped"),
    ],
)
def test_where_a_sequence_stops_short_its_last_step_is_to_blame(steps: list[int], verdict: str) -> None:
    task = replace(TASK, rules=replace(TASK.rules, required=(1, 2, 3, 4)))
    assert "".join("x" if flag else "." for flag in judge(task, steps)) == verdict

import pytest

from guide.domain import KeyStep
from guide.procedure.model import Procedure, Rules
from guide.procedure.verdicts import judge, missing

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
        pytest.param([3, 1], "xx", "x.", id="order that follows through a step left out"),
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


def test_missing_steps_are_the_required_ones() -> None:
    assert missing(TASK, [1, 3]) == (2,)

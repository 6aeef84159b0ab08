import pytest

from guide.errors import InputError
from guide.procedure.sequences import parse_sequences


def test_steps_come_by_start_and_those_below_zero_were_left_out() -> None:
    line = (
        '{"id": "a", "steps": [{"name": "glue", "start": 5, "end": 6, "mistake": true},'
        ' {"name": "cut", "start": 0.5, "end": 2}, {"name": "fold", "start": -1, "end": -1}]}'
    )
    (found,) = parse_sequences(["", line, "  "], "f")
    assert [step.name for step in found.done] == ["cut", "glue"]
    assert found.done[1].is_mistake
    assert found.left_out == ("fold",)


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        "[" * 100_000,
        '{"id": 3, "steps": []}',
        '{"id": "a", "steps": 5}',
        '{"id": "a", "steps": [4]}',
        '{"id": "a", "steps": [{"name": " ", "start": 0, "end": 1}]}',
        '{"id": "a", "steps": [{"name": "x", "start": 2, "end": 1}]}',
        '{"id": "a", "steps": [{"name": "x", "start": NaN, "end": 1}]}',
        '{"id": "a", "steps": [{"name": "x", "start": 1e999, "end": 1e999}]}',
        '{"id": "a", "steps": [{"name": "x", "start": true, "end": 1}]}',
        '{"id": "a", "steps": [{"name": "x", "end": 1}]}',
        '{"id": "a", "steps": [{"name": "x", "start": 0, "end": 1, "mistake": 1}]}',
    ],
)
def test_what_is_no_sequence_is_named_by_line(line: str) -> None:
    with pytest.raises(InputError, match="f, line 2") as caught:
        parse_sequences(['{"id": "a", "steps": []}', line], "f")
    assert "\n" not in str(caught.value)

"""A written list of steps as a procedure: what it asks for, and one sentence for what it cannot mean."""

from __future__ import annotations

from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.domain import Alert
from guide.errors import InputError
from guide.procedure.actions import Action
from guide.procedure.attended import AttendedTracker
from guide.procedure.export import to_plain
from guide.procedure.model import Procedure
from guide.procedure.reading import from_plain
from guide.procedure.replay import standing_alerts
from guide.procedure.settings import TrackerSettings
from guide.procedure.written_list import read_list

TEXT = """\ufeff# Pump, revision 3
1. Fit gasket

2. Any order:
   - attach hose
   - attach cable
One of:
- M4 screw
- M5 screw
3) wipe (optional)
4. close cover
"""
CSV = """step;group;instead;optional
Fit gasket;;;
attach hose;wires;;
attach cable;wires;;no
M4 screw;;screw;
M5 screw;;screw;
wipe;;;yes
close cover;;;
"""


def by_hand(task: Procedure, *steps: int) -> tuple[AttendedTracker, list[tuple[str, int, int | None]]]:
    """A session in which the steps are marked as done, and what stands at its end."""
    tracker = AttendedTracker(task, TrackerSettings(is_by_hand=True))
    said = [one for at, step in enumerate(steps, 1) for one in tracker.act(Action("mark_done", 10.0 * at, step=step))]
    said += tracker.finish(10.0 * len(steps) + 5)
    return tracker, [(one.kind, one.step, one.before) for one in standing_alerts(said)]


def test_text_and_csv_say_the_same() -> None:
    task = read_list(TEXT.removeprefix("\ufeff"), "a file")
    assert task == read_list(CSV, "a file", is_csv=True)
    assert from_plain(to_plain(task)) == task
    assert [step.name for step in task.steps] == [
        "Fit gasket", "attach hose", "attach cable", "M4 screw", "M5 screw", "wipe", "close cover",
    ]  # fmt: skip
    assert [step.number for step in task.steps if step.is_optional] == [6]
    assert task.rules.required == (1, 2, 3, 4, 7)
    assert {(2, 3), (3, 2), (4, 5), (5, 4)}.isdisjoint(task.rules.edges)
    assert {(1, 2), (3, 5), (2, 7), (6, 7)} <= {*task.rules.edges}


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        ((1, 2, 3, 4, 6, 7), []),
        ((1, 3, 2, 5, 7), []),
        ((1, 2, 3, 4, 7, 6), [("out_of_order", 7, 6)]),
        ((1, 2, 4, 3, 7), [("out_of_order", 4, 3)]),
        ((1, 2, 3, 7), [("missed", 4, None)]),
        ((1, 2, 3, 4, 5, 7), [("out_of_order", 5, None)]),
        ((1, 2, 4, 7), [("missed", 3, None)]),
        ((1, 1, 2, 3, 4, 7), []),
    ],
)
def test_it_guides_by_what_is_marked_as_done(steps: tuple[int, ...], told: list[tuple[str, int, int | None]]) -> None:
    assert by_hand(read_list(CSV, "a file", is_csv=True), *steps)[1] == told


def test_what_comes_next_and_how_it_is_told() -> None:
    task = read_list(CSV, "a file", is_csv=True)
    tracker = AttendedTracker(task, TrackerSettings(is_by_hand=True))

    def following() -> list[int]:
        return [one.step for one in tracker.progress.next_steps if one.is_ready]

    assert following() == [1]
    tracker.act(Action("mark_done", 4.0, step=1))
    assert following() == [2, 3]
    (alert,) = tracker.act(Action("mark_done", 9.0, step=4))
    assert isinstance(alert, Alert)
    assert alert.evidence == (
        '"attach hose" has not been seen, though "M4 screw" is being done: it comes first by a rule that was given'
    )
    assert following() == [2, 3]
    tracker.act(Action("undo", 12.0, target=2))
    assert tracker.standing == ()
    for step in (3, 2, 5):
        tracker.act(Action("mark_done", 15.0, step=step))
    assert following() == [6, 7]
    assert tracker.progress.lacking == (7,)
    tracker.act(Action("mark_done", 20.0, step=7))
    assert following() == [], "to wipe need not be done, and comes too late"


@pytest.mark.parametrize(
    ("text", "is_csv", "words"),
    [
        ("", False, "should hold a list of steps, one a line, got none"),
        ("# only a title\n\n", False, "got none"),
        ("", True, "got none"),
        ("step,group\n", True, "got none"),
        ("cut\nfold\ncut", False, "line 3: 'cut' stands in line 1 already"),
        ("name\ncut", True, "columns"),
        ("step,optional\ncut,perhaps", True, "line 2: optional should be yes or no"),
        ("step,group\na,x\nb,\nc,x", True, "group 'x' should stand together"),
        ("any order:\nfold", False, "line 1: steps of this group should follow"),
        ("any order:", False, "line 1: steps of this group should follow"),
        ("first part:\n  fold", False, 'line 1: "any order:" or "one of:" was expected'),
        ("x" * 81, False, "1 to 80 letters"),
        ("\n".join(f"step {n}" for n in range(201)), False, "up to 200 steps, got 201"),
        ("step\n\x00", True, "a name"),
    ],
)
def test_what_cannot_be_meant_is_one_sentence(text: str, is_csv: bool, words: str) -> None:
    with pytest.raises(InputError, match=words) as told:
        read_list(text, "a file", is_csv)
    assert "\n" not in str(told.value)


groups = st.lists(st.integers(1, 3), min_size=1, max_size=5)


@settings(deadline=None)
@given(groups, st.randoms(use_true_random=False))
def test_any_order_within_groups_is_right_and_none_across(sizes: list[int], random: object) -> None:
    text = "".join("any order:\n" + "".join(f"  {n}.{m}\n" for m in range(size)) for n, size in enumerate(sizes))
    task = read_list(text, "a file")
    numbers = iter(range(1, sum(sizes) + 1))
    places = [[next(numbers) for _ in range(size)] for size in sizes]
    for place in places:
        random.shuffle(place)  # type: ignore[attr-defined]
    assert by_hand(task, *chain(*places))[1] == []
    if len(sizes) > 1:
        assert by_hand(task, *chain(*places[::-1]))[1] != []

from dataclasses import replace

from guide.domain import Alert, Ordering
from guide.procedure.model import Procedure, Rules
from guide.procedure.progress import progress_of
from guide.procedure.state import State, Voice

TASK = Procedure(
    (),
    demonstrations=6,
    orderings=(Ordering((1, 2, 3, 4), 3), Ordering((1, 3, 2, 4), 2), Ordering((3, 4), 1)),
    rules=Rules(edges=((1, 2), (1, 3), (2, 4)), required=(1, 2, 4)),
)


def state_after(*steps: int) -> State:
    state = State()
    for at, step in enumerate(steps):
        state = state.begin(step, float(at))
    return state


def test_before_the_first_step() -> None:
    progress = progress_of(TASK, State())
    assert progress.current is None
    assert [(one.step, one.count, one.total, one.is_ready) for one in progress.next_steps] == [
        (1, 5, 6, True),
        (3, 1, 6, False),
    ]
    assert progress.lacking == (1, 2, 4)


def test_orders_vote_for_what_followed_and_ready_steps_go_first() -> None:
    progress = progress_of(TASK, state_after(1, 3))
    # (1,2,3,4) goes on with 4 after 3, (1,3,2,4) with 2, (3,4) with 4: 4 has more votes but still waits for 2
    assert [(one.step, one.count, one.is_ready) for one in progress.next_steps] == [(2, 2, True), (4, 4, False)]
    assert progress.done == (1, 3)
    assert progress.current == 3


def test_nothing_comes_after_everything() -> None:
    assert progress_of(TASK, state_after(1, 2, 3, 4)).next_steps == ()


def missing(state: State, *steps: int) -> State:
    """The state after it was said that these steps were missed."""
    alerts = (Alert(number, 1.0, "missed", step, None, "warning", "") for number, step in enumerate(steps, 1))
    return replace(state, voice=Voice(standing=tuple((("missed", alert.step), alert) for alert in alerts)))


def test_what_was_missed_and_can_be_done_comes_first() -> None:
    progress = progress_of(TASK, missing(state_after(3), 1, 2))
    # (1,2,3,4) goes on with 4 after 3, (1,3,2,4) with 2, (3,4) with 4; nobody with 1
    assert [(one.step, one.count, one.is_ready, one.is_missed, one.after) for one in progress.next_steps] == [
        (1, 0, True, True, ()), (4, 4, False, False, (2,)), (2, 2, False, True, (1,)),
    ]  # fmt: skip


def test_what_was_missed_and_is_done_by_now_is_advised_no_more() -> None:
    assert [one.step for one in progress_of(TASK, missing(state_after(3, 1), 1)).next_steps] == [2, 4]


def test_what_is_lacking_stands_in_the_usual_order() -> None:
    task = Procedure((), 1, orderings=(Ordering((4, 2, 1), 1),), rules=Rules(required=(1, 2, 4)))
    assert progress_of(task, State()).lacking == (4, 2, 1)

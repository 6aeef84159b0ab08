from guide.domain import Ordering
from guide.procedure.model import Procedure, Rules
from guide.procedure.progress import progress_of
from guide.procedure.state import State

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

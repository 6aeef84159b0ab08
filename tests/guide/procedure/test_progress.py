from dataclasses import replace

from guide.domain import Alert, KeyStep, Ordering
from guide.procedure.model import Procedure, Rules
from guide.procedure.orders import Orders
from guide.procedure.progress import progress_of
from guide.procedure.state import State, Voice

TASK = Procedure(
    (),
    demonstrations=6,
    orderings=(Ordering((1, 2, 3, 4), 3), Ordering((1, 3, 2, 4), 2), Ordering((3, 4), 1)),
    orders=Orders((*[(1, 2, 3, 4)] * 3, *[(1, 3, 2, 4)] * 2, (3, 4))),
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
    # Of the five that did both, (1,2,3,4) goes on with 4 after 3, (1,3,2,4) with 2: 4 has more votes, but waits for 2
    assert [(one.step, one.count, one.total, one.is_ready) for one in progress.next_steps] == [
        (2, 2, 5, True),
        (4, 3, 5, False),
    ]
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


PRODUCTS = Procedure(
    tuple(KeyStep(number, f"step {number}") for number in range(1, 7)),
    demonstrations=7,
    orders=Orders((*[(1, 2, 5)] * 3, (1, 5, 2), *[(3, 4, 5, 6)] * 3)),
    rules=Rules(edges=((1, 2), (3, 4), (4, 5), (2, 5))),
)


def test_those_that_did_the_same_say_what_comes_next() -> None:
    first, second, third = progress_of(PRODUCTS, state_after(1)).next_steps
    assert (first.step, first.count, first.total) == (2, 3, 4), "3 of 4 that did step 1 went on with step 2"
    assert (second.step, second.count, second.total, second.is_strange) == (3, 0, 4, True)
    assert (third.step, third.count, third.after) == (5, 1, (2,)), "4 is of another variant, nobody waits for it"


def test_a_step_of_another_variant_is_told_as_such_and_the_way_goes_on() -> None:
    progress = progress_of(PRODUCTS, state_after(1, 3))
    assert progress.strange == (3,)
    assert (progress.next_steps[0].step, progress.next_steps[0].total) == (2, 4)


def test_a_product_is_finished_when_those_who_made_it_were() -> None:
    assert progress_of(PRODUCTS, state_after(1, 2, 5)).next_steps == ()
    assert [one.step for one in progress_of(PRODUCTS, state_after(3, 4, 5)).next_steps if one.count] == [6]


def test_two_demonstrations_are_too_few_to_speak_of_variants() -> None:
    two = replace(PRODUCTS, orders=Orders(((1, 2), (3, 4))))
    assert progress_of(two, state_after(1, 3)).strange == ()

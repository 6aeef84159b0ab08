from guide.domain import Segment
from guide.procedure.visits import Visit, first_order, visits_of


def test_background_and_unknown_do_not_end_a_visit() -> None:
    segments = [Segment(1, 0, 2), Segment(0, 2, 3), Segment(-1, 3, 4), Segment(1, 4, 5), Segment(2, 5, 6)]
    assert visits_of(segments) == (Visit(1, 0, 5, 3), Visit(2, 5, 6, 1))


def test_another_step_in_between_makes_a_second_visit() -> None:
    visits = visits_of([Segment(1, 0, 2), Segment(2, 2, 3), Segment(1, 3, 5)])
    assert [visit.step for visit in visits] == [1, 2, 1]
    assert first_order(visits) == (1, 2)


def test_overlaps_are_cut_where_the_next_step_starts_whatever_the_order_given() -> None:
    assert visits_of([Segment(2, 3, 9), Segment(1, 0, 5)]) == (Visit(1, 0, 3, 3), Visit(2, 3, 9, 6))


def test_nothing_gives_no_visits() -> None:
    assert visits_of([]) == ()
    assert visits_of([Segment(0, 0, 9)]) == ()

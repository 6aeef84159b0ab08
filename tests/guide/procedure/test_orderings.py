import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.domain import BACKGROUND, Labels, Ordering, Segment
from guide.procedure.orderings import ordering_of_segments, rank_orderings


def ordering_of_labels(labels: Labels) -> tuple[int, ...]:
    """By the book: key-steps by the mean of n / p over their frames. That of n orders alike and keeps ties exact."""
    frames = np.arange(1, len(labels) + 1)
    found = [int(step) for step in np.unique(labels) if step > BACKGROUND]
    means = {step: int(frames[labels == step].sum()) / int((labels == step).sum()) for step in found}
    return tuple(sorted(found, key=lambda step: (means[step], step)))


def segments_of(labels: list[int]) -> list[Segment]:
    return [Segment(step, float(place), place + 1.0) for place, step in enumerate(labels)]


def test_mean_normalised_time_by_hand() -> None:
    # p = 8; T of 3: (1 + 8) / 16 = .5625, of 1: (2 + 3) / 16 = .3125, of 2: (5 + 6) / 16 = .6875
    assert ordering_of_segments(segments_of([3, 1, 1, 0, 2, 2, -1, 3])) == (1, 3, 2)


def test_an_empty_recording_has_an_empty_order() -> None:
    assert ordering_of_segments([]) == ()


@settings(derandomize=True, deadline=None)
@given(st.lists(st.integers(-1, 4), min_size=1, max_size=40))
def test_segments_give_the_order_of_their_labels(labels: list[int]) -> None:
    assert ordering_of_segments(segments_of(labels)) == ordering_of_labels(np.array(labels, dtype=np.int64))


def test_the_order_followed_most_stands_on_top() -> None:
    ranked = rank_orderings([(1, 2), (2, 1), (1, 2), (1,)])
    assert ranked == (Ordering((1, 2), 2), Ordering((2, 1), 1), Ordering((1,), 1))

"""What another labelled recording would gain, by leaving out those there are."""

from __future__ import annotations

import numpy as np
import pytest

from guide.teach.collection import Collection
from guide.teach.gain import MOST_CHOICES, Gain, _choices, leave_one_out
from tests.small_task import make_demonstrations, make_labels


def test_labels_that_look_alike_are_carried_well() -> None:
    gain = leave_one_out(make_demonstrations().collection(), make_labels())
    assert [count for count, _ in gain.right] == [1, 2]
    assert all(share > 0.8 for _, share in gain.right)


@pytest.mark.parametrize(
    ("right", "words"),
    [
        ((), "Label a second recording"),
        (((1, 0.5),), "With 1 labelled, 50 % of the frames of another are right: label one more"),
        (((1, 0.5), (2, 0.5)), "hardly gain"),
        (((1, 0.5), (2, 0.7)), "some 10 points"),
    ],
)
def test_it_is_said_in_a_sentence(right: tuple[tuple[int, float], ...], words: str) -> None:
    assert words in Gain(right).words


def test_one_labelled_recording_says_nothing() -> None:
    labels = make_labels()
    assert leave_one_out(make_demonstrations().collection(), [labels[0], None, None]).right == ()


def test_choices_stay_few() -> None:
    assert len(_choices(range(12), 6)) <= MOST_CHOICES


def test_it_tells_how_far_it_is() -> None:
    rows = np.repeat([[0.0], [4.0]], 40, axis=0).astype(np.float32)
    given = np.repeat([3, 5], 40)
    shares: list[float] = []
    leave_one_out(Collection.at_rate([rows] * 4, 2.0), [given, given, given, None], shares.append)
    assert shares == [number / 7 for number in range(1, 7)]  # three alone, three pairs

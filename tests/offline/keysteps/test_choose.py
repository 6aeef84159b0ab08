"""Choosing the number of key-steps."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pytest

from guide.teach.collection import Collection
from offline.keysteps.choose import NUMBERS, bend, choose_k
from offline.keysteps.correspond import shared_information

DIRECTIONS = np.random.default_rng(4).normal(size=(14, 12)) * 4


def make(steps: int) -> Collection:
    rows = [
        (DIRECTIONS[np.repeat(np.arange(steps), 30)] + np.random.default_rng(n).normal(size=(steps * 30, 12)))
        for n in range(4)
    ]
    return Collection.at_rate([each.astype(np.float32) for each in rows], 2.0)


def test_a_straight_line_gives_the_usual_number() -> None:
    assert bend([(k, 0.5 * np.log(k)) for k in NUMBERS]) == 10


@pytest.mark.parametrize("true", [5, 7, 10, 14, 20, 25])
def test_a_clear_bend_is_kept_within_a_quarter(true: int) -> None:
    """All that a number of steps can say until they are real, and nothing new beyond."""
    assert 0.8 * true <= bend([(k, min(np.log(k), np.log(true))) for k in NUMBERS]) <= 1.25 * true


def test_the_luck_of_one_number_makes_no_bend() -> None:
    assert bend([(k, 0.5 * np.log(k) + 0.3 * (k == 6)) for k in NUMBERS]) > 6


def test_a_single_number_is_taken() -> None:
    assert bend([(4, 0.3)]) == 4


@pytest.mark.parametrize("steps", [6, 14])
def test_clear_steps_are_counted_within_a_third(steps: int) -> None:
    choice = choose_k(make(steps), seed=0, candidates=(4, 6, 8, 10, 14, 20))
    assert 0.7 * steps <= choice.k <= 1.4 * steps
    assert str(choice.k) in choice.reason
    assert [k for k, _ in choice.scores] == [4, 6, 8, 10, 14, 20]


def test_one_recording_has_no_other_to_be_told_by() -> None:
    whole = make(6)
    one = Collection(whole.embeddings[:1], whole.times[:1], whole.rate)
    assert choose_k(one, seed=0).k == 10


def test_each_number_tried_is_reported() -> None:
    told: list[int] = []
    choose_k(make(4), 0, (4, 5), lambda k, score: told.append(k))
    assert sorted(told) == [4, 5]


def test_what_tries_a_number_takes_little_with_it() -> None:
    """It may go to another machine with every number: what the trunk saw stays here."""
    whole = make(4)
    wide = tuple(np.repeat(each, 500, axis=1) for each in whole.embeddings)
    sizes: list[int] = []

    def each(do: Callable[[Any], Any], items: Sequence[Any]) -> Iterable[Any]:
        sizes.append(len(pickle.dumps(do)))
        return map(do, items)

    choose_k(Collection(whole.embeddings, whole.times, whole.rate, wide), 0, (4, 5), each=each)
    assert sizes[0] < sum(rows.nbytes for rows in wide) / 5


def test_labels_that_the_others_recognise_share_their_whole_information() -> None:
    labels = [np.repeat(np.arange(1, 5), 30)] * 4
    rows = [DIRECTIONS[each] * 10 + np.random.default_rng(n).normal(size=(120, 12)) for n, each in enumerate(labels)]
    assert abs(shared_information(rows, labels, 4) - np.log(4)) < 0.05


def test_labels_that_mean_nothing_share_little() -> None:
    rng = np.random.default_rng(0)
    labels = [rng.integers(1, 5, 120) for _ in range(4)]
    rows = [rng.normal(size=(120, 12)) for _ in labels]
    assert shared_information(rows, labels, 4) < 0.2

"""Choosing the number of key-steps."""

from __future__ import annotations

import numpy as np

from guide.teach.collection import Collection
from guide.teach.refine import RefineSettings
from offline.keysteps.choose import bend, choose_k, shared_information

DIRECTIONS = np.random.default_rng(4).normal(size=(6, 12)) * 4


def make(steps: int) -> Collection:
    rows = [
        (DIRECTIONS[np.repeat(np.arange(steps), 30)] + np.random.default_rng(n).normal(size=(steps * 30, 12)))
        for n in range(4)
    ]
    return Collection.at_rate([each.astype(np.float32) for each in rows], 2.0)


def test_the_bend_of_a_curve_is_where_it_stops_rising() -> None:
    assert bend([(4, 1.0), (5, 1.6), (6, 2.0), (7, 2.05), (8, 2.1)]) == 6


def test_a_straight_line_gives_the_middle() -> None:
    assert bend([(4, 1.0), (5, 2.0), (6, 3.0)]) == 5
    assert bend([(k, 0.1 * k) for k in range(4, 17)]) == 10


def test_a_clear_bend_far_from_the_middle_is_kept() -> None:
    early = [(4, 0.5), (5, 1.2), (6, 2.0), (8, 2.05), (12, 2.1), (16, 2.2)]
    assert bend(early) == 6


def test_the_luck_of_one_number_makes_no_bend() -> None:
    lucky = [(k, 0.05 * k + 0.2 * (k == 6)) for k in (4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16)]
    assert bend(lucky) == 10


def test_a_single_number_is_taken() -> None:
    assert bend([(4, 0.3)]) == 4


def test_clear_steps_are_counted() -> None:
    choice = choose_k(make(6), seed=0, candidates=(4, 5, 6, 8, 10))
    assert choice.k == 6
    assert "6" in choice.reason
    assert [k for k, _ in choice.scores] == [4, 5, 6, 8, 10]


def test_each_number_tried_is_reported() -> None:
    told: list[int] = []
    choose_k(make(4), 0, (4, 5), lambda k, score: told.append(k))
    assert told == [4, 5]


def test_labels_that_the_others_recognise_share_their_whole_information() -> None:
    labels = [np.repeat(np.arange(4), 30)] * 4
    rows = [DIRECTIONS[each] * 10 + np.random.default_rng(n).normal(size=(120, 12)) for n, each in enumerate(labels)]
    assert abs(shared_information(rows, labels, 4, RefineSettings()) - np.log(4)) < 0.05


def test_labels_that_mean_nothing_share_little() -> None:
    rng = np.random.default_rng(0)
    labels = [rng.integers(0, 4, 120) for _ in range(4)]
    rows = [rng.normal(size=(120, 12)) for _ in labels]
    assert shared_information(rows, labels, 4, RefineSettings()) < 0.2

"""A rehearsal is what the live side would have confirmed, by what the other recordings teach."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from guide.domain import Labels
from guide.label.energy import LinkSettings
from guide.label.recogniser import RecogniserSettings, judge_left_out, learn_recogniser
from offline.rehearse import follow, rehearse

RATE = 5.0
LINKS = LinkSettings(weight=1.0, radius_s=1.0)
DIRECTIONS = np.random.default_rng(7).normal(size=(4, 12)) * 2


def make_recording(order: list[int], seed: int) -> tuple[NDArray[np.float64], Labels]:
    labels = np.repeat(order, 25)
    return DIRECTIONS[labels] + np.random.default_rng(seed).normal(size=(len(labels), 12)), labels


def make_task() -> tuple[list[NDArray[np.float64]], list[Labels]]:
    orders = [[1, 0, 2, 3], [1, 2, 0, 3], [2, 1, 0, 3], [1, 2, 3, 0]]
    made = [make_recording(order, seed) for seed, order in enumerate(orders)]
    return [rows for rows, _ in made], [labels for _, labels in made]


def test_a_plain_task_is_rehearsed_as_it_was_done() -> None:
    rows, labels = make_task()
    learned = learn_recogniser(rows, labels, RecogniserSettings(components=12))
    times = [np.arange(len(each)) / RATE for each in labels]
    segments = rehearse(learned, rows, labels, times, LINKS, RATE)
    assert [[segment.step for segment in each] for each in segments] == [[1, 2, 3], [1, 2, 3], [2, 1, 3], [1, 2, 3]]


def test_a_step_that_only_one_recording_holds_cannot_be_recognised_in_it() -> None:
    rows, labels = make_task()
    odd = labels[0].copy()
    odd[odd == 3] = 9
    labels[0] = odd
    learned = learn_recogniser(rows, labels, RecogniserSettings(components=12))
    distances = judge_left_out(learned, rows, labels, 0.3)
    column = learned.numbers.tolist().index(9)
    assert np.isinf(distances[0][:, column]).all()
    assert np.isfinite(distances[1][:, column]).all()


def test_a_glimpse_is_not_a_step() -> None:
    costs = np.ones((60, 2))
    costs[:, 0] = 0.0
    costs[30:32] = [1.0, 0.0]
    segments = follow(costs, np.arange(60) / RATE, (1, 2), LINKS, RATE)
    assert [segment.step for segment in segments] == [1]

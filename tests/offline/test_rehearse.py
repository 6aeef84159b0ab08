"""A rehearsal is what the live side would have confirmed, by what the other recordings teach."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from guide.domain import Labels
from guide.label.energy import LinkSettings
from guide.label.recogniser import RecogniserSettings, judge_left_out, learn_recogniser
from guide.perceive.appearance import AppearanceSettings, appearance
from guide.procedure.events import Confirmed, Event, Finished, Glimpsed
from offline.embedding import Inputs
from offline.features import RecordingFeatures
from offline.rehearse import rehearse, teach_live

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


def make_inputs(rows: list[NDArray[np.float64]]) -> Inputs:
    recordings = [
        RecordingFeatures(str(number), RATE, np.arange(len(each)) / RATE, each.astype(np.float32))
        for number, each in enumerate(rows)
    ]
    settings = AppearanceSettings.for_step(5.0)
    features = tuple(appearance(one.pooled, one.times, settings) for one in recordings)
    return Inputs(tuple(recordings), features, features, RATE, settings, 5.0)


def confirmed(events: Sequence[Event]) -> list[int]:
    return [event.step for event in events if isinstance(event, Confirmed)]


def test_a_plain_task_is_rehearsed_as_it_was_done() -> None:
    rows, labels = make_task()
    taught = teach_live(make_inputs(rows), labels, LINKS)
    assert [confirmed(events) for events in taught.rehearsals] == [[1, 2, 3], [1, 2, 3], [2, 1, 3], [1, 2, 3]]
    assert all(isinstance(events[-1], Finished) for events in taught.rehearsals)


def test_every_step_that_was_done_is_glimpsed_no_later_than_it_is_confirmed() -> None:
    rows, labels = make_task()
    for events in teach_live(make_inputs(rows), labels, LINKS).rehearsals:
        seen: set[int] = set()
        for event in events:
            if isinstance(event, Glimpsed):
                seen.add(event.step)
            if isinstance(event, Confirmed):
                assert event.step in seen


def test_the_same_seed_teaches_the_same() -> None:
    rows, labels = make_task()
    one, other = (teach_live(make_inputs(rows), labels, LINKS, seed=3) for _ in range(2))
    assert one.rehearsals == other.rehearsals
    assert (one.presence.limits == other.presence.limits).all()
    assert (one.recogniser.projection == other.recogniser.projection).all()


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
    assert confirmed(rehearse(costs, np.arange(60) / RATE, (1, 2), None, LINKS, RATE)) == [1]

"""A rehearsal is what the live side would have confirmed, by what the other recordings teach."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from guide.label.recogniser import (
    RecogniserSettings,
    judge_left_out,
    learn_recogniser,
)
from guide.label.unaries import AppearanceUnaries
from numpy.typing import NDArray

from guide.domain import KeyStep, Labels
from guide.label.directions import Reduction, find_reduction, principal_directions
from guide.label.energy import LinkSettings
from guide.label.labeller import Labeller
from guide.label.steps import StepSettings, StepTrack
from guide.label.window import WindowCut, WindowSettings
from guide.perceive.appearance import AppearanceSettings
from guide.procedure.events import Confirmed, Event, Finished, Reviewed
from guide.procedure.model import Procedure, Rules
from guide.procedure.precedence import Edge
from guide.procedure.rule_selection import Seen
from guide.task_model import PRIORS, histories_of
from guide.teach import rehearse as rehearse_module
from guide.teach.demonstrations import Demonstration, Demonstrations
from guide.teach.rehearse import (
    LEAST_DONE,
    LEAST_OTHERWISE,
    LEAST_SURE,
    rehearse,
    rehearsed,
    see_freely,
    teach_judged,
    teach_live,
)

RATE = 5.0
PLAIN = Procedure(tuple(KeyStep(number, str(number)) for number in (1, 2, 3)), demonstrations=4)
NO_ORDER = tuple(prior for prior in PRIORS if prior != "order")
DIRECTIONS = np.random.default_rng(7).normal(size=(4, 12)) * 2


def make_recording(order: list[int], seed: int) -> tuple[NDArray[np.float64], Labels]:
    labels = np.repeat(order, 25)
    return DIRECTIONS[labels] + np.random.default_rng(seed).normal(size=(len(labels), 12)), labels


def make_task() -> tuple[list[NDArray[np.float64]], list[Labels]]:
    orders = [[1, 0, 2, 3], [1, 2, 0, 3], [2, 1, 0, 3], [1, 2, 3, 0]]
    made = [make_recording(order, seed) for seed, order in enumerate(orders)]
    return [rows for rows, _ in made], [labels for _, labels in made]


def make_demonstrations(rows: list[NDArray[np.float64]]) -> Demonstrations:
    floats = [each.astype(np.float32) for each in rows]
    items = [Demonstration(str(number), np.arange(len(one)) / RATE, one, one) for number, one in enumerate(floats)]
    return Demonstrations(tuple(items), RATE, AppearanceSettings.for_step(5.0))


def confirmed(events: Sequence[Event]) -> list[int]:
    return [event.step for event in events if isinstance(event, Confirmed)]


def rehearsals_of(rows: list[NDArray[np.float64]], labels: list[Labels]) -> list[tuple[Event, ...]]:
    demonstrations = make_demonstrations(rows)
    recogniser, costs = teach_live(demonstrations, labels)
    steps = AppearanceUnaries(recogniser).steps
    return [
        rehearse(each, times, histories_of(PLAIN, steps, demonstrations.settings.smoothing_s, RATE))
        for each, times in zip(costs, rehearsed(demonstrations), strict=True)
    ]


def sights(order: Sequence[int], doubt: float = 0.05) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Costs (T, 4) of background and three steps, each shown for 25 frames, and their times."""
    columns = np.repeat(order, 25)
    costs = np.full((len(columns), 4), 1 - doubt / 3)
    costs[np.arange(len(columns)), columns] = doubt
    return costs, np.arange(len(columns)) / RATE


@pytest.mark.parametrize(
    ("order", "done", "again"),
    [
        ([1, 0, 2, 3], {1, 2, 3}, set()),
        ([3, 0, 1], {1, 3}, set()),
        ([1, 2, 1, 0], {1, 2}, {1}),
        ([2, 0, 2], {2}, set()),  # a pause is no end
        ([0], set(), set()),
    ],
)
def test_somebody_without_rules_sees_what_is_there(order: list[int], done: set[int], again: set[int]) -> None:
    seen = see_freely(*sights(order), histories_of(PLAIN, (0, 1, 2, 3), 1.0, RATE))
    assert seen == Seen(frozenset(done), frozenset(again))


def test_a_visit_that_labels_lack_is_told_where_it_is_sure() -> None:
    histories = histories_of(PLAIN, (0, 1, 2, 3), 1.0, RATE)
    seen = see_freely(*sights([1, 2, 0, 3]), histories, labels=np.repeat([2, 0], 50))
    assert [one.step for one in seen.unlabelled] == [1, 3]
    assert [one.start for one in seen.unlabelled] == pytest.approx([0.0, 75 / RATE], abs=1.0)
    assert [one.end for one in seen.unlabelled] == pytest.approx([25 / RATE, 100 / RATE], abs=1.0)


@pytest.mark.parametrize(("doubt", "told"), [(0.28, [3]), (0.3, [])])
def test_a_visit_that_may_be_none_is_not_told(doubt: float, told: list[int]) -> None:
    histories = histories_of(PLAIN, (0, 1, 2, 3), 1.0, RATE)
    costs, times = sights([1, 2, 0, 3])
    costs[75:, [0, 3]] = 1 - doubt, doubt  # rather the third step than nothing at all
    seen = see_freely(costs, times, histories, labels=np.repeat([1, 2, 0, 0], 25))
    assert histories.done()[3] > LEAST_OTHERWISE
    assert (histories.done()[3] >= LEAST_SURE) == bool(told)
    assert [one.step for one in seen.unlabelled] == told


def test_a_step_that_may_have_been_done_counts_as_done() -> None:
    histories = histories_of(PLAIN, (0, 1, 2, 3), 1.0, RATE)
    costs, times = sights([1, 2], doubt=0.05)
    costs[30:, 2:] = 0.5  # either the second or the third
    seen, chances = see_freely(costs, times, histories), histories.done()
    assert LEAST_DONE < chances[3] < 0.5
    assert seen.done == {1, 2, 3}


def test_a_step_that_only_just_begins_at_the_end_is_not_done() -> None:
    costs, times = sights([1, 0, 2])
    histories = histories_of(PLAIN, (0, 1, 2, 3), 1.0, RATE)
    assert see_freely(costs[:53], times[:53], histories).done == {1}


def test_a_return_that_is_less_likely_than_not_is_none() -> None:
    histories = histories_of(PLAIN, (0, 1, 2, 3), 1.0, RATE)
    costs, times = sights([1, 2, 1])
    costs[50:] = [1.0, 0.55, 1.0, 0.45]  # rather the third
    seen = see_freely(costs, times, histories)
    assert 0.001 < histories.again()[1] < LEAST_OTHERWISE
    assert not seen.again


@pytest.mark.parametrize(
    ("order", "swapped"),
    [
        ([1, 0, 2, 3], set()),
        ([2, 0, 1, 3], {(1, 2)}),
        ([3, 1, 0, 2], {(2, 3)}),  # no rule says that 1 comes before 3
        ([2, 3], set()),  # what is never done was not done later
        ([3, 2, 1], {(1, 2), (2, 3)}),
    ],
)
def test_somebody_without_rules_sees_which_orders_are_not_kept(order: list[int], swapped: set[Edge]) -> None:
    task = replace(PLAIN, rules=Rules(edges=((1, 2), (2, 3))))
    seen = see_freely(*sights(order), histories_of(task, (0, 1, 2, 3), 1.0, RATE, NO_ORDER))
    assert seen.swapped == swapped


@pytest.mark.parametrize(("early", "least", "most", "is_seen"), [(0.34, 0.45, 0.5, False), (0.33, 0.5, 0.55, True)])
def test_an_order_counts_as_broken_once_that_is_likelier_than_not(
    early: float, least: float, most: float, is_seen: bool
) -> None:
    histories = histories_of(replace(PLAIN, rules=Rules(edges=((1, 2),))), (0, 1, 2, 3), 1.0, RATE, NO_ORDER)
    costs, times = sights([2, 1, 2])
    costs[:25] = [1.0, 1.0 - early, early, 1.0]  # the second, or the first already
    seen = see_freely(costs, times, histories)
    assert least < histories.both(1, 2) < most
    assert bool(seen.swapped) == is_seen


def test_what_is_left_behind_is_seen_too() -> None:
    costs, times = sights([1, 0, 3, 0])
    costs[25:50, :3] = [0.5, 0.9, 0.6]  # hardly to be seen; but what follows lies before what it leaves
    traces = np.zeros_like(costs)
    traces[50:75, 2] = -20.0
    histories = histories_of(PLAIN, (0, 1, 2, 3), 1.0, RATE)
    assert 2 in see_freely(costs, times, histories).done
    assert 2 not in see_freely(costs, times, histories_of(PLAIN, (0, 1, 2, 3), 1.0, RATE), traces).done


def test_a_single_frame_is_rehearsed() -> None:
    rows, labels = make_task()
    assert confirmed(rehearsals_of([rows[0][:1], *rows[1:]], [labels[0][:1], *labels[1:]])[0]) == []


def test_a_plain_task_is_rehearsed_as_it_was_done() -> None:
    rehearsals = rehearsals_of(*make_task())
    assert [confirmed(events) for events in rehearsals] == [[1, 2, 3], [1, 2, 3], [2, 1, 3], [1, 2, 3]]
    assert all(isinstance(events[-1], Finished) for events in rehearsals)


def test_a_rehearsal_hears_what_is_heard_live() -> None:
    """No label is cut in a rehearsal: the tracker would hear the same if they were."""
    rows, labels = make_task()
    demonstrations = make_demonstrations(rows)
    recogniser, costs = teach_live(demonstrations, labels)
    steps = AppearanceUnaries(recogniser).steps
    for row, events in zip(costs, rehearsals_of(rows, labels), strict=True):
        histories = histories_of(PLAIN, steps, demonstrations.settings.smoothing_s, RATE)
        window = WindowCut(WindowSettings(), LinkSettings(weight=1.0, radius_s=1.0), RATE, steps)
        labeller = Labeller(window, StepTrack(StepSettings()), histories)
        heard = [event for at, one in enumerate(row) for event in rehearse_module._heard(labeller.push(one, at / RATE))]
        assert tuple(heard) == events[: len(heard)]


def test_the_last_look_back_holds_what_was_done() -> None:
    rows, labels = make_task()
    for events, own in zip(rehearsals_of(rows, labels), labels, strict=True):
        looks = [event.belief for event in events if isinstance(event, Reviewed)]
        done = [int(step) for step in dict.fromkeys(own.tolist()) if step > 0]
        assert [visit.step for visit in looks[-1].visits] == done
        assert all(chance < 0.05 for step, chance in looks[-1].lacking if step in done)


def test_the_same_seed_teaches_the_same() -> None:
    rows, labels = make_task()
    (one, first), (other, second) = (teach_live(make_demonstrations(rows), labels, seed=3) for _ in range(2))
    assert all((a == b).all() for a, b in zip(first, second, strict=True))
    assert (one.projection == other.projection).all()


def test_labels_go_by_the_demonstrations_as_they_are() -> None:
    """Without other orders: the recogniser, and the demonstrations judged by the others, as plain learning has them."""
    rows, labels = make_task()
    demonstrations = make_demonstrations(rows)
    taught = teach_judged(demonstrations, labels)
    settings = RecogniserSettings()
    reduction = find_reduction(demonstrations.features, settings.components)
    plain = learn_recogniser(demonstrations.features, labels, settings, reduction)
    assert taught.recogniser.in_order is not None
    np.testing.assert_allclose(taught.recogniser.for_labels.centres, plain.centres)
    assert taught.recogniser.for_labels.temperature == plain.temperature
    expected = judge_left_out(reduction, plain.numbers, demonstrations.features, labels, settings.shrinkage)
    for one, other in zip(taught.in_order, expected, strict=True):
        np.testing.assert_allclose(one, other)
    assert not np.allclose(taught.judged[0], taught.in_order[0])
    costs = [np.full((len(each), 5), 0.75) for each in expected]
    for each in taught.label_costs(costs):
        np.testing.assert_allclose((1 - each).sum(1), 1.0)
        np.testing.assert_allclose(each[:, -1], 0.75)


def test_wide_features_teach_what_they_teach_in_full_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    """Single precision and sums over recordings against all rows, in full precision, one demonstration left out."""
    settings, rng = RecogniserSettings(components=20), np.random.default_rng(3)
    monkeypatch.setattr(rehearse_module, "RecogniserSettings", lambda: settings)
    monkeypatch.setattr("guide.label.directions.WIDE", 100)
    looks, spread = 0.3 * rng.normal(size=(4, 150)), np.arange(1, 151) ** -0.4
    labels = make_task()[1]
    rows = [(looks[own] + rng.normal(size=(len(own), 150))) * spread + 0.5 for own in labels]
    demonstrations = make_demonstrations(rows)
    taught = teach_judged(demonstrations, labels)
    exact = np.concatenate(demonstrations.features).astype(np.float64)
    scale = 1.0 / exact.std(0)
    directions = principal_directions((exact - exact.mean(0)) * scale, settings.components)
    reduction = Reduction(exact.mean(0), scale[:, None] * directions)
    plain = learn_recogniser(demonstrations.features, labels, settings, reduction)
    assert taught.recogniser.for_labels.temperature == plain.temperature
    assert taught.recogniser.for_labels.distance_limit == pytest.approx(plain.distance_limit, rel=1e-6)
    expected = judge_left_out(reduction, plain.numbers, demonstrations.features, labels, settings.shrinkage)
    for one, other in zip(taught.in_order, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)
        np.testing.assert_array_equal(one.argmin(1), other.argmin(1))


def test_rows_that_teach_are_found_among_all() -> None:
    rows, labels = make_task()
    groups = rehearse_module._showings(make_demonstrations(rows), labels, np.random.default_rng(0))
    features, shown = rehearse_module._taught(groups)
    for group, taught, own in zip(groups, features, shown, strict=True):
        places = rehearse_module._places(group)
        np.testing.assert_array_equal(np.concatenate([each.features for each in group])[places], taught)
        np.testing.assert_array_equal(np.concatenate([each.labels for each in group])[places], own)


def test_a_step_that_only_one_recording_holds_cannot_be_recognised_in_it() -> None:
    rows, labels = make_task()
    odd = labels[0].copy()
    odd[odd == 3] = 9
    labels[0] = odd
    classes = np.unique(np.concatenate(labels))
    distances = judge_left_out(find_reduction(rows, 12), classes, rows, labels, 0.3)
    column = classes.tolist().index(9)
    assert np.isinf(distances[0][:, column]).all()
    assert np.isfinite(distances[1][:, column]).all()


def test_nothing_of_its_own_labels_helps_to_judge_a_recording() -> None:
    """Labels drawn by lot can only be guessed: whoever does better has seen them."""
    rng = np.random.default_rng(0)
    rows = [rng.normal(size=(40, 150)) for _ in range(3)]
    labels = [rng.integers(0, 3, 40) for _ in range(3)]
    seen = learn_recogniser(rows, labels, RecogniserSettings(shrinkage=0.05))
    fair, unfair = find_reduction(rows, 200), Reduction(seen.mean, np.asarray(seen.projection, np.float64))
    right = [
        np.mean([each.argmin(1) == truth for each, truth in zip(judged, labels, strict=True)])
        for judged in (judge_left_out(one, np.arange(3), rows, labels, 0.05) for one in (fair, unfair))
    ]
    assert right[0] < 0.45
    assert right[1] > 0.9, "directions that all labels had a part in give them away"


def test_a_glimpse_is_not_a_step() -> None:
    costs = np.ones((60, 2))
    costs[:, 0] = 0.0
    costs[30:32] = [1.0, 0.0]
    assert confirmed(rehearse(costs, np.arange(60) / RATE, histories_of(PLAIN, (1, 2), 0.4, RATE))) == [1]


def test_with_a_stride_every_frame_is_judged_by_fewer_of_the_others() -> None:
    rows, labels = make_task()
    reduction, classes = find_reduction(rows, 200), np.unique(np.concatenate(labels))
    whole, thin = (judge_left_out(reduction, classes, rows, labels, 0.3, stride) for stride in (1, 3))
    for one, two, truth in zip(whole, thin, labels, strict=True):
        assert one.shape == two.shape == (len(truth), 4)
        assert not np.allclose(one, two)
        assert (classes[two.argmin(1)] == truth).mean() > 0.8


def test_a_long_collection_is_not_taken_into_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Features of long recordings lie on disk: teaching must not hold them all at once."""
    monkeypatch.setattr("guide.teach.rehearse.MOST_FRAMES", 1000)
    monkeypatch.setattr("guide.teach.rehearse.MOST_REORDERED", 1000)
    rng = np.random.default_rng(0)
    labels = [np.repeat([1, 2, 0, 3], 400) for _ in range(8)]
    features = []
    for number, each in enumerate(labels):
        path = tmp_path / f"{number}.npy"
        np.save(path, (np.tile(DIRECTIONS[each], 50) + rng.normal(size=(len(each), 600))).astype(np.float32))
        features.append(np.load(path, mmap_mode="r"))
    items = tuple(
        Demonstration(str(number), np.arange(len(rows)) / RATE, rows[:, :300], rows[:, :2])
        for number, rows in enumerate(features)
    )
    demonstrations = Demonstrations(items, RATE, AppearanceSettings.for_step(5.0), tuple(features))
    tracemalloc.start()
    try:
        _, costs = teach_live(demonstrations, labels)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [len(each) for each in costs] == [1600] * 8
    assert peak < sum(rows.nbytes for rows in features), "less than they take on disk"


@pytest.mark.parametrize(("most", "showings"), [(667, 6), (666, 4), (399, 1)])
def test_there_are_as_many_benches_as_there_is_room_for(
    most: int, showings: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 400 frames: as they are, turned, shuffled, and before three other benches, one or none."""
    monkeypatch.setattr("guide.teach.rehearse.MOST_REORDERED", most)
    rows, labels = make_task()
    taught = teach_judged(make_demonstrations(rows), labels)
    assert [len(each) for each in taught.features] == [100 + 50 * (showings - 1)] * 4

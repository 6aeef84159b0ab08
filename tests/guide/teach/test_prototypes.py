"""Prototypes from labels, against literal fits; and demonstrations that nobody but the others judges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from guide.domain import Labels
from guide.label.prototypes import Floats, Prototypes, mean_nearest
from guide.perceive.appearance import AppearanceSettings
from guide.teach import prototypes as module
from guide.teach.demonstrations import Demonstrations, demonstrate
from guide.teach.prototypes import (
    COPY_STRIDE,
    HEADROOM,
    SHRINKAGE,
    WAYS,
    Taught,
    accuracy_left_out,
    chosen,
    costs_of,
    learn_prototypes,
)
from guide.teach.reorder import shuffled
from tests.plain_discriminant import fit_discriminant
from tests.small_task import make_demonstrations, make_labels

RATE, WIDTH = 5.0, 8
LOOKS = np.random.default_rng(7).normal(size=(5, WIDTH)) * 2
ORDERS = ((1, 0, 2, 3), (1, 2, 0, 3), (2, 1, 0, 3), (1, 2, 3, 0))
SETTINGS = AppearanceSettings.for_step(5.0)


def make_task(
    orders: Sequence[Sequence[int]] = ORDERS, each: int = 25, noise: float = 1.0, looks: Floats = LOOKS
) -> tuple[Demonstrations, list[Labels]]:
    labels = [np.repeat(order, each).astype(np.int64) for order in orders]
    rows = [
        (looks[own] + noise * np.random.default_rng(seed).normal(size=(len(own), WIDTH))).astype(np.float32)
        for seed, own in enumerate(labels)
    ]
    times = [np.arange(len(own)) / RATE for own in labels]
    return demonstrate([str(number) for number in range(len(rows))], times, rows, RATE, SETTINGS), labels


def record_copies(monkeypatch: pytest.MonkeyPatch) -> list[list[tuple[NDArray[np.float32], Labels, Any]]]:
    """What each demonstration is shown again as, while prototypes are learned."""
    made: list[list[tuple[NDArray[np.float32], Labels, Any]]] = []
    copies = module._copies

    def record(*arguments: Any) -> Any:
        made.append(list(copies(*arguments)))
        return iter(made[-1])

    monkeypatch.setattr(module, "_copies", record)
    return made


def learn_and_measure(demonstrations: Demonstrations, labels: Sequence[Labels]) -> tuple[Taught, list[Floats]]:
    """What is learned, and the squared distances (T, C) by which each demonstration was judged."""
    measured: list[Floats] = []
    measure = module._distances

    def record(*arguments: Any) -> Floats:
        measured.append(measure(*arguments))
        return measured[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_distances", record)
        return learn_prototypes(demonstrations, labels), measured


def nearest(taught: Taught, embedding: NDArray[Any]) -> Labels:
    return np.asarray(taught.prototypes.numbers[taught.prototypes.distances(embedding).argmin(1)])


def test_every_frame_is_nearest_to_its_step() -> None:
    demonstrations, labels = make_task()
    taught, measured = learn_and_measure(demonstrations, labels)
    assert taught.prototypes.numbers.tolist() == [0, 1, 2, 3]
    assert taught.prototypes.steps == (0, 1, 2, 3, -1)
    for one, own, left_out in zip(demonstrations.items, labels, measured, strict=True):
        assert (nearest(taught, one.embedding) == own).mean() > 0.9
        assert (left_out.argmin(1) == own).mean() > 0.9


def test_sums_teach_what_a_literal_fit_teaches(monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows, as they are and copied, put together anew for every demonstration that is left out."""
    demonstrations, labels = make_task()
    made = record_copies(monkeypatch)
    taught, measured = learn_and_measure(demonstrations, labels)
    rows = [
        np.concatenate(
            [one.embedding, *(demonstrations.embed(pooled, times)[::COPY_STRIDE] for pooled, _, times in copies)]
        )
        for one, copies in zip(demonstrations.items, made, strict=True)
    ]
    shown = [
        np.concatenate([own, *(label[::COPY_STRIDE] for _, label, _ in copies)])
        for own, copies in zip(labels, made, strict=True)
    ]
    inside = [each[:, :-1].astype(np.float64) for each in rows]
    fitted = fit_discriminant(inside, shown, SHRINKAGE)
    np.testing.assert_allclose(taught.prototypes.centres[:, :-1], fitted.centres, atol=1e-8)
    np.testing.assert_array_equal(taught.prototypes.centres[:, -1], 0.0)
    for number, (one, left_out) in enumerate(zip(demonstrations.items, measured, strict=True)):
        others = [place for place in range(4) if place != number]
        fitted = fit_discriminant([inside[place] for place in others], [shown[place] for place in others], SHRINKAGE)
        residuals = np.concatenate([inside[place] - fitted.centres[shown[place]] for place in others])
        covariance = residuals.T @ residuals / len(residuals)
        mean = np.trace(covariance) / len(covariance)
        shrunken = (1 - SHRINKAGE) * covariance + SHRINKAGE * mean * np.eye(len(covariance))
        away = one.embedding[:, None, :-1] - fitted.centres
        expected = np.einsum("tcd,de,tce->tc", away, np.linalg.inv(shrunken), away)
        expected += np.square(one.embedding[:, -1:].astype(np.float64)) / (
            SHRINKAGE * np.trace(shrunken) / len(shrunken)
        )
        np.testing.assert_allclose(left_out, expected, rtol=1e-5)


@settings(derandomize=True, deadline=None, max_examples=8)
@given(st.integers(0, 3), st.permutations(range(4)))
def test_own_labels_have_no_part_in_how_a_demonstration_is_judged(number: int, renamed: list[int]) -> None:
    """Stretches stay what they are, so that the same copies are drawn."""
    demonstrations, labels = make_task()
    _, before = learn_and_measure(demonstrations, labels)
    labels[number] = np.array(renamed)[labels[number]]
    _, after = learn_and_measure(demonstrations, labels)
    after = [each[:, -4:] for each in after]  # what is renamed may begin with background: a prototype more
    np.testing.assert_allclose(after[number], before[number], rtol=1e-9)
    other = (number + 1) % 4
    assert np.allclose(after[other], before[other]) == (renamed == sorted(renamed))


def test_waiting_for_the_first_step_is_background_however_like_that_step_it_looks() -> None:
    looks = np.vstack([LOOKS[:4], 0.3 * LOOKS[0] + 0.7 * LOOKS[1]])
    orders = ((4, 1, 0, 2, 0, 3), (4, 1, 2, 0, 3, 0), (4, 2, 0, 1, 0, 3), (4, 1, 0, 2, 3, 0))
    demonstrations, labels = make_task(orders, looks=looks)
    labels = [np.where(each == 4, 0, each) for each in labels]

    def told(has_lead_in: bool) -> float:
        taught = learn_prototypes(demonstrations, labels, has_lead_in=has_lead_in)
        assert taught.prototypes.numbers.tolist() == ([0, 0, 1, 2, 3] if has_lead_in else [0, 1, 2, 3])
        assert taught.prototypes.steps == (0, 1, 2, 3, -1)
        return float(np.mean([1 - one.costs[:25, 0].mean() for one in taught.judged]))

    assert told(True) > told(False) + 0.1


def test_labels_drawn_by_lot_are_only_guessed() -> None:
    """Whoever names left-out frames better than by chance has seen their labels, also by way of copies."""
    rng = np.random.default_rng(0)
    pooled = [rng.normal(size=(60, 40)).astype(np.float32) for _ in range(3)]
    labels = [rng.integers(0, 3, 60) for _ in range(3)]
    times = [np.arange(60) / RATE] * 3
    demonstrations = demonstrate(list("abc"), times, pooled, RATE, AppearanceSettings(0.01, 15.0))
    _, measured = learn_and_measure(demonstrations, labels)
    assert np.mean([each.argmin(1) == own for each, own in zip(measured, labels, strict=True)]) < 0.45


def test_steps_left_out_are_named_by_what_the_others_show() -> None:
    demonstrations, labels = make_task(noise=0.3)
    assert accuracy_left_out(demonstrations, labels).min() > 0.9
    drawn = [np.random.default_rng(n).permutation(own) for n, own in enumerate(labels)]
    assert accuracy_left_out(demonstrations, drawn).mean() < 0.5
    others = [labels[0], *drawn[1:]]
    assert accuracy_left_out(demonstrations, others)[0] < 0.6  # its own labels have no part in it


def test_what_shows_no_step_cannot_be_named() -> None:
    demonstrations, labels = make_task()
    labels[1] = np.zeros_like(labels[1])
    assert np.isnan(accuracy_left_out(demonstrations, labels)).tolist() == [False, True, False, False]


def test_a_step_that_nobody_else_has_is_infinitely_far() -> None:
    demonstrations, labels = make_task()
    labels[0] = np.where(labels[0] == 3, 9, labels[0])
    taught, measured = learn_and_measure(demonstrations, labels)
    assert taught.prototypes.numbers.tolist() == [0, 1, 2, 3, 9]
    assert np.isinf(measured[0][:, 4]).all()
    assert all(np.isfinite(each).all() for each in (measured[0][:, :4], *measured[1:]))
    for one in taught.judged:
        assert np.isfinite(one.costs).all()
        np.testing.assert_allclose((1 - one.costs).sum(1), 1.0)
    np.testing.assert_array_equal(taught.judged[0].costs[:, 4], 1.0)
    assert np.isfinite([taught.prototypes.temperature, taught.prototypes.far]).all()


def test_nobody_has_a_step_in_common() -> None:
    demonstrations, _ = make_task()
    labels = [np.full(100, number + 1) for number in range(4)]
    taught, measured = learn_and_measure(demonstrations, labels)
    for number, (one, each) in enumerate(zip(taught.judged, measured, strict=True)):
        assert np.isinf(each[:, number]).all()
        assert np.isfinite(one.costs).all()


@pytest.mark.parametrize("frames", [1, 100])
def test_a_single_demonstration_judges_itself(frames: int) -> None:
    (one, *_), (own, *_) = make_task()[0].items, make_task()[1]
    demonstrations = demonstrate(["a"], [one.times[:frames]], [one.pooled[:frames]], RATE, SETTINGS)
    taught, (measured,) = learn_and_measure(demonstrations, [own[:frames]])
    assert len(taught.judged) == 1
    assert np.isfinite(taught.judged[0].costs).all()
    np.testing.assert_allclose(measured, taught.prototypes.distances(demonstrations.items[0].embedding), rtol=1e-6)
    assert (taught.prototypes.numbers[measured.argmin(1)] == own[:frames]).mean() > 0.9


def test_no_demonstration_lies_beyond_the_limit() -> None:
    demonstrations, labels = make_task()
    taught, measured = learn_and_measure(demonstrations, labels)
    farthest = [mean_nearest(each, one.times).max() for each, one in zip(measured, taught.judged, strict=True)]
    assert taught.prototypes.far == pytest.approx(HEADROOM * max(farthest))
    for one in taught.judged:
        assert (1 - one.costs[:, -1] < 1e-9).all()


@pytest.mark.parametrize("is_moving", [(True, False, False, False), (False, False), (False,)])
def test_still_pictures_teach_what_a_bundle_can_hold(is_moving: tuple[bool, ...]) -> None:
    rng = np.random.default_rng(0)
    pooled = [rng.normal(size=(100, 8)) if each else np.ones((100, 8)) for each in is_moving]
    labels, times = [np.repeat([1, 2, 0, 3], 25)] * len(pooled), [np.arange(100) / RATE] * len(pooled)
    demonstrations = demonstrate([str(number) for number in range(len(pooled))], times, pooled, RATE, SETTINGS)
    taught = learn_prototypes(demonstrations, labels)
    assert all(np.isfinite(one.costs).all() for one in taught.judged)
    read = Prototypes.from_arrays(taught.prototypes.to_arrays())
    assert read.far == taught.prototypes.far


def test_what_nobody_showed_lies_beyond_the_limit() -> None:
    """Outside the directions that are looked along, too."""
    rng = np.random.default_rng(2)
    pooled = [np.column_stack([one.pooled, 0.05 * rng.normal(size=(100, 40))]) for one in make_task(noise=0.3)[0].items]
    labels = make_task()[1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("guide.teach.embedding.COMPONENTS", 6)
        demonstrations = demonstrate(list("abcd"), [np.arange(100) / RATE] * 4, pooled, RATE, SETTINGS)
    taught = learn_prototypes(demonstrations, labels)
    times = np.arange(300) / RATE
    seen = demonstrations.embed(np.concatenate([*pooled[:2], 8 * rng.normal(size=(100, WIDTH + 40))]), times)
    costs = costs_of(taught.prototypes, taught.prototypes.distances(seen), times)
    assert (costs[210:, -1] < 0.01).all()
    ours = taught.prototypes.distances(demonstrations.items[0].embedding)
    assert (costs_of(taught.prototypes, ours, np.arange(100) / RATE)[:, -1] > 0.99).all()


def test_costs_of_the_left_out_are_those_of_a_session() -> None:
    demonstrations, labels = make_task()
    taught, measured = learn_and_measure(demonstrations, labels)
    for one, each in zip(taught.judged, measured, strict=True):
        np.testing.assert_array_equal(one.costs, costs_of(taught.prototypes, each, one.times))
        assert one.costs.shape == (len(one.times), 5)


def test_the_same_seed_teaches_the_same() -> None:
    demonstrations, labels = make_task()
    one, same, other = (learn_prototypes(demonstrations, labels, seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.prototypes.metric, same.prototypes.metric)
    assert all((a.costs == b.costs).all() for a, b in zip(one.judged, same.judged, strict=True))
    assert not np.array_equal(one.prototypes.metric, other.prototypes.metric)


def test_a_recording_in_another_order_looks_the_same() -> None:
    """Stretches shuffled before features are made: what is nearest is mostly what it was."""
    demonstrations, labels = make_demonstrations(), make_labels()
    taught = learn_prototypes(demonstrations, labels)
    rng = np.random.default_rng(5)
    for one, own in zip(demonstrations.items, labels, strict=True):
        before = nearest(taught, one.embedding)
        for _ in range(3):
            order = shuffled(own, rng)
            after = nearest(taught, demonstrations.embed(one.pooled[order], one.times))
            assert (after == before[order]).mean() > 0.9


def test_copies_teach_to_look_past_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Always in one order, a step is also told by what came before it; copies in others take that away."""
    demonstrations, labels = make_task(((1, 2, 3, 4),) * 5, noise=2.5)
    rng = np.random.default_rng(1)
    shown = [(shuffled(own, rng), one, own) for one, own in zip(demonstrations.items, labels, strict=True)] * 2

    def right(taught: Taught) -> float:
        found = [
            nearest(taught, demonstrations.embed(one.pooled[order], one.times)) == own[order]
            for order, one, own in shown
        ]
        return float(np.mean(found))

    with_copies = right(learn_prototypes(demonstrations, labels))
    monkeypatch.setattr(module, "_copies", lambda *_: iter(()))
    assert with_copies > right(learn_prototypes(demonstrations, labels))


def frames_of(copies: Sequence[tuple[NDArray[np.float32], Labels, Any]]) -> int:
    return sum(len(labels) for _, labels, _ in copies)


@pytest.mark.parametrize(
    ("most", "counts"),
    [
        (2000, [5, 5, 5, 5]),
        (1999, [4, 5, 5, 5]),
        (800, [2, 2, 2, 2]),
        (600, [1, 2, 1, 2]),
        (200, [0, 1, 0, 1]),
    ],
)
def test_there_are_as_many_copies_as_there_is_room_for(
    most: int, counts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four demonstrations of 100 frames, five ways to show each again; tenths of a copy are rounded down."""
    monkeypatch.setattr(module, "MOST_COPIED", most)
    made = record_copies(monkeypatch)
    demonstrations, labels = make_task()
    taught = learn_prototypes(demonstrations, labels)
    assert [len(each) for each in made] == counts
    assert sum(map(frames_of, made)) <= most
    assert all(np.isfinite(one.costs).all() for one in taught.judged)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.integers(1, 40), st.integers(1, 60), st.integers(1, 4000))
def test_copies_stay_within_their_bound_and_are_spread_evenly(count: int, frames: int, most: int) -> None:
    made: list[int] = []

    def count_copies(*arguments: Any) -> Any:
        made.append(arguments[3])
        return iter(())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_COPIED", most)
        patch.setattr(module, "_copies", count_copies)
        demonstrations, labels = make_task(((1,),) * count, each=frames)
        list(module._sums(demonstrations, labels, np.array([1]), np.random.default_rng(0), WAYS))
    assert max(made) <= WAYS
    assert max(made) - min(made) <= 1
    assert sum(made) * frames <= max(most, count * frames / 10)  # one of ten, however little room there is
    least = min(most / frames, WAYS * count) - count / 10 - 1
    assert sum(made) >= least


def test_however_little_room_there_is_some_are_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of them at least, whatever the bound says: without copies the order would be learned."""
    monkeypatch.setattr(module, "MOST_COPIED", 1)
    made = record_copies(monkeypatch)
    demonstrations, labels = make_task(ORDERS * 5, each=2)
    learn_prototypes(demonstrations, labels)
    assert [len(each) for each in made].count(1) == 2
    assert sum(map(len, made)) == 2


def test_of_a_long_recording_a_part_is_shown_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_COPY", 30)
    made = record_copies(monkeypatch)
    demonstrations, labels = make_task()
    starts = set()
    learn_prototypes(demonstrations, labels)
    for one, own, copies in zip(demonstrations.items, labels, made, strict=True):
        assert [len(shown) for _, shown, _ in copies] == [30] * WAYS
        (start,) = {int(np.flatnonzero(one.times == times[0])[0]) for _, _, times in copies}
        starts.add(start)
        part = slice(start, start + 30)
        for place, (pooled, shown, times) in enumerate(copies):
            np.testing.assert_array_equal(times, one.times[part])
            assert sorted(shown.tolist()) == sorted(own[part].tolist())
            if place < 2:  # turned round and shuffled: the same frames, each with its label
                pairs = {(*row, label) for row, label in zip(pooled.tolist(), shown.tolist(), strict=True)}
                expected = zip(np.asarray(one.pooled[part]).tolist(), own[part].tolist(), strict=True)
                assert pairs == {(*row, label) for row, label in expected}
    assert len(starts) > 1


def test_all_teach_though_only_some_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step that only those have that are not judged is a prototype all the same."""
    monkeypatch.setattr(module, "MOST_REHEARSALS", 2)
    demonstrations, labels = make_task(((1, 2), (1, 2, 3), (1, 2), (1, 2, 3)))
    taught = learn_prototypes(demonstrations, labels)
    assert [one.place for one in taught.judged] == [0, 2]
    assert taught.prototypes.numbers.tolist() == [1, 2, 3]


def test_all_are_judged_or_of_many_some_spread_over_them() -> None:
    assert chosen(3, 40) == [0, 1, 2]
    assert chosen(40, 40) == list(range(40))
    some = chosen(101, 40)
    assert (some[0], len(some), len(set(some))) == (0, 40, 40)
    assert some[-1] >= 98


def test_only_the_chosen_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_REHEARSALS", 2)
    demonstrations, labels = make_task()
    judged = learn_prototypes(demonstrations, labels).judged
    assert [one.place for one in judged] == [0, 2]
    for one in judged:
        np.testing.assert_array_equal(one.labels, labels[one.place])
        assert one.times is demonstrations.items[one.place].times

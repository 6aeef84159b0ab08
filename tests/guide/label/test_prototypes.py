"""Prototypes: memberships in closed form, what is refused, and what counts as unknown activity."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as numbers_in
from numpy.typing import NDArray

from guide.errors import BundleError
from guide.label.clock_prior import ClockPrior
from guide.label.confidence import Calibration
from guide.label.prototypes import Prototypes, Unaries, mean_nearest, memberships_of

seeds = st.integers(0, 10_000)
WIDTH = 3


def some(seed: int = 0, numbers: tuple[int, ...] = (0, 1, 3), temperature: float = 2.0, far: float = 9.0) -> Prototypes:
    rng = np.random.default_rng(seed)
    centres, metric = rng.normal(0, 3, (len(numbers), WIDTH)), rng.normal(size=(WIDTH, WIDTH))
    return Prototypes(np.array(numbers), centres, metric, temperature, far)


@settings(derandomize=True, deadline=None)
@given(seeds, st.floats(0.5, 128.0))
def test_memberships_are_the_closed_form_written_out(seed: int, temperature: float) -> None:
    prototypes = some(seed, temperature=temperature)
    embeddings = np.random.default_rng(seed + 1).normal(0, 3, (5, WIDTH))
    found = prototypes.memberships(embeddings)
    np.testing.assert_allclose(found.sum(1), 1.0)
    for row, embedding in zip(found, embeddings, strict=True):
        squares = []
        for centre in prototypes.centres:
            apart = [embedding[n] - centre[n] for n in range(WIDTH)]
            seen = [sum(apart[n] * prototypes.metric[n, m] for n in range(WIDTH)) for m in range(WIDTH)]
            squares.append(sum(part * part for part in seen))
        weights = [math.exp(-(square - min(squares)) / (2 * temperature)) for square in squares]
        np.testing.assert_allclose(row, [weight / sum(weights) for weight in weights], atol=1e-9)


@settings(derandomize=True, deadline=None)
@given(numbers_in(np.float64, (4, 3), elements=st.floats(0, 1e12)), st.floats(1e-3, 1e3))
def test_memberships_sum_to_1_however_far_all_is(distances: NDArray[np.float64], temperature: float) -> None:
    np.testing.assert_allclose(memberships_of(distances, temperature, np.arange(3)).sum(1), 1.0)


def test_a_prototype_that_nobody_has_takes_no_part() -> None:
    found = memberships_of(np.array([[1.0, np.inf, 3.0]]), 1.0, np.arange(3))[0]
    assert found[1] == 0.0
    assert found.sum() == pytest.approx(1.0)


def test_background_has_the_memberships_of_all_its_prototypes() -> None:
    apart, together = some(numbers=(1, 2, 3, 4)), some(numbers=(0, 0, 3, 4))
    embeddings = np.random.default_rng(1).normal(0, 3, (5, WIDTH))
    one, both = apart.memberships(embeddings), together.memberships(embeddings)
    np.testing.assert_allclose(both, np.column_stack([one[:, 0] + one[:, 1], one[:, 2:]]))
    assert together.steps == (0, 3, 4, -1)
    unaries = Unaries(together)
    assert unaries.push(embeddings[0], 0.0).shape == (4,)


@settings(derandomize=True, deadline=None, max_examples=30)
@given(seeds)
def test_live_costs_are_one_minus_memberships_while_all_is_near(seed: int) -> None:
    prototypes = some(seed, far=1e5)
    embeddings = np.random.default_rng(seed + 1).normal(0, 3, (4, WIDTH)).astype(np.float32)
    unaries = Unaries(prototypes)
    costs = np.stack([unaries.push(row, number / 5) for number, row in enumerate(embeddings)])
    np.testing.assert_allclose(costs[:, :-1], 1.0 - prototypes.memberships(embeddings), atol=1e-4)
    np.testing.assert_allclose(costs[:, -1], 1.0)


@settings(derandomize=True, deadline=None, max_examples=30)
@given(seeds, st.floats(0.5, 50.0))
def test_chances_of_all_labels_add_up_to_1(seed: int, far: float) -> None:
    unaries, rng = Unaries(some(seed, far=far)), np.random.default_rng(seed + 1)
    for number in range(6):
        costs = unaries.push(rng.normal(0, 6, WIDTH), number / 5)
        assert ((costs >= 0) & (costs <= 1)).all()
        assert (1.0 - costs).sum() == pytest.approx(1.0)


def flat(far: float = 5.0) -> Unaries:
    """Two steps on a line, and what lies outside of it as the last number."""
    return Unaries(Prototypes(np.array([1, 2]), np.array([[0.0, 0.0], [4.0, 0.0]]), np.eye(2), 1.0, far))


def cost_of_unknown(unaries: Unaries, rows: list[tuple[float, float]]) -> list[float]:
    return [float(unaries.push(np.array(row), number / 5)[-1]) for number, row in enumerate(rows)]


def test_what_is_far_for_two_seconds_is_unknown_and_a_glance_is_not() -> None:
    near, away = (1.0, 0.0), (-30.0, 0.0)
    costs = cost_of_unknown(flat(), [near] * 10 + [away] + [near] * 14 + [away] * 11)
    assert min(costs[:25]) > 0.99
    assert costs[-1] < 0.01
    assert cost_of_unknown(flat(), [away] * 11 + [near] * 11)[-1] > 0.99


def test_what_is_usual_in_a_session_is_known_however_far_from_the_demonstrations() -> None:
    """A stranger wears gloves, at 9 where the limit is 5: what lies as far again from that is unknown, as is black."""
    gloves, away, black = (-9.0, 0.0), (-30.0, 0.0), (-90.0, 0.0)
    assert min(cost_of_unknown(flat(), [gloves] * 40)) > 0.99
    assert cost_of_unknown(flat(), [gloves] * 40 + [away] * 11)[-1] < 0.01
    assert max(cost_of_unknown(flat(), [black] * 40)) < 0.01


def test_what_lies_outside_the_directions_counts() -> None:
    """Along the directions it is the very prototype of step 1, and yet nothing of the kind."""
    near = [(0.0, 0.0)] * 12
    assert cost_of_unknown(flat(), near)[-1] > 0.99
    assert cost_of_unknown(flat(), [*near, *[(0.0, 9.0)] * 11])[-1] < 0.01
    beside, on = flat(far=1e5).push(np.array([1.0, 3.0]), 0.0), flat(far=1e5).push(np.array([1.0, 0.0]), 0.0)
    np.testing.assert_allclose(beside, on, atol=1e-9)  # it is equally far from all, so it tells no steps apart


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.floats(0, 50), st.floats(0.05, 3.0)), min_size=1, max_size=30))
def test_means_of_the_last_seconds_are_the_same_at_once_and_one_by_one(moments: list[tuple[float, float]]) -> None:
    nearest, gaps = np.array(moments).T
    times = np.cumsum(gaps)
    distances = np.column_stack([nearest**2, nearest**2 + 1.0])
    brute = [nearest[(times <= at) & (times >= at - 2.0 - 1e-9)].mean() for at in times]
    np.testing.assert_allclose(mean_nearest(distances, times), brute, atol=1e-9)
    unaries = flat(far=25.0)
    found = [1.0 - unaries.weigh(row[None], at)[-1] for row, at in zip(distances, times, strict=True)]
    usual = [sorted(nearest[: count + 1])[(count + 1) // 2] for count in range(len(nearest))]
    limits = [min(max(25.0, 2.0 * one), 200.0) for one in usual]
    excess = [(mean / limit - 1) / 0.02 for mean, limit in zip(brute, limits, strict=True)]
    plain = [1 / (1 + math.exp(-min(max(one, -50), 50))) for one in excess]
    np.testing.assert_allclose(found, plain, atol=1e-6)


def test_a_network_of_another_width_is_refused() -> None:
    with pytest.raises(BundleError, match=r"lie in 2 dimensions, its network gives \(3,\): learn the procedure again"):
        flat().push(np.zeros(3, np.float32), 0.0)


def whole() -> dict[str, NDArray[Any]]:
    prior = ClockPrior(np.array([[0.5, 1.0, 1.5]]), bin_s=2.0, background=0.5)
    plain = some()
    return replace(plain, clock=prior, confidence=Calibration(1.5, -0.5)).to_arrays()


def test_arrays_give_the_same_again() -> None:
    again = Prototypes.from_arrays(whole())
    for key, array in again.to_arrays().items():
        np.testing.assert_array_equal(array, whole()[key])
    assert again.steps == (0, 1, 3, -1)
    assert again.clock is not None
    assert again.confidence == Calibration(1.5, -0.5)
    without = {key: array for key, array in whole().items() if not key.startswith("clock")}
    assert Prototypes.from_arrays(without).clock is None


@pytest.mark.parametrize("name", ["numbers", "centres", "metric", "scalars", "clock_scalars"])
def test_lacking_arrays_are_refused(name: str) -> None:
    with pytest.raises(BundleError, match=rf"'{name}' is lacking or wrong: learn the procedure again\.$"):
        Prototypes.from_arrays({key: array for key, array in whole().items() if key != name})


@pytest.mark.parametrize(
    ("name", "spoilt"),
    [
        ("numbers", np.array([0, 1])),
        ("numbers", np.array([0, 1, 1])),
        ("numbers", np.array([-1, 1, 3])),
        ("numbers", np.array([0, 1, 2**40])),
        ("numbers", np.array([0.0, 1.0, 3.0])),
        ("numbers", np.array(["a", "b", "c"])),
        ("numbers", np.array([[0, 1, 3]])),
        ("numbers", np.array(1)),
        ("centres", np.zeros((3, WIDTH + 1))),
        ("centres", np.zeros((2, WIDTH))),
        ("centres", np.zeros((0, WIDTH))),
        ("centres", np.zeros(3)),
        ("centres", np.full((3, WIDTH), np.nan)),
        ("centres", np.full((3, WIDTH), 1e300)),
        ("centres", np.array([["a"]])),
        ("metric", np.eye(WIDTH + 1)),
        ("metric", np.zeros((WIDTH, 1))),
        ("metric", np.full((WIDTH, WIDTH), np.inf)),
        ("metric", np.full((WIDTH, WIDTH), 1e300)),
        ("scalars", np.array([1.0, 2.0])),
        ("scalars", np.array([1.0, 2.0, 1.0, 0.0, 0.0])),
        ("scalars", np.ones((4, 2))),
        ("scalars", np.array(1.0)),
        ("scalars", np.array([0.0, 2.0, 1.0, 0.0])),
        ("scalars", np.array([-1.0, 2.0, 1.0, 0.0])),
        ("scalars", np.array([1.0, 0.0, 1.0, 0.0])),
        ("scalars", np.array([1.0, np.nan, 1.0, 0.0])),
        ("scalars", np.array([np.inf, 1.0, 1.0, 0.0])),
        ("scalars", np.array([1.0, 2.0, 1e9, 0.0])),
        ("scalars", np.array([1.0, 2.0, np.nan, 0.0])),
        ("scalars", np.array([1.0, 2.0, 1.0, np.nan])),
        ("scalars", np.array([5e-324, 2.0, 1.0, 0.0])),
        ("scalars", np.array([1.0, 5e-324, 1.0, 0.0])),
        ("clock", np.array([[0.5, 1.5]])),
        ("clock", np.array([[0.5, 1.0, 0.0]])),
        ("clock", np.array([[0.5, 1.0, np.nan]])),
        ("clock", np.array([[0.5, 1.0, 1e308]])),
        ("clock", np.array([0.5, 1.0, 1.5])),
        ("clock_scalars", np.array([0.0, 1.0])),
        ("clock_scalars", np.array([1.0, 0.0])),
        ("clock_scalars", np.array([1.0, 2.0])),
        ("clock_scalars", np.array([np.inf, 1.0])),
        ("clock_scalars", np.array([1.0])),
    ],
    ids=lambda part: str(part).replace("\n", "")[:40],
)
def test_spoilt_arrays_are_refused_in_one_sentence(name: str, spoilt: NDArray[Any]) -> None:
    with pytest.raises(BundleError, match=r"^prototypes\.npz should hold whole .*: learn the procedure again\.$"):
        Prototypes.from_arrays(whole() | {name: spoilt})


@settings(derandomize=True, deadline=None)
@given(
    numbers_in(np.float64, (2, 2), elements=st.floats(width=64)),
    numbers_in(np.float64, (2, 2), elements=st.floats(width=64)),
    numbers_in(np.float64, 4, elements=st.floats(width=64)),
    numbers_in(np.int64, 2),
)
def test_whatever_a_bundle_holds_is_refused_or_gives_costs(
    centres: NDArray[Any], metric: NDArray[Any], scalars: NDArray[Any], numbers: NDArray[Any]
) -> None:
    try:
        found = Prototypes.from_arrays({"centres": centres, "metric": metric, "scalars": scalars, "numbers": numbers})
    except BundleError:
        return
    costs = Unaries(found).push(np.ones(2, np.float32), 0.0)
    assert ((costs >= 0) & (costs <= 1)).all()

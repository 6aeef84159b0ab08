"""Sums of recordings give the discriminants that all their rows give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.domain import Labels
from guide.label.discriminant import ClassSums, Discriminant, Floats, leave_each_out
from tests.plain_discriminant import fit_discriminant


def make(count: int, seed: int) -> tuple[list[Floats], list[Labels]]:
    rng = np.random.default_rng(seed)
    labels = [rng.choice([0, 2, 5], size=int(size)) for size in rng.integers(8, 30, size=count)]
    centres = 10.0 * rng.normal(size=(6, 4))
    return [centres[own] + rng.normal(size=(len(own), 4)) for own in labels], labels


def assert_same(one: Discriminant, other: Discriminant) -> None:
    np.testing.assert_array_equal(one.numbers, other.numbers)
    np.testing.assert_allclose(one.centres, other.centres, atol=1e-9)
    np.testing.assert_allclose(one.whitening, other.whitening, rtol=1e-6, atol=1e-9)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.integers(2, 6), st.integers(0, 1000))
def test_each_is_left_out_as_if_the_others_were_all(count: int, seed: int) -> None:
    rows, labels = make(count, seed)
    for number, found in enumerate(leave_each_out(rows, labels, 0.3)):
        others = [other for other in range(count) if other != number]
        assert_same(found, fit_discriminant([rows[n] for n in others], [labels[n] for n in others], 0.3))


def test_a_single_recording_is_judged_by_itself() -> None:
    rows, labels = make(1, seed=3)
    assert_same(next(leave_each_out(rows, labels, 0.3)), fit_discriminant(rows, labels, 0.3))


def test_sums_that_come_several_times_count_so_often() -> None:
    rows, labels = make(3, seed=4)
    sums = [ClassSums.of(each, own, np.array([0, 2, 5, 9])) for each, own in zip(rows, labels, strict=True)]
    copies = [0, 1, 2, 2, 2]
    expected = fit_discriminant([rows[n] for n in copies], [labels[n] for n in copies], 0.1)
    assert_same(ClassSums.total([sums[n] for n in copies]).discriminant(0.1), expected)


def test_rows_on_their_centres_leave_nothing_around_them() -> None:
    labels = [np.array([0, 1, 0, 1]), np.array([1, 0, 1, 1])]
    rows = [np.array([[1e3, 1.0], [-0.1, 700.3]])[own] for own in labels]
    for found, number in zip(leave_each_out(rows, labels, 0.3), (1, 0), strict=True):
        assert_same(found, fit_discriminant([rows[number]], [labels[number]], 0.3))


def test_products_that_are_known_are_not_made_again() -> None:
    rows, labels = make(1, seed=5)
    known = rows[0].T @ rows[0]
    assert ClassSums.of(rows[0], labels[0], np.array([0, 2, 5]), known).scatter is known


@pytest.mark.parametrize("far", [0.0, 1e3])
def test_rows_far_from_zero_lose_few_digits(far: float) -> None:
    rows, labels = make(3, seed=6)
    moved = [each + far for each in rows]
    found, plain = next(leave_each_out(moved, labels, 0.3)), fit_discriminant(moved[1:], labels[1:], 0.3)
    np.testing.assert_allclose(found.whitening, plain.whitening, rtol=1e-5, atol=1e-6)

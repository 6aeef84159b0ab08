"""Memberships: the closed form against scikit-fuzzy, and where a naive one would divide by zero."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import skfuzzy
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.label.membership import memberships, partition_coefficient, sharpness, squared_distances


@pytest.mark.parametrize("fuzzifier", [1.1, 1.2, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("width", [2, 128])
def test_equals_scikit_fuzzys_prediction(fuzzifier: float, width: int) -> None:
    rng = np.random.default_rng(0)
    embeddings, centres = rng.normal(size=(200, width)), rng.normal(size=(7, width))
    embeddings[:3] = centres[:3]  # frames that lie on a prototype
    start = np.full((7, 200), 1 / 7)
    expected = skfuzzy.cmeans_predict(embeddings.T, centres, fuzzifier, error=1e-9, maxiter=5, init=start)[0].T
    np.testing.assert_allclose(memberships(embeddings, centres, fuzzifier), expected, atol=1e-12, rtol=0)


def test_worked_by_hand() -> None:
    # Distances 1 and 3, m = 2: weights 1/1 and 1/9, so 0.9 and 0.1.
    np.testing.assert_allclose(memberships(np.array([[1.0]]), np.array([[0.0], [4.0]]), 2.0), [[0.9, 0.1]])


def test_frame_on_two_equal_prototypes_is_shared() -> None:
    got = memberships(np.array([[1.0, 2.0]]), np.array([[1.0, 2.0], [1.0, 2.0], [5.0, 5.0]]), 1.05)
    np.testing.assert_allclose(got, [[0.5, 0.5, 0.0]], atol=1e-12)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    st.integers(1, 6),
    st.integers(1, 5),
    st.floats(1.01, 4.0),
    st.floats(1e-6, 1e6),
    st.integers(0, 1000),
)
def test_rows_sum_to_one_and_the_nearest_leads(count: int, k: int, fuzzifier: float, scale: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    embeddings, centres = scale * rng.normal(size=(count, 3)), scale * rng.normal(size=(k, 3))
    weights = memberships(embeddings, centres, fuzzifier)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    np.testing.assert_array_equal(weights.argmax(axis=1), squared_distances(embeddings, centres).argmin(axis=1))
    np.testing.assert_allclose(weights, memberships(embeddings / scale, centres / scale, fuzzifier), atol=1e-9)


def test_one_frame_gives_what_a_batch_gives_to_the_bit() -> None:
    rng = np.random.default_rng(1)
    embeddings = rng.normal(size=(600, 128)).astype(np.float32)
    centres = rng.normal(size=(10, 128))
    whole = memberships(embeddings, centres, 1.2)
    np.testing.assert_array_equal(whole[599:], memberships(embeddings[599:], centres, 1.2))


def test_memory_beyond_the_result_does_not_grow_with_frames() -> None:
    embeddings, centres = np.zeros((50_000, 64), np.float32), np.eye(5, 64)
    tracemalloc.start()
    memberships(embeddings, centres, 1.2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * 50_000 * 5 * 8 + 8_000_000


@pytest.mark.parametrize(("weights", "expected"), [(np.eye(3), 1.0), (np.full((4, 3), 1 / 3), 1 / 3)])
def test_partition_coefficient_at_its_ends(weights: np.ndarray, expected: float) -> None:
    assert partition_coefficient(weights) == pytest.approx(expected)
    assert sharpness(weights) == pytest.approx((expected - 1 / 3) * 1.5)


def test_one_key_step_is_never_a_collapse() -> None:
    assert sharpness(np.ones((5, 1))) == 1.0


def test_refuses_a_fuzzifier_of_one_and_shapes_that_do_not_match() -> None:
    with pytest.raises(ValueError, match="above 1"):
        memberships(np.zeros((1, 2)), np.zeros((1, 2)), 1.0)
    with pytest.raises(ValueError, match=r"\(1, 2\) and \(1, 3\)"):
        memberships(np.zeros((1, 2)), np.zeros((1, 3)), 2.0)

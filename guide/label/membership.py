"""How much a frame belongs to each key-step: fuzzy memberships in closed form, without scikit-fuzzy."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

Array: TypeAlias = NDArray[np.float64]

# Values held at once while distances are taken: 2 MB stays in a core's cache whatever the number of frames.
CHUNK_VALUES = 2**18
# A frame that lies on a prototype is as far from it as scikit-fuzzy says: one rounding step.
CLOSEST = float(np.finfo(np.float64).eps)


def squared_distances(embeddings: NDArray[np.floating], centres: NDArray[np.floating]) -> Array:
    """Squared Euclidean distances (T, K) of embeddings (T, D) to centres (K, D).

    Differences are taken before squaring: the faster |x|² - 2xc + c² loses all digits where frame and centre are close,
    and there the memberships turn on them.
    """
    if embeddings.ndim != 2 or centres.ndim != 2 or embeddings.shape[1] != centres.shape[1]:
        raise ValueError(f"distances need (T, D) and (K, D), got {embeddings.shape} and {centres.shape}")
    exact = np.asarray(centres, np.float64)
    found = np.empty((len(embeddings), len(exact)))
    rows = max(1, CHUNK_VALUES // max(1, exact.shape[1]))
    for begin in range(0, len(embeddings), rows):
        some = np.asarray(embeddings[begin : begin + rows], np.float64)
        found[begin : begin + rows] = cdist(some, exact, "sqeuclidean")
    return found


def memberships(embeddings: NDArray[np.floating], centres: NDArray[np.floating], fuzzifier: float) -> Array:
    """Memberships (T, K), rows summing to 1, of embeddings (T, D) in centres (K, D).

    u_tk = d_tk^(-2/(m-1)) / sum_j d_tj^(-2/(m-1)) with fuzzifier m > 1, taken through logarithms so that m near 1
    (a power of 20 and more) neither overflows nor divides zero by zero.

    >>> memberships(np.array([[0.0], [1.0]]), np.array([[0.0], [2.0]]), fuzzifier=2.0).round(9)
    array([[1. , 0. ],
           [0.5, 0.5]])
    """
    if fuzzifier <= 1.0:
        raise ValueError(f"the fuzzifier is above 1, got {fuzzifier}")
    weights = squared_distances(embeddings, centres)
    np.maximum(weights, CLOSEST**2, out=weights)
    np.log(weights, out=weights)
    weights *= -1.0 / (fuzzifier - 1.0)
    weights -= weights.max(axis=1, keepdims=True)
    np.exp(weights, out=weights)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def partition_coefficient(weights: Array) -> float:
    """Mean sum of squared memberships of (T, K): 1 when every frame has one key-step, 1/K when none says anything.

    >>> partition_coefficient(np.full((3, 4), 0.25))
    0.25
    """
    return float(np.einsum("tk,tk->", weights, weights) / len(weights))


def sharpness(weights: Array) -> float:
    """The partition coefficient of (T, K) stretched to 0 (all memberships 1/K) .. 1 (each frame sure); 1 when K is 1.

    >>> sharpness(np.full((3, 4), 0.25))
    0.0
    """
    floor = 1.0 / weights.shape[1]
    return 1.0 if floor == 1.0 else (partition_coefficient(weights) - floor) / (1.0 - floor)

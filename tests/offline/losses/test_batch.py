"""Pairs, distances and the checks every loss shares."""

from __future__ import annotations

import pytest
import torch

from guide.errors import InputError
from offline.losses.batch import checked_batch, distances, ordered_pairs


def test_ordered_pairs_of_three() -> None:
    first, second = ordered_pairs(3, torch.device("cpu"))
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]


def test_distances_are_exact_for_close_rows_far_from_the_origin() -> None:
    rows = torch.tensor([[[1000.0, 1000.0], [1000.0, 1000.25]]])
    assert distances(rows, rows).tolist() == [[[0.0, 0.25], [0.25, 0.0]]]


def test_gradient_at_distance_zero_is_zero() -> None:
    rows = torch.ones(1, 3, 4, requires_grad=True)
    torch.autograd.backward(distances(rows, rows).sum())
    assert rows.grad is not None
    assert rows.grad.tolist() == torch.zeros(1, 3, 4).tolist()


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_half_precision_is_widened(kind: torch.dtype) -> None:
    batch = checked_batch(torch.zeros(2, 3, 4, dtype=kind), torch.zeros(2, 3, dtype=torch.int64), torch.ones(2))
    assert [part.dtype for part in batch] == [torch.float32] * 3


@pytest.mark.parametrize(
    ("embeddings", "steps", "lengths"),
    [((3, 4), (3, 4), (3,)), ((2, 3, 4), (2, 4), (2,)), ((2, 3, 4), (2, 3), (3,))],
    ids=["no width", "steps of other frames", "lengths of other recordings"],
)
def test_shapes_that_do_not_fit_are_named(
    embeddings: tuple[int, ...], steps: tuple[int, ...], lengths: tuple[int, ...]
) -> None:
    with pytest.raises(InputError, match=r"needs embeddings \(V, N, D\)"):
        checked_batch(torch.zeros(embeddings), torch.zeros(steps), torch.zeros(lengths))


def test_one_recording_has_nothing_to_be_compared_with() -> None:
    with pytest.raises(InputError, match="at least 2 in a batch, got 1"):
        checked_batch(torch.zeros(1, 3, 4), torch.zeros(1, 3), torch.ones(1), at_least=2)

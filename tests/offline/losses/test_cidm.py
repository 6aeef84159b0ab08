"""C-IDM against its literal reading, by finite differences, and for what it is for: with a gradient."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from offline.losses.cidm import ContrastiveLoss
from offline.losses.literal import literal_cidm


@settings(derandomize=True, deadline=None, max_examples=20)
@given(st.integers(1, 4), st.integers(1, 6), st.integers(0, 1000), st.sampled_from([0.5, 3.0, 1000.0]))
def test_equals_the_literal_reading(videos: int, frames: int, seed: int, window: float) -> None:
    generator = torch.Generator().manual_seed(seed)
    embeddings = torch.randn(videos, frames, 3, generator=generator, dtype=torch.float64)
    steps = torch.rand(videos, frames, generator=generator, dtype=torch.float64) * 20
    lengths = torch.full((videos,), 20.0)
    for loss in (ContrastiveLoss(window), ContrastiveLoss(window, margin=1.0, gamma_unit=4.0)):
        torch.testing.assert_close(
            loss(embeddings, steps, lengths), literal_cidm(loss, embeddings, steps), rtol=1e-10, atol=1e-12
        )


def test_gradient_by_finite_differences() -> None:
    embeddings = torch.randn(2, 5, 3, generator=torch.Generator().manual_seed(3), dtype=torch.float64) * 0.5
    steps = torch.arange(5.0, dtype=torch.float64).repeat(2, 1) * 3
    loss = ContrastiveLoss(window=5)
    # frames never coincide with themselves in finite differences, so only distances between different frames count
    assert torch.autograd.gradcheck(lambda e: loss(e, steps, torch.ones(2)), embeddings.requires_grad_())


@pytest.mark.parametrize(
    ("apart", "distance", "expected"),
    [
        (0.0, 0.5, 0.5),  # neighbours: d / 1
        (3.0, 0.5, 0.05),  # neighbours: d / (9 + 1)
        (4.0, 0.5, 1.5 * 17),  # far: gamma (zeta - d)
        (4.0, 3.0, 0.0),  # far enough
    ],
)
def test_by_hand(apart: float, distance: float, expected: float) -> None:
    loss = ContrastiveLoss(window=3, margin=2.0)
    value = loss(torch.tensor([[[0.0], [distance]]]), torch.tensor([[0.0, apart]]), torch.tensor([9.0]))
    assert float(value) == pytest.approx(expected * 2 / 4)  # two of the four frame pairs are of different frames


def gradient(steps: list[float], places: list[float], window: float) -> list[float]:
    embeddings = torch.tensor([[[place] for place in places]], requires_grad=True)
    torch.autograd.backward(ContrastiveLoss(window)(embeddings, torch.tensor([steps]), torch.ones(1)))
    assert embeddings.grad is not None
    return [float(value) for value in embeddings.grad[0, :, 0]]


def test_pulls_neighbours_together() -> None:
    first, second = gradient([0, 1], [0.0, 1.0], window=5)
    assert first < 0 < second  # descending moves the lower one up and the upper one down


def test_pushes_far_frames_apart_up_to_the_margin() -> None:
    first, second = gradient([0, 50], [0.0, 1.0], window=5)
    assert first > 0 > second
    assert gradient([0, 50], [0.0, 2.5], window=5) == [0.0, 0.0]


def test_no_nan_where_frames_coincide() -> None:
    assert gradient([0, 1, 50], [1.0, 1.0, 1.0], window=5) == [0.0, 0.0, 0.0]
    torn = gradient([0, 1, 50], [1.0, 1.0, 1.5], window=5)
    assert torn[0] > 0 > torn[2]


def test_a_unit_makes_the_balance_independent_of_the_working_rate() -> None:
    """The same recording at twice the rate, with window and unit in the same seconds, costs the same."""
    embeddings = torch.randn(2, 8, 4, generator=torch.Generator().manual_seed(0))
    seconds = torch.arange(8.0).repeat(2, 1) * 5
    slow = ContrastiveLoss(window=10, gamma_unit=1)(embeddings, seconds, torch.ones(2))
    fast = ContrastiveLoss(window=20, gamma_unit=2)(embeddings, seconds * 2, torch.ones(2))
    torch.testing.assert_close(slow, fast)
    literal = ContrastiveLoss(window=20)(embeddings, seconds * 2, torch.ones(2))
    assert literal > 3 * slow

"""LAV and LAV + TCC against loops over pairs, by finite differences, and for what they are for."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from guide.errors import InputError
from offline.losses.cidm import ContrastiveLoss
from offline.losses.cycle import CycleLoss
from offline.losses.lav import LavCycleLoss, LavLoss
from offline.losses.literal import literal_cidm, literal_tcc

LOSS = LavLoss(ContrastiveLoss(window=6, gamma_unit=6), xi=0.5, softness=0.2)


def batch_of(videos: int = 3, frames: int = 5, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    embeddings = torch.randn(videos, frames, 4, generator=generator, dtype=torch.float64)
    steps = torch.stack([torch.randperm(30, generator=generator)[:frames] for _ in range(videos)]).double()
    return embeddings, steps, torch.full((videos,), 30.0, dtype=torch.float64)


def literal_softdtw(first: Tensor, second: Tensor, gamma: float) -> Tensor:
    """The recursion cell by cell."""
    table: dict[tuple[int, int], Tensor] = {(-1, -1): first.new_zeros(())}
    for i in range(len(first)):
        for j in range(len(second)):
            before = [table[cell] for cell in ((i - 1, j - 1), (i - 1, j), (i, j - 1)) if cell in table]
            best = -gamma * torch.log(torch.stack([torch.exp(-value / gamma) for value in before]).sum())
            table[i, j] = ((first[i] - second[j]) ** 2).sum() + best
    return table[len(first) - 1, len(second) - 1]


def literal_lav(loss: LavLoss, embeddings: Tensor, steps: Tensor) -> Tensor:
    unit = torch.stack([torch.stack([frame / frame.norm() for frame in video]) for video in embeddings])
    in_time = [video[at.argsort()] for video, at in zip(unit, steps, strict=True)]
    pairs = [(a, b) for a in range(len(unit)) for b in range(len(unit)) if a != b]
    total = torch.stack([literal_softdtw(in_time[a], in_time[b], loss.softness) for a, b in pairs]).mean()
    return total / (2 * unit.shape[1]) + loss.xi * literal_cidm(loss.cidm, unit, steps)


@pytest.mark.parametrize("videos", [2, 3, 5])
def test_lav_equals_the_literal_reading(videos: int) -> None:
    embeddings, steps, lengths = batch_of(videos)
    torch.testing.assert_close(LOSS(embeddings, steps, lengths), literal_lav(LOSS, embeddings, steps))


def test_lav_with_tcc_equals_the_literal_reading() -> None:
    embeddings, steps, lengths = batch_of(4)
    cycle = CycleLoss(variance_weight=0.2)
    found = LavCycleLoss(LOSS, cycle, tcc_weight=0.7)(embeddings, steps, lengths)
    expected = literal_lav(LOSS, embeddings, steps) + 0.7 * literal_tcc(cycle, embeddings, steps, lengths)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("loss", [LOSS, LavCycleLoss(LOSS)], ids=["lav", "lav+tcc"])
def test_gradient_by_finite_differences(loss: LavLoss | LavCycleLoss) -> None:
    embeddings, steps, lengths = batch_of()
    assert torch.autograd.gradcheck(lambda e: loss(e, steps, lengths), embeddings.requires_grad_())


def arc(*angles: float) -> Tensor:
    turn = torch.tensor(angles)
    return torch.stack([turn.cos(), turn.sin()], dim=1)


def test_an_alignment_costs_less_than_a_shift_and_a_shift_less_than_another_order() -> None:
    steps, lengths = torch.arange(5.0).repeat(2, 1), torch.full((2,), 5.0)
    first = arc(0.0, 0.5, 1.0, 1.5, 2.0)
    others = [first, arc(1.0, 1.5, 2.0, 2.5, 3.0), arc(2.0, 1.0, 0.0, 1.5, 0.5)]
    values = [float(LavLoss(xi=0.0)(torch.stack([first, other]), steps, lengths)) for other in others]
    assert values == sorted(values)
    assert len(set(values)) == 3


def test_the_length_of_the_embeddings_does_not_matter_to_lav() -> None:
    embeddings, steps, lengths = batch_of()
    torch.testing.assert_close(LOSS(embeddings * 7, steps, lengths), LOSS(embeddings, steps, lengths))
    tcc = LavCycleLoss(LOSS)
    assert not math.isclose(float(tcc(embeddings * 7, steps, lengths)), float(tcc(embeddings, steps, lengths)))


@pytest.mark.parametrize("part", ["alignment", "cidm", "tcc"])
def test_gradient_flows_through_each_term(part: str) -> None:
    embeddings, steps, lengths = batch_of()
    embeddings.requires_grad_()
    whole = LavCycleLoss(LOSS)(embeddings, steps, lengths)
    without = {
        "alignment": LOSS.xi * LOSS.cidm(torch.nn.functional.normalize(embeddings, dim=-1), steps, lengths)
        + CycleLoss()(embeddings, steps, lengths),
        "cidm": LavCycleLoss(LavLoss(LOSS.cidm, 0.0, LOSS.softness))(embeddings, steps, lengths),
        "tcc": LOSS(embeddings, steps, lengths),
    }[part]
    (gradient,) = torch.autograd.grad(whole - without, embeddings)
    assert (gradient.abs().sum(dim=-1) > 1e-9).all()


def test_one_recording_is_refused() -> None:
    with pytest.raises(InputError, match="compares recordings"):
        LavLoss()(torch.ones(1, 4, 3), torch.zeros(1, 4), torch.ones(1))

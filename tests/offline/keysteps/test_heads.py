"""Heads side by side: as many networks trained alone, and trained indeed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import linear

from guide.domain import Features, Times
from offline.keysteps.heads import (
    Heads,
    HeadsSettings,
    Sampler,
    head_loss,
    input_directions,
    total_loss,
    train_heads,
)
from offline.losses.cidm import ContrastiveLoss
from offline.losses.cycle import CycleLoss
from offline.losses.tc3i import Tc3iLoss

SMALL = HeadsSettings(heads=3, directions=4, hidden=16, embedding=5, videos=3, frames=8, iterations=40)
STEP_S = 10.0


def recordings(lengths: tuple[int, ...] = (40, 50, 60, 45), width: int = 6) -> tuple[list[Features], list[Times]]:
    """Four looks one after the other, and noise."""
    rng = np.random.default_rng(0)
    looks = rng.normal(0, 2, (4, width))
    made = [looks[np.arange(each) * 4 // each] + rng.normal(0, 0.5, (each, width)) for each in lengths]
    return [each.astype(np.float32) for each in made], [np.arange(each) / 2.0 for each in lengths]


def sampler(settings: HeadsSettings = SMALL, seed: int = 0) -> Sampler:
    features, times = recordings()
    return Sampler([torch.from_numpy(each) for each in features], times, seed, settings)


def alone(heads: Heads, number: int, inputs: Tensor) -> Tensor:
    """One head as torch's own linear layers compute it."""
    hidden = linear(inputs, heads.first[number].T, heads.first_bias[number, 0]).relu()
    return linear(hidden, heads.second[number].T, heads.second_bias[number, 0])


def test_the_loss_and_its_gradients_are_those_of_every_head_alone() -> None:
    made = sampler()
    heads = Heads(SMALL, 6, torch.Generator().manual_seed(1)).double()
    inputs, moments, lengths = (each.double() for each in made.draw())
    loss = Tc3iLoss(CycleLoss(trust="close"), ContrastiveLoss(5.0, 2.0, 12.0), SMALL.xi, SMALL.tcc_weight)
    together = total_loss(loss, heads, inputs, moments, lengths)
    found = torch.autograd.grad(together, list(heads.parameters()))
    one_by_one = [loss(alone(heads, n, inputs[n]), moments[n], lengths[n]) for n in range(SMALL.heads)]
    torch.testing.assert_close(together, torch.stack(one_by_one).sum(), rtol=1e-12, atol=1e-12)
    for n, own in enumerate(one_by_one):
        expected = torch.autograd.grad(own, list(heads.parameters()), retain_graph=True)
        for all_heads, one in zip(found, expected, strict=True):
            torch.testing.assert_close(all_heads[n], one[n], rtol=1e-9, atol=1e-12)
            assert not one[[other for other in range(SMALL.heads) if other != n]].any()


def test_training_lowers_the_loss_of_every_head() -> None:
    features, times = recordings()
    held_out = Sampler([torch.zeros(len(each), 1) for each in features], times, 5, SMALL)
    loss = head_loss(held_out, STEP_S, SMALL)

    def losses(iterations: int) -> list[float]:
        settings = replace(SMALL, iterations=iterations)
        trained = train_heads(features, times, STEP_S, 0, settings)
        rows = Sampler([trained.inputs(each) for each in features], times, 5, settings)
        inputs, moments, lengths = rows.draw()
        with torch.inference_mode():
            return [float(loss(alone(trained.heads, n, inputs[n]), moments[n], lengths[n])) for n in range(SMALL.heads)]

    for before, after in zip(losses(0), losses(40), strict=True):
        assert after < 0.8 * before


def test_the_same_seed_gives_the_same_heads() -> None:
    features, times = recordings()
    one, again, other = (train_heads(features, times, STEP_S, seed, SMALL).embed(features[0]) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one, again)
    assert one.shape == (len(features[0]), SMALL.heads * SMALL.embedding)
    assert one.dtype == np.float32
    assert (one != other).any()


def test_heads_differ_from_each_other() -> None:
    features, times = recordings()
    found = train_heads(features, times, STEP_S, 0, SMALL).embed(features[0])
    first, second, _ = np.split(found, SMALL.heads, axis=1)
    assert np.abs(first - second).max() > 0.1


def test_frames_are_drawn_in_order_from_different_recordings() -> None:
    made = sampler()
    inputs, moments, lengths = made.draw()
    assert inputs.shape == (3, 3, 8, 6)
    assert (moments.diff(dim=-1) >= 0).all()
    assert (moments <= lengths[..., None]).all()
    assert all(len(set(own.tolist())) == 3 for own in lengths)  # all recordings are of different length
    features, _ = recordings()
    for video, moment, length in zip(inputs[0], moments[0], lengths[0], strict=True):
        source = next(each for each in features if (len(each) - 1) / 2.0 == float(length))
        np.testing.assert_array_equal(video.numpy(), source[(2 * moment).long().numpy()])


@pytest.mark.parametrize("lengths", [(30,), (30, 20), (1, 30, 30), (1, 1)])
def test_few_and_short_recordings_give_numbers(lengths: tuple[int, ...]) -> None:
    features, times = recordings(lengths)
    trained = train_heads(features, times, 2.0, 0, SMALL)
    assert all(np.isfinite(trained.embed(each)).all() for each in features)


def test_a_single_recording_is_trained_by_c_idm_alone() -> None:
    made = Sampler([torch.zeros(9, 2)], [np.arange(9.0)], 0, SMALL)
    assert head_loss(made, 2.0, SMALL) == ContrastiveLoss(1.0, 2.0, 4.0)
    assert isinstance(head_loss(sampler(), 2.0, SMALL), Tc3iLoss)


def test_inputs_have_unit_spread_and_no_mean() -> None:
    features, _ = recordings()
    basis = input_directions(features, 4)
    assert basis.shape == (6, 4)
    units = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in features]
    seen = np.concatenate([(each - each.mean(0)) @ basis for each in units])
    assert np.abs(seen.mean(0)).max() < 1e-6
    assert seen.std() == pytest.approx(1.0, rel=1e-6)


def test_features_that_never_change_are_no_error() -> None:
    still = [np.ones((20, 3), np.float32)] * 3
    trained = train_heads(still, [np.arange(20.0)] * 3, 5.0, 0, SMALL)
    assert np.isfinite(trained.embed(still[0])).all()

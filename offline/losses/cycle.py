"""Temporal cycle consistency (TCC, eq. 1-3): going to another recording and back should end where it began."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from offline.losses.batch import checked_batch, ordered_pairs

PositionKind = Literal["fraction", "index"]


@dataclass(frozen=True, slots=True)
class CycleLoss:
    """TCC between all ordered pairs of the recordings in a batch.

    The paper sums over frames; this is the mean over frames and pairs, so that the value, and with it the balance
    against other terms, depends neither on how many frames are sampled nor on how many recordings share a batch.

    >>> same = torch.arange(8.0).reshape(1, 8, 1).repeat(2, 1, 1)
    >>> steps, lengths = torch.arange(8.0).repeat(2, 1), torch.tensor([8.0, 8.0])
    >>> bool(CycleLoss()(same, steps, lengths) < CycleLoss()(same * 0, steps, lengths))
    True
    """

    temperature: float = 1.0
    """Divides squared distances before the softmax; eq. 1-2 have 1.

    It sets the scale of the embedding: at 1, frames that keep C-IDM's margin of 2 are told apart (e^-4). The released
    code divides by 0.1 D = 12.8, where they are not, and TCC and C-IDM then pull towards different scales.
    """
    is_per_dimension: bool = False
    """Divide by D as well, as the released code does."""
    variance_weight: float = 0.1
    """lambda of eq. 3; the paper gives no value, its released code has 0.001, and certain returns learn better."""
    position: PositionKind = "fraction"
    """Where a frame lies: its step divided by the recording's length, or its rank among the sampled frames."""
    variance_floor: float = 1e-4
    """Added to sigma^2, so that a certain return neither divides by 0 nor rewards log(sigma) without end."""

    def __call__(self, embeddings: Tensor, steps: Tensor, lengths: Tensor) -> Tensor:
        """Give the mean of eq. 3 for embeddings (V, N, D), V >= 2, steps (V, N) and lengths (V,)."""
        embeddings, steps, lengths = checked_batch(embeddings, steps, lengths, at_least=2)
        positions = self._positions(steps, lengths)
        first, second = ordered_pairs(len(embeddings), embeddings.device)
        # Half precision cannot tell neighbouring frames apart in eq. 1, so mixed precision ends here.
        with torch.autocast(embeddings.device.type, enabled=False):
            beta = self.cycle(embeddings[first], embeddings[second])
            return self._return_error(beta, positions[first]).mean()

    def cycle(self, start: Tensor, other: Tensor) -> Tensor:
        """Give beta (P, N, N), eq. 1-2: where each frame of `start` (P, N, D) returns to after a visit to `other`."""
        alpha = self._similarity(start, other).softmax(-1)
        neighbour = alpha @ other
        return self._similarity(neighbour, start).softmax(-1)

    def _similarity(self, queries: Tensor, keys: Tensor) -> Tensor:
        # -|q - k|^2 without its |q|^2, which is the same for all keys and leaves a softmax over them unchanged
        scale = self.temperature * (queries.shape[-1] if self.is_per_dimension else 1)
        return (2 * queries @ keys.transpose(-1, -2) - keys.square().sum(-1)[..., None, :]) / scale

    def _positions(self, steps: Tensor, lengths: Tensor) -> Tensor:
        if self.position == "fraction":
            return steps / lengths[:, None]
        return steps.argsort(dim=1).argsort(dim=1).to(steps)

    def _return_error(self, beta: Tensor, positions: Tensor) -> Tensor:
        mu = (beta * positions[:, None, :]).sum(-1)
        variance = (beta * (positions[:, None, :] - mu[..., None]).square()).sum(-1) + self.variance_floor
        # lambda log(sigma) = lambda / 2 log(sigma^2), eq. 3
        return (positions - mu).square() / variance + self.variance_weight / 2 * variance.log()

"""Temporal cycle consistency (TCC, eq. 1-3): going to another recording and back should end where it began."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from offline.losses.batch import checked_batch, ordered_pairs, paired

TrustKind = Literal["all", "close"]


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
    variance_weight: float = 0.1
    """lambda of eq. 3; the paper gives no value, its released code has 0.001, and certain returns learn better."""
    variance_floor: float = 1e-4
    """Added to sigma^2, so that a certain return neither divides by 0 nor rewards log(sigma) without end."""
    trust: TrustKind = "all"
    """Which frames the other recording is asked about.

    `all`: every frame alike, as in the paper. `close`: a frame counts less, the farther its soft neighbour lies from
    it, e^-1 at distance 1. What another person did elsewhere, twice or not at all has no counterpart there, and a
    return can only be learned from where a frame lies.
    """

    def __call__(self, embeddings: Tensor, steps: Tensor, lengths: Tensor) -> Tensor:
        """Give the mean of eq. 3 for embeddings (V, N, D), V >= 2, steps (V, N) and lengths (V,)."""
        embeddings, steps, lengths = checked_batch(embeddings, steps, lengths, at_least=2)
        positions = steps / lengths[:, None]
        first, second = ordered_pairs(len(embeddings), embeddings.device)
        # Half precision cannot tell neighbouring frames apart in eq. 1, so mixed precision ends here.
        with torch.autocast(embeddings.device.type, enabled=False):
            start, other = paired(embeddings, first, second)
            neighbour = self._similarity(start, other).softmax(-1) @ other  # eq. 1
            beta = self._similarity(neighbour, start).softmax(-1)
            error = self._return_error(beta, positions[first])
            return (self._trusted(start, neighbour) * error).mean()

    def _trusted(self, start: Tensor, neighbour: Tensor) -> Tensor | float:
        """Give how much each frame counts, (P, N); no gradient flows here, or doubt would be the cheapest way out."""
        return 1.0 if self.trust == "all" else torch.exp(-(neighbour - start).square().sum(-1).detach())

    def _similarity(self, queries: Tensor, keys: Tensor) -> Tensor:
        # -|q - k|^2 without its |q|^2, which is the same for all keys and leaves a softmax over them unchanged
        return (2 * queries @ keys.transpose(-1, -2) - keys.square().sum(-1)[..., None, :]) / self.temperature

    def _return_error(self, beta: Tensor, positions: Tensor) -> Tensor:
        mu = (beta * positions[:, None, :]).sum(-1)
        variance = (beta * (positions[:, None, :] - mu[..., None]).square()).sum(-1) + self.variance_floor
        # lambda log(sigma) = lambda / 2 log(sigma^2), eq. 3
        return (positions - mu).square() / variance + self.variance_weight / 2 * variance.log()

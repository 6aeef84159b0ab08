"""Temporal cycle consistency (TCC, eq. 1-3): going to another recording and back should end where it began."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from offline.losses.batch import checked_batch, ordered_pairs, paired

PositionKind = Literal["fraction", "index"]
TrustKind = Literal["all", "close", "sure"]


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
    trust: TrustKind = "all"
    """Which frames the other recording is asked about.

    `all`: every frame alike, as in the paper. `close`: a frame counts less, the farther its soft neighbour lies from
    it. `sure`: a frame counts less, the more its visit is spread over the other recording. What another person did
    elsewhere, twice or not at all has no counterpart there, and a return can only be learned from where a frame lies.
    """
    trust_width: float = 1.0
    """At this distance (`close`) or spread (`sure`, as a part of the recording) a frame counts e^-1."""

    def __call__(self, embeddings: Tensor, steps: Tensor, lengths: Tensor) -> Tensor:
        """Give the mean of eq. 3 for embeddings (V, N, D), V >= 2, steps (V, N) and lengths (V,)."""
        embeddings, steps, lengths = checked_batch(embeddings, steps, lengths, at_least=2)
        positions = self._positions(steps, lengths)
        first, second = ordered_pairs(len(embeddings), embeddings.device)
        # Half precision cannot tell neighbouring frames apart in eq. 1, so mixed precision ends here.
        with torch.autocast(embeddings.device.type, enabled=False):
            start, other = paired(embeddings, first, second)
            alpha, neighbour = self._visit(start, other)
            beta = self._similarity(neighbour, start).softmax(-1)
            error = self._return_error(beta, positions[first])
            return (self._trusted(start, neighbour, alpha, positions[second]) * error).mean()

    def _visit(self, start: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
        """Give alpha (P, N, N) and the soft neighbours (P, N, D), eq. 1."""
        alpha = self._similarity(start, other).softmax(-1)
        return alpha, alpha @ other

    def _trusted(self, start: Tensor, neighbour: Tensor, alpha: Tensor, positions: Tensor) -> Tensor | float:
        """Give how much each frame counts, (P, N); no gradient flows here, or doubt would be the cheapest way out."""
        if self.trust == "all":
            return 1.0
        apart = (neighbour - start).square().sum(-1) if self.trust == "close" else _moments(alpha, positions)[1]
        return torch.exp(-apart.detach() / self.trust_width**2)

    def _similarity(self, queries: Tensor, keys: Tensor) -> Tensor:
        # -|q - k|^2 without its |q|^2, which is the same for all keys and leaves a softmax over them unchanged
        scale = self.temperature * (queries.shape[-1] if self.is_per_dimension else 1)
        return (2 * queries @ keys.transpose(-1, -2) - keys.square().sum(-1)[..., None, :]) / scale

    def _positions(self, steps: Tensor, lengths: Tensor) -> Tensor:
        if self.position == "fraction":
            return steps / lengths[:, None]
        return steps.argsort(dim=1).argsort(dim=1).to(steps)

    def _return_error(self, beta: Tensor, positions: Tensor) -> Tensor:
        mu, spread = _moments(beta, positions)
        variance = spread + self.variance_floor
        # lambda log(sigma) = lambda / 2 log(sigma^2), eq. 3
        return (positions - mu).square() / variance + self.variance_weight / 2 * variance.log()


def _moments(weights: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
    """Give mean and variance (P, N) of positions (P, M) under weights (P, N, M)."""
    mean = (weights * positions[:, None, :]).sum(-1)
    return mean, (weights * (positions[:, None, :] - mean[..., None]).square()).sum(-1)

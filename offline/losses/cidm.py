"""Contrastive inverse difference moment (C-IDM, eq. 4): near frames of a recording belong together, far ones apart."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from offline.losses.batch import checked_batch, distances


@dataclass(frozen=True, slots=True)
class ContrastiveLoss:
    """C-IDM of each recording in a batch, the mean over recordings and frame pairs.

    >>> torn = torch.tensor([[[0.0], [5.0]]])  # two neighbouring frames, far apart in the embedding
    >>> float(ContrastiveLoss(window=10)(torn, torch.tensor([[0.0, 1.0]]), torch.tensor([2.0])))
    1.25
    """

    window: float = 300.0
    """sigma: frames at most this many steps apart are neighbours."""
    margin: float = 2.0
    """zeta: frames further apart in time should keep at least this distance in the embedding."""
    gamma_unit: float = 1.0
    """Steps are divided by this before they are squared in gamma; 1 is the paper's form.

    gamma multiplies the far term and divides the near one, with the square of the steps between two frames. At 1 the
    far term of a 10-minute recording weighs 10^5 times the near one: once far frames keep the margin nothing is left
    that pulls neighbours together, and the balance changes with the working rate. Half a recording's length makes
    both terms count, at any rate.
    """

    def __call__(self, embeddings: Tensor, steps: Tensor, lengths: Tensor) -> Tensor:
        """Give the mean of eq. 4 for embeddings (V, N, D), V >= 1, and steps (V, N); the lengths are not needed."""
        embeddings, steps, _ = checked_batch(embeddings, steps, lengths)
        d = distances(embeddings, embeddings)
        apart = (steps[:, :, None] - steps[:, None, :]).abs()
        gamma = (apart / self.gamma_unit).square() + 1
        far = gamma * (self.margin - d).clamp(min=0)
        return torch.where(apart <= self.window, d / gamma, far).mean()

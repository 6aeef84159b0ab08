"""LAV, the paper's rival: soft-DTW between recordings and C-IDM within each, on embeddings of length 1; LAV + TCC."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn.functional import normalize

from offline.losses.batch import checked_batch, distances, paired
from offline.losses.cidm import ContrastiveLoss
from offline.losses.cycle import CycleLoss
from offline.losses.softdtw import soft_dtw


@dataclass(frozen=True, slots=True)
class LavLoss:
    """Soft-DTW of all pairs, per frame, plus xi times C-IDM, both on L2-normalised embeddings.

    >>> turn = torch.linspace(0, 3, 8)
    >>> forth = torch.stack([turn.cos(), turn.sin()], dim=1)
    >>> steps, lengths = torch.arange(8.0).repeat(2, 1), torch.tensor([8.0, 8.0])
    >>> loss = LavLoss(xi=0.0)
    >>> aligned, opposed = torch.stack([forth, forth]), torch.stack([forth, forth.flip(0)])
    >>> bool(loss(aligned, steps, lengths) < loss(opposed, steps, lengths))
    True
    """

    cidm: ContrastiveLoss = field(default_factory=ContrastiveLoss)
    xi: float = 1.0
    """Weight of C-IDM."""
    softness: float = 0.1
    """gamma of soft-DTW: 0 would be the hard minimum."""

    def __call__(self, embeddings: Tensor, steps: Tensor, lengths: Tensor) -> Tensor:
        """Give the loss of embeddings (V, N, D), V >= 2, steps (V, N) and lengths (V,)."""
        embeddings, steps, lengths = checked_batch(embeddings, steps, lengths, at_least=2)
        unit = normalize(embeddings, dim=-1)
        return self.alignment(unit, steps) + self.xi * self.cidm(unit, steps, lengths)

    def alignment(self, unit: Tensor, steps: Tensor) -> Tensor:
        """Give soft-DTW of squared distances divided by the frames of both recordings, the mean over pairs.

        The value is symmetric, so each unordered pair is computed once. A path is as long as the two sequences: the
        sum over it would make the balance against C-IDM depend on the number of sampled frames.
        """
        order = steps.argsort(dim=1)[..., None].expand_as(unit)
        in_time = unit.gather(1, order)  # an alignment is monotone in time, whatever order the frames were drawn in
        first, second = torch.triu_indices(len(unit), len(unit), offset=1, device=unit.device)
        costs = distances(*paired(in_time, first, second)).square()
        return soft_dtw(costs, self.softness).mean() / (2 * unit.shape[1])


@dataclass(frozen=True, slots=True)
class LavCycleLoss:
    """LAV on normalised embeddings plus TCC on the embeddings as they are: the paper's LAV + TCC.

    >>> batch = torch.ones(2, 4, 3), torch.arange(4.0).repeat(2, 1), torch.full((2,), 4.0)
    >>> bool(LavCycleLoss(tcc_weight=0.0)(*batch) == LavLoss()(*batch))
    True
    """

    lav: LavLoss = field(default_factory=LavLoss)
    cycle: CycleLoss = field(default_factory=CycleLoss)
    tcc_weight: float = 1.0

    def __call__(self, embeddings: Tensor, steps: Tensor, lengths: Tensor) -> Tensor:
        """Give the loss of embeddings (V, N, D), V >= 2, steps (V, N) and lengths (V,)."""
        return self.lav(embeddings, steps, lengths) + self.tcc_weight * self.cycle(embeddings, steps, lengths)

"""TC3I (eq. 5): cycle consistency across recordings and C-IDM within each."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor

from offline.losses.cidm import ContrastiveLoss
from offline.losses.cycle import CycleLoss


@dataclass(frozen=True, slots=True)
class Tc3iLoss:
    """TCC plus xi times C-IDM, each as a mean.

    Eq. 5 sums N frames in one term and N^2 frame pairs in the other, so its balance shifts with the number of sampled
    frames; as means the two terms can be weighed against each other once.

    >>> import torch
    >>> batch = torch.zeros(2, 4, 3), torch.arange(4.0).repeat(2, 1), torch.full((2,), 4.0)
    >>> without = Tc3iLoss(tcc_weight=0.0, cidm=ContrastiveLoss(window=1))
    >>> bool(without(*batch) == ContrastiveLoss(window=1)(*batch))
    True
    """

    cycle: CycleLoss = field(default_factory=CycleLoss)
    cidm: ContrastiveLoss = field(default_factory=ContrastiveLoss)
    xi: float = 1.0
    """Weight of C-IDM in eq. 5."""
    tcc_weight: float = 1.0
    """Weight of the cycle term; 1 is the paper's form."""

    def __call__(self, embeddings: Tensor, steps: Tensor, lengths: Tensor) -> Tensor:
        """Give eq. 5 as means, for embeddings (V, N, D), V >= 2, steps (V, N) and lengths (V,)."""
        cycle, cidm = self.terms(embeddings, steps, lengths)
        return self.tcc_weight * cycle + self.xi * cidm

    def terms(self, embeddings: Tensor, steps: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Give the two terms apart, unweighted."""
        return self.cycle(embeddings, steps, lengths), self.cidm(embeddings, steps, lengths)

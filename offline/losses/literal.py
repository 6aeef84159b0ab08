"""TC3I read off the page: one pair, one frame at a time. The oracle of the tests and the slow side of the bench."""

from __future__ import annotations

import torch
from torch import Tensor

from offline.losses.cidm import ContrastiveLoss
from offline.losses.cycle import CycleLoss
from offline.losses.tc3i import Tc3iLoss


def literal_tc3i(loss: Tc3iLoss, embeddings: Tensor, steps: Tensor, lengths: Tensor) -> Tensor:
    """Give eq. 5 as means for embeddings (V, N, D): a loop over pairs, in it loops over frames."""
    return loss.tcc_weight * literal_tcc(loss.cycle, embeddings, steps, lengths) + loss.xi * literal_cidm(
        loss.cidm, embeddings, steps
    )


def literal_tcc(loss: CycleLoss, embeddings: Tensor, steps: Tensor, lengths: Tensor) -> Tensor:
    """Give the mean of eq. 3 over all frames of all ordered pairs of recordings."""
    total: list[Tensor] = []
    for a, first in enumerate(embeddings):
        where = steps[a] / lengths[a]
        for b, second in enumerate(embeddings):
            if a != b:
                total += [_cycle_error(loss, first, second, where, i) for i in range(len(first))]
    return torch.stack(total).mean()


def literal_cidm(loss: ContrastiveLoss, embeddings: Tensor, steps: Tensor) -> Tensor:
    """Give the mean of eq. 4 over all frame pairs of all recordings."""
    total: list[Tensor] = []
    for video, at in zip(embeddings, steps, strict=True):
        total += [_pair_errors(loss, video, at, i).mean() for i in range(len(video))]
    return torch.stack(total).mean()


def _cycle_error(loss: CycleLoss, first: Tensor, second: Tensor, where: Tensor, i: int) -> Tensor:
    # eq. 1
    similarity = torch.exp(-((first[i] - second) ** 2).sum(1) / loss.temperature)
    alpha = similarity / similarity.sum()
    neighbour = (alpha[:, None] * second).sum(0)
    # eq. 2
    similarity = torch.exp(-((neighbour - first) ** 2).sum(1) / loss.temperature)
    beta = similarity / similarity.sum()
    # eq. 3
    mu = (beta * where).sum()
    variance = (beta * (where - mu) ** 2).sum() + loss.variance_floor
    error: Tensor = (where[i] - mu) ** 2 / variance + loss.variance_weight * torch.log(torch.sqrt(variance))
    if loss.trust == "all":
        return error
    return torch.exp(-((neighbour - first[i]) ** 2).sum().detach()) * error


def _pair_errors(loss: ContrastiveLoss, video: Tensor, at: Tensor, i: int) -> Tensor:
    d = torch.linalg.vector_norm(video[i] - video, dim=1)
    gamma = ((at[i] - at) / loss.gamma_unit) ** 2 + 1
    near = ((at[i] - at).abs() <= loss.window).to(d)
    errors: Tensor = (1 - near) * gamma * torch.clamp(loss.margin - d, min=0) + near * d / gamma
    return errors

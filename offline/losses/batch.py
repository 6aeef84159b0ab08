"""What every loss is given: a batch of recordings, a few frames of each, and where those frames lie."""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol

import torch
from torch import Tensor

from guide.errors import InputError


class Loss(Protocol):
    """A number to make small, from embeddings and the positions of their frames."""

    def __call__(self, embeddings: Tensor, steps: Tensor, lengths: Tensor) -> Tensor:
        """Give the loss () of embeddings (V, N, D), frame positions (V, N) and recording lengths (V,) in frames."""
        ...


def checked_batch(
    embeddings: Tensor, steps: Tensor, lengths: Tensor, at_least: int = 1
) -> tuple[Tensor, Tensor, Tensor]:
    """Give the batch in one floating type of at least 32 bits, on one device; raise InputError if it does not fit."""
    if embeddings.ndim != 3 or steps.shape != embeddings.shape[:2] or lengths.shape != embeddings.shape[:1]:
        raise InputError(
            "a loss needs embeddings (V, N, D), steps (V, N) and lengths (V,), got "
            f"{tuple(embeddings.shape)}, {tuple(steps.shape)} and {tuple(lengths.shape)}: "
            "sample the same number of frames from every recording."
        )
    if len(embeddings) < at_least:
        raise InputError(
            f"this loss compares recordings and needs at least {at_least} in a batch, got {len(embeddings)}: "
            "add recordings, or choose the loss cidm, which looks at one at a time."
        )
    if embeddings.dtype in (torch.float16, torch.bfloat16):
        embeddings = embeddings.float()
    return embeddings, steps.to(embeddings), lengths.to(embeddings)


@lru_cache(maxsize=8)  # sending them anew would make the host wait for the GPU in the middle of every step
def ordered_pairs(count: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Give the two index vectors (P,) of all P = count (count - 1) ordered pairs of different recordings."""
    with torch.inference_mode(False):  # kept ones must serve training, whoever asked first
        first, second = torch.meshgrid(torch.arange(count), torch.arange(count), indexing="ij")
        is_pair = first != second
        return first[is_pair].to(device), second[is_pair].to(device)


def paired(values: Tensor, first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    """Give the entries (P, ...) of both recordings of each pair, out of values (V, ...).

    By `index_select`: the gradient of plain indexing is summed on a CPU in whatever order its threads come, so that
    two trainings on a busy machine would differ in their last digits.
    """
    return values.index_select(0, first), values.index_select(0, second)


def distances(first: Tensor, second: Tensor) -> Tensor:
    """Give Euclidean distances (..., N, M) between the rows of (..., N, D) and (..., M, D).

    Differences are taken before they are squared: the shorter way through inner products loses half the digits for
    neighbouring frames. The gradient at distance 0 is 0, never NaN.
    """
    return torch.cdist(first, second, compute_mode="donot_use_mm_for_euclid_dist")

"""A loss as a CUDA graph: launching its hundred small kernels one by one takes longer than running them."""

from __future__ import annotations

import logging
from typing import cast

import torch
from torch import nn

from offline.batches import Batch
from offline.losses.batch import Loss

log = logging.getLogger(__name__)


def with_cuda_graph(loss: Loss, model: nn.Module, batch: Batch) -> Loss:
    """The same loss for batches shaped like `batch`, recorded as a CUDA graph; the loss itself where that fails.

    Nothing else may use the GPU during capture. The loss it returns overwrites its result with each call.
    """
    with torch.no_grad():
        width = model.eval()(batch.inputs[:1, :1].flatten(0, 1)).shape[-1]
    embeddings = torch.zeros(*batch.steps.shape, width, device=batch.steps.device, requires_grad=True)
    sample = (embeddings, batch.steps.float(), batch.lengths.float())
    try:
        return cast(Loss, torch.cuda.make_graphed_callables(loss, sample))
    except RuntimeError as error:  # a loss that synchronises with the host cannot be captured
        log.info(
            "the loss is not captured as a CUDA graph (%s): steps take a little longer.", str(error).splitlines()[0]
        )
        return loss

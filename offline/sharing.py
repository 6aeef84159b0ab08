"""One batch shared among processes: its rows dealt out, its embeddings gathered, its statistics those of the whole."""

from __future__ import annotations

import io
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.modules.batchnorm import _BatchNorm


def my_rows(rows: Tensor) -> Tensor:
    """This process's share of the batch's rows (N, ...): consecutive ones, as many for each as can be."""
    return rows.tensor_split(dist.get_world_size())[dist.get_rank()]


def gather_rows(mine: Tensor, count: int) -> Tensor:
    """All `count` rows in their first order, from every process's share; the gradient goes home to each share."""
    sizes = [len(part) for part in torch.empty(count).tensor_split(dist.get_world_size())]
    padded = functional.pad(mine, (0, 0, 0, max(sizes) - len(mine)))
    parts = _Gather.apply(padded)
    return torch.cat([part[:size] for part, size in zip(parts, sizes, strict=True)])


class SharedNorm(nn.Module):
    """A batch norm whose mean and spread are those of the whole batch, not of one process's share.

    It keeps the weights and buffers of the norm it stands for, so a checkpoint fits either.

    >>> norm = SharedNorm(nn.BatchNorm1d(3)).eval()
    >>> sorted(norm.state_dict()) == sorted(nn.BatchNorm1d(3).state_dict())
    True
    """

    running_mean: Tensor
    running_var: Tensor
    num_batches_tracked: Tensor

    def __init__(self, norm: _BatchNorm) -> None:
        super().__init__()
        self.weight, self.bias = norm.weight, norm.bias
        self.eps, self.momentum = norm.eps, norm.momentum or 0.0
        for name, value in norm.named_buffers():
            self.register_buffer(name, value)

    def forward(self, rows: Tensor) -> Tensor:
        if not self.training:
            return functional.batch_norm(
                rows, self.running_mean, self.running_var, self.weight, self.bias, False, 0.0, self.eps
            )
        values = rows.float()
        axes = [axis for axis in range(values.ndim) if axis != 1]
        shape = [1, -1] + [1] * (values.ndim - 2)
        count = _Total.apply(values.new_tensor([values.numel() / values.shape[1]]))
        mean = _Total.apply(values.sum(axes)) / count
        centred = values - mean.reshape(shape)
        variance = _Total.apply(centred.square().sum(axes)) / count
        self._remember(mean.detach(), (variance * count / (count - 1).clamp(min=1)).detach())
        scale = self.weight / torch.sqrt(variance + self.eps)
        normed: Tensor = centred * scale.reshape(shape) + self.bias.reshape(shape)
        return normed.to(rows.dtype)

    @torch.no_grad()
    def _remember(self, mean: Tensor, variance: Tensor) -> None:
        self.running_mean.lerp_(mean, self.momentum)
        self.running_var.lerp_(variance, self.momentum)
        self.num_batches_tracked += 1


def share_norms(module: nn.Module) -> nn.Module:
    """Puts a SharedNorm in the place of every batch norm inside `module`."""
    for name, child in module.named_children():
        if isinstance(child, _BatchNorm):
            setattr(module, name, SharedNorm(child))
        else:
            share_norms(child)
    return module


def share_state(state: dict[str, Any] | None, device: torch.device) -> dict[str, Any] | None:
    """What the first process has, on all of them: a machine without its disk continues from the same place."""
    stream = io.BytesIO()
    if state is not None:
        torch.save(state, stream)
    size = torch.tensor([stream.tell()], device=device)
    dist.broadcast(size, 0)
    if not int(size):
        return None
    content = torch.zeros(int(size), dtype=torch.uint8, device=device)
    if dist.get_rank() == 0:
        content.copy_(torch.frombuffer(bytearray(stream.getvalue()), dtype=torch.uint8))
    dist.broadcast(content, 0)
    whole: dict[str, Any] = torch.load(
        io.BytesIO(content.cpu().numpy().tobytes()), map_location=device, weights_only=True
    )
    return whole


class _Gather(torch.autograd.Function):
    """The tensors of all processes; the gradient of each comes home from every process's loss."""

    @staticmethod
    def forward(ctx: Any, mine: Tensor) -> tuple[Tensor, ...]:
        parts = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, mine.contiguous())
        return tuple(parts)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        whole = torch.stack(gradients)
        dist.all_reduce(whole)
        return whole[dist.get_rank()]


class _Total(torch.autograd.Function):
    """The sum of every process's tensor; each has a part in every process's loss."""

    @staticmethod
    def forward(ctx: Any, mine: Tensor) -> Tensor:
        total = mine.clone()
        dist.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        total = gradient.clone()
        dist.all_reduce(total)
        return total

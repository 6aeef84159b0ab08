"""The head keeps time and channels apart, sees the order of its context, and exports to ONNX."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from torch import Tensor, nn

from guide.errors import InputError
from offline.model import ConvHead, FeatureHead, Head, HeadSettings, build_head

TINY = HeadSettings(channels=6, width=8)
CHEAP = HeadSettings(channels=6, width=8, bottleneck=4, pool=2)


def made(head: Head, seed: int = 0) -> Head:
    """Give the head with seeded weights and batch norms that are not the identity."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for value in [*head.parameters(), *head.buffers()]:
            if value.is_floating_point():
                value.copy_(torch.rand(value.shape, generator=generator) * 0.5 + (0.1 if value.ndim == 1 else -0.25))
    return head.eval()


def context_of(head: Head, batch: int, frames: int = 2, seed: int = 1) -> Tensor:
    shape = (batch, frames, 6, 8, 8) if isinstance(head, ConvHead) else (batch, frames, 6)
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


HEADS = [ConvHead(TINY), ConvHead(CHEAP), FeatureHead(TINY)]


@pytest.mark.parametrize("head", HEADS, ids=["conv", "cheap conv", "feature"])
@pytest.mark.parametrize("frames", [1, 2, 3, 5])
def test_gives_one_embedding_for_any_context(head: Head, frames: int) -> None:
    with torch.no_grad():
        assert made(head)(context_of(head, 3, frames)).shape == (3, 128)


@pytest.mark.parametrize("head", [ConvHead(TINY), ConvHead(CHEAP)], ids=["conv", "cheap conv"])
def test_exchanging_the_context_frames_changes_the_embedding(head: Head) -> None:
    context = context_of(head, 2)
    with torch.no_grad():
        forth, back = made(head)(context), head(context.flip(1))
    assert (forth - back).abs().amax() > 1e-3


@pytest.mark.parametrize("head", HEADS, ids=["conv", "cheap conv", "feature"])
def test_embeddings_of_a_batch_do_not_depend_on_each_other(head: Head) -> None:
    context = context_of(head, 3)
    with torch.no_grad():
        together = made(head)(context)
        alone = torch.cat([head(one[None]) for one in context])
    torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-5)


def transparent(head: Head, channel: int) -> Head:
    """Give the head with weights that hand on one input channel at the current frame, and nothing else.

    The convolutions copy that channel without touching neighbours in time or space, batch norms and linear layers pass
    it on, so the embedding's first value is that channel's largest value over all context frames.
    """
    with torch.no_grad():
        for layer in head.modules():
            if isinstance(layer, nn.Conv3d | nn.Conv1d | nn.Linear):
                layer.weight.zero_()
                if layer.bias is not None:
                    layer.bias.zero_()
                middle = (1,) * (layer.weight.ndim - 2)
                source = channel if layer.weight.shape[1] == head.settings.channels else 0
                layer.weight[(0, source, *middle)] = 1.0
    return head.eval()


def keeps_apart(head: Head, channel: int) -> bool:
    """Say whether a head that hands on one channel sees that channel of all frames, and no other channel."""
    context = torch.zeros_like(context_of(head, 1, frames=3))
    context[0, :, channel] = torch.tensor([1.0, 5.0, 3.0]).reshape(3, *[1] * (context.ndim - 3))
    with torch.no_grad():
        seen = float(transparent(head, channel)(context)[0, 0])
        others = [float(head(context.roll(by, dims=2))[0, 0]) for by in range(1, 6)]
    return abs(seen - 5.0) < 1e-3 and max(others) == 0.0


@pytest.mark.parametrize("head", [ConvHead(TINY), FeatureHead(TINY)], ids=["conv", "feature"])
def test_time_and_channels_are_not_mixed(head: Head) -> None:
    assert all(keeps_apart(head, channel) for channel in range(6))


class MixingHead(ConvHead):
    """The known mistake: a `view` of (c, C) as (C, c), which has the right shape and the wrong contents."""

    def forward(self, context: Tensor) -> Tensor:
        count, frames, channels = context.shape[:3]
        mixed = context.reshape(count, channels, frames, *context.shape[3:])
        return super().forward(mixed.transpose(1, 2))


def test_a_view_without_transpose_would_be_caught() -> None:
    assert not all(keeps_apart(MixingHead(TINY), channel) for channel in range(6))


def test_convolution_over_time_follows_the_order_of_the_frames() -> None:
    """With a kernel that looks one frame back, the current frame (the last) adds to the one before it."""
    head = transparent(ConvHead(TINY), 0)
    assert isinstance(head, ConvHead)
    first = head.convolve[0]
    assert isinstance(first, nn.Conv3d)
    with torch.no_grad():
        first.weight[0, 0, :, 1, 1] = torch.tensor([10.0, 1.0, 0.0])  # 10 x the frame before + the frame itself
        context = torch.zeros(1, 2, 6, 8, 8)
        context[0, 0, 0], context[0, 1, 0] = 1.0, 2.0
        assert float(head(context)[0, 0]) == pytest.approx(12.0, abs=1e-2)
        assert float(head(context.flip(1))[0, 0]) == pytest.approx(21.0, abs=1e-2)


def test_the_paper_preset_is_the_default() -> None:
    settings = HeadSettings()
    assert (settings.channels, settings.width, settings.embedding, settings.dropout) == (1024, 256, 128, 0.1)
    layers = [type(layer).__name__ for layer in ConvHead(TINY).modules() if not list(layer.children())]
    assert layers.count("Conv3d") == 2
    assert layers.count("Linear") == 3
    assert layers.count("Dropout") == 2


@pytest.mark.parametrize("head", HEADS, ids=["conv", "cheap conv", "feature"])
def test_every_weight_gets_a_gradient(head: Head) -> None:
    made(head).train()
    weights = list(head.parameters())
    gradients = torch.autograd.grad(head(context_of(head, 4)).square().sum(), weights)
    assert all(gradient.abs().sum() > 0 for gradient in gradients)


@pytest.mark.parametrize("rank", [0, 2, 4])
def test_other_inputs_are_refused_in_one_sentence(rank: int) -> None:
    with pytest.raises(InputError, match=r"maps .* or feature vectors"):
        build_head(TINY, rank)


def test_the_rank_of_the_input_chooses_the_head() -> None:
    assert isinstance(build_head(TINY, 3), ConvHead)
    assert isinstance(build_head(TINY, 1), FeatureHead)


@pytest.mark.parametrize("head", [ConvHead(CHEAP), FeatureHead(TINY)], ids=["conv", "feature"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
def test_onnx_gives_the_same_embeddings_for_every_batch(head: Head, tmp_path: Path) -> None:
    path = tmp_path / "head.onnx"
    batch = torch.export.Dim("batch")
    torch.onnx.export(
        made(head),
        (context_of(head, 2),),
        str(path),
        dynamo=True,
        input_names=["context"],
        output_names=["embedding"],
        dynamic_shapes=({0: batch},),
        verbose=False,
    )
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    for size in (1, 3):
        context = context_of(head, size, seed=size)
        with torch.no_grad():
            expected = head(context).numpy()
        (found,) = session.run(None, {"context": context.numpy()})
        np.testing.assert_allclose(found, expected, atol=1e-4)

"""Sharing a batch: in a group of one everything is as without a group; two processes are tested with the loop."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch import Tensor, nn

from offline.sharing import SharedNorm, gather_rows, my_rows, share_norms, share_state


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A group of one process."""
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def rows(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0)).requires_grad_()


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(("kind", "shape"), [(nn.BatchNorm1d, (11, 4)), (nn.BatchNorm3d, (5, 4, 2, 3, 3))])
def test_a_shared_norm_is_a_batch_norm(kind: type[nn.BatchNorm1d], shape: tuple[int, ...]) -> None:
    plain, stands_in = kind(shape[1]), kind(shape[1])
    shared = SharedNorm(stands_in)
    one, two = rows(*shape), rows(*shape)
    for _ in range(3):
        expected, got = plain(one), shared(two)
        torch.testing.assert_close(got, expected)
    expected.square().sum().backward()
    got.square().sum().backward()
    torch.testing.assert_close(two.grad, one.grad, atol=1e-5, rtol=1e-4)
    assert shared.weight is stands_in.weight
    for name, value in plain.state_dict().items():
        torch.testing.assert_close(shared.state_dict()[name], value)
    torch.testing.assert_close(shared.eval()(two), plain.eval()(one))


@pytest.mark.usefixtures("alone")
def test_every_norm_inside_is_replaced_and_a_checkpoint_still_fits() -> None:
    inner = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
    model = nn.Sequential(inner, nn.BatchNorm1d(4))
    before = model.state_dict()
    share_norms(model)
    assert isinstance(inner[1], SharedNorm)
    assert isinstance(model[1], SharedNorm)
    model.load_state_dict(before)


@pytest.mark.usefixtures("alone")
def test_rows_come_back_with_their_gradient() -> None:
    whole = rows(7, 3)
    back = gather_rows(my_rows(whole), 7)
    assert torch.equal(back, whole)
    (2 * back).sum().backward()  # type: ignore[no-untyped-call]
    assert torch.equal(whole.grad if whole.grad is not None else whole, torch.full((7, 3), 2.0))


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("state", [None, {"model": {"weight": torch.arange(3.0)}, "iteration": 4}])
def test_a_state_arrives_as_it_was(state: dict[str, object] | None) -> None:
    got = share_state(state, torch.device("cpu"))
    if state is None:
        assert got is None
    else:
        assert got is not None
        assert got["iteration"] == 4
        assert torch.equal(got["model"]["weight"], torch.arange(3.0))

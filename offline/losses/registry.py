"""The losses by the names a user types."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args

from guide.errors import InputError
from offline.losses.batch import Loss
from offline.losses.cidm import ContrastiveLoss
from offline.losses.cycle import CycleLoss
from offline.losses.lav import LavCycleLoss, LavLoss
from offline.losses.tc3i import Tc3iLoss

LossName = Literal["tc3i", "tcc", "cidm", "lav", "lav+tcc"]
LOSS_NAMES: tuple[LossName, ...] = get_args(LossName)


def build_loss(name: str, cycle: CycleLoss, cidm: ContrastiveLoss, xi: float = 1.0, tcc_weight: float = 1.0) -> Loss:
    """Give the loss of that name from its terms; `xi` weighs C-IDM, `tcc_weight` TCC in TC3I.

    Only TC3I trusts some frames more than others: TCC without C-IDM would learn to doubt everything.

    >>> build_loss("cidm", CycleLoss(), ContrastiveLoss(window=60.0)).window
    60.0
    """
    plain, lav = replace(cycle, trust="all"), LavLoss(cidm, xi)
    losses: dict[str, Loss] = {
        "tc3i": Tc3iLoss(cycle, cidm, xi, tcc_weight),
        "tcc": plain,
        "cidm": cidm,
        "lav": lav,
        "lav+tcc": LavCycleLoss(lav, plain),  # the rival as it was published: TC3I's weight is our own
    }
    if name not in losses:
        raise InputError(f"a loss is one of {', '.join(LOSS_NAMES)}, got {name!r}: choose one of these.")
    return losses[name]

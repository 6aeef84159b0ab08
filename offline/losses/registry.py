"""The losses by the names a user types."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

from guide.errors import InputError
from offline.losses.batch import Loss
from offline.losses.cidm import ContrastiveLoss
from offline.losses.cycle import CycleLoss, PositionKind, TrustKind
from offline.losses.lav import LavCycleLoss, LavLoss
from offline.losses.tc3i import Tc3iLoss

LossName = Literal["tc3i", "tcc", "cidm", "lav", "lav+tcc"]
LOSS_NAMES: tuple[LossName, ...] = get_args(LossName)


@dataclass(frozen=True, slots=True)
class LossSettings:
    """Everything any of the losses can be told; each takes what it knows.

    >>> build_loss("cidm", LossSettings(window=60.0)).window
    60.0
    """

    window: float = 300.0
    """C-IDM: neighbours are at most this many frames (at the working rate) apart."""
    margin: float = 2.0
    """C-IDM: the distance far frames should keep."""
    gamma_unit: float = 1.0
    """C-IDM: frames in one unit of temporal distance; 1 is the paper's form, half a recording learns better."""
    xi: float = 1.0
    """Weight of C-IDM beside TCC or soft-DTW."""
    tcc_weight: float = 1.0
    """Weight of TCC in TC3I."""
    temperature: float = 1.0
    """TCC: divides squared distances."""
    is_per_dimension: bool = False
    """TCC: divide squared distances by the embedding's dimension as well."""
    variance_weight: float = 0.1
    """TCC: weight of the variance term."""
    position: PositionKind = "fraction"
    """TCC: position as a fraction of the recording, or as rank among the sampled frames."""
    softness: float = 0.1
    """LAV: how soft the minimum of soft-DTW is."""
    trust: TrustKind = "all"
    """TC3I: which frames TCC counts; TCC without C-IDM counts all, or it would learn to doubt everything."""
    trust_width: float = 1.0
    """TC3I: the distance or spread at which a frame counts e^-1."""


def build_loss(name: str, settings: LossSettings) -> Loss:
    """Give the loss of that name, or raise InputError with the names that exist."""
    cycle = CycleLoss(settings.temperature, settings.is_per_dimension, settings.variance_weight, settings.position)
    cidm = ContrastiveLoss(settings.window, settings.margin, settings.gamma_unit)
    trusting = replace(cycle, trust=settings.trust, trust_width=settings.trust_width)
    lav = LavLoss(cidm, settings.xi, settings.softness)
    losses: dict[str, Loss] = {
        "tc3i": Tc3iLoss(trusting, cidm, settings.xi, settings.tcc_weight),
        "tcc": cycle,
        "cidm": cidm,
        "lav": lav,
        "lav+tcc": LavCycleLoss(lav, cycle),  # the rival as it was published: TC3I's weight is our own
    }
    if name not in losses:
        raise InputError(f"a loss is one of {', '.join(LOSS_NAMES)}, got {name!r}: choose one of these.")
    return losses[name]

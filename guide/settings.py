"""What an operator may tune live; everything else comes from the bundle."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from guide.errors import InputError
from guide.task_model import PRIORS, Prior

Precision = Literal["auto", "float", "mixed", "int8"]
Looks = Literal["auto", "both", "turns"]


@dataclass(frozen=True, slots=True)
class LiveSettings:
    """How the live loop recognises and when it speaks.

    >>> LiveSettings().lag_s
    2.0
    """

    lag_s: float = 2.0
    """A label is released when its frame is this old: a larger lag gives surer labels, a smaller one earlier ones."""
    window_frames: int = 64
    """Newest frames that are labelled together."""
    confirm_s: float = 1.0
    """A step is confirmed once it has been seen for this long."""
    bridge_s: float = 1.5
    """A step that pauses for no longer than this counts as uninterrupted."""
    priors: tuple[Prior, ...] = PRIORS
    """Prior knowledge that counts besides what is seen: how long steps take, what is done already, what comes first,
    and what steps leave behind (after_effects: if a mat is on the table, it was laid)."""
    precision: Precision = "auto"
    """Which networks run: float; mixed, partly in half precision, a quarter faster where the processor computes in it,
    which auto then takes; or int8, the least exact, where the bundle was learned with --quantize."""

    looks: Looks = "auto"
    """Where the bundle has a second look: both looks at every frame, or in turns; auto takes turns on a live source
    with which this machine could not keep up otherwise."""
    show_region: bool = True
    """Draw a frame around the region of the second look on the server's live picture."""

    def __post_init__(self) -> None:
        times = {"lag": self.lag_s, "confirm": self.confirm_s, "bridge": self.bridge_s}
        for name, time in times.items():
            if not 0 <= time < math.inf:
                raise InputError(f"--{name}-s is a time of 0 s or more, got {time}: give another.")
        if self.window_frames < 1:
            raise InputError(f"--window-frames is one frame or more, got {self.window_frames}: give another.")
        if strange := set(self.priors) - set(PRIORS):
            raise InputError(f"priors are among {', '.join(PRIORS)}, got {sorted(map(str, strange))[0]!r:.40}.")

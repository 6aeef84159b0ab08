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
    """A label is released when its frame is this old: later labels are surer, earlier ones quicker."""
    window_frames: int = 64
    """Frames that are labelled together."""
    confirm_s: float = 1.0
    """A step is confirmed once it was seen for this long."""
    bridge_s: float = 1.5
    """A step that comes back within this time went on all the while."""
    priors: tuple[Prior, ...] = PRIORS
    """What counts beside what is seen being done: how long steps take, what is done, what comes first, and what steps
    leave behind (after_effects: where a mat lies, it was laid)."""
    precision: Precision = "auto"
    """Which networks run: float in full; mixed, partly in half precision, as auto takes where the processor computes
    in it: a quarter quicker; or int8 where the bundle was learned with --quantize, the least exact."""

    looks: Looks = "auto"
    """Where the bundle has a second look: both at every frame, or by turns; auto takes turns on a live source that
    this machine could not keep up with otherwise."""
    show_region: bool = True
    """On the live picture of the server, draw a frame around what the second look is at."""

    def __post_init__(self) -> None:
        times = {"lag": self.lag_s, "confirm": self.confirm_s, "bridge": self.bridge_s}
        for name, time in times.items():
            if not 0 <= time < math.inf:
                raise InputError(f"--{name}-s is a time of 0 s or more, got {time}: give another.")
        if self.window_frames < 1:
            raise InputError(f"--window-frames is one frame or more, got {self.window_frames}: give another.")
        if strange := set(self.priors) - set(PRIORS):
            raise InputError(f"priors are among {', '.join(PRIORS)}, got {sorted(map(str, strange))[0]!r:.40}.")

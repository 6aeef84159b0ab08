"""Independent random streams: what recording i looks like never depends on how many others are drawn."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

Kind: TypeAlias = Literal["train", "live"]
Purpose: TypeAlias = Literal["script", "person", "head", "sensor"]

_KINDS: dict[Kind, int] = {"train": 0, "live": 1}
_PURPOSES: dict[Purpose, int] = {"script": 0, "person": 1, "head": 2, "sensor": 3}


def stream(seed: int, kind: Kind, number: int, purpose: Purpose) -> np.random.Generator:
    """The generator for one purpose of one recording (numbered from 1)."""
    return np.random.default_rng(np.random.SeedSequence([seed, _KINDS[kind], number, _PURPOSES[purpose]]))

"""How the head moves: it follows the eyes' focus, drifts, nods, and jumps now and then."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .camera import Camera
from .gestures import Moment
from .person import Person
from .script import RATE_HZ

FOLLOW_S = 0.45  # the head trails the focus by about this long
SACCADES_HZ = 0.14
PULL = 0.45  # share of the way from the middle of the workplace to the focus that the head turns


def move_head(moments: Sequence[Moment], person: Person, rng: np.random.Generator) -> list[Camera]:
    """One camera per moment."""
    focus = np.array([moment.focus for moment in moments])
    rest = np.array([person.centre[0], person.centre[1] - 3.0, 0.0])
    is_far = np.abs(focus - rest).max(axis=1) > 45
    aim = rest + (focus - rest) * np.where(is_far, 1.0, PULL)[:, None]
    aim = _trail(aim + _saccades(len(aim), rng)) + _drift(len(aim), (1.6, 1.6, 0.4), rng)
    eye = np.array(person.eye) + _drift(len(aim), (1.5, 1.2, 1.6), rng) + 0.08 * (aim - rest)
    roll = _drift(len(aim), (0.035,), rng)[:, 0]
    return [
        Camera(tuple(e.tolist()), tuple(a.tolist()), float(r), person.is_left_handed)
        for e, a, r in zip(eye, aim, roll, strict=True)
    ]


def _trail(aim: NDArray[np.float64]) -> NDArray[np.float64]:
    """Two lags in a row: the head starts and stops softly."""
    gain = 1 - np.exp(-2.0 / (FOLLOW_S * RATE_HZ))
    out, slow = aim.copy(), aim[0].copy()
    now = aim[0].copy()
    for i, wanted in enumerate(aim):
        slow += gain * (wanted - slow)
        now += gain * (slow - now)
        out[i] = now
    return out


def _saccades(count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Short glances aside, in cm on the table."""
    jumps = np.zeros((count, 3))
    for start in np.flatnonzero(rng.random(count) < SACCADES_HZ / RATE_HZ):
        jumps[start : start + int(rng.integers(4, 11)), :2] = rng.normal(0, 9, 2)
    return jumps


def _drift(count: int, spread: tuple[float, ...], rng: np.random.Generator) -> NDArray[np.float64]:
    """A slow random walk that is pulled back (about 2 s of memory), with the given spread per axis."""
    memory = np.exp(-1 / (2.0 * RATE_HZ))
    steps = rng.normal(0, 1, (count, len(spread))) * np.sqrt(1 - memory**2)
    out = np.empty_like(steps)
    value = rng.normal(0, 1, len(spread))
    smooth = value.copy()
    for i, step in enumerate(steps):
        value = memory * value + step
        smooth += 0.3 * (value - smooth)
        out[i] = smooth
    return np.asarray(out * np.array(spread))

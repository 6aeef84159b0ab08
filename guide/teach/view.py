"""Looking at recordings anew: what the trunk saw, less the person and the room, in its principal directions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from guide.domain import Times
from guide.label.directions import principal_directions
from guide.perceive.appearance import AppearanceSettings
from guide.teach.lesson import Floats, LessonSettings

SAMPLE = 6000  # frames from which the directions are taken


@dataclass(frozen=True, slots=True)
class Half:
    """Principal directions (P, d) of one kind of features, and what makes their values of unit spread."""

    directions: Floats
    scale: float
    smoothing: float
    """In frames."""

    def rows(self, part: NDArray[np.floating]) -> Floats:
        """Features (T, P) of a recording in these directions, (T, d)."""
        # Smoothing in time and projection commute; it is cheaper after.
        reduced = gaussian_filter1d(centred(part) @ self.directions, self.smoothing, axis=0)
        return np.asarray(reduced / self.scale)


@dataclass(frozen=True, slots=True)
class View:
    """How to look at recordings: learned from some, good for all of the task.

    >>> scenes = np.repeat(np.eye(3), 20, axis=0)
    >>> view, rows = learn_view([scenes, scenes[::-1]], [np.arange(60.0)] * 2, 20.0, LessonSettings())
    >>> bool(np.allclose(view.rows(scenes, np.arange(60.0)), rows[0]))
    True
    """

    scene: Half
    recent: Half
    memory: AppearanceSettings

    def rows(self, features: NDArray[np.floating], times: Times) -> Floats:
        """Rows (T, 2d) of a recording's features (T, P)."""
        recent = _recent(features, times, self.memory)
        return np.concatenate([self.scene.rows(features), self.recent.rows(recent)], axis=1)


def learn_view(
    features: Sequence[NDArray[np.floating]],
    times: Sequence[Times],
    step_s: float,
    settings: LessonSettings,
) -> tuple[View, list[Floats]]:
    """How to look at recordings of which features (T, P) these are, and what is seen in these.

    One half of a row is centred on the whole recording, the other on what comes before and after within two average
    steps; the first tells scenes apart, the second what is different about now. Both are of unit length before,
    smoothed and reduced after. A recording looks the same when it is played backwards: compared with its past alone it
    would have none at its beginning, which tells the beginning apart whatever is done there.
    """
    memory = AppearanceSettings.for_step(step_s)
    recent = [_recent(each, time, memory) for each, time in zip(features, times, strict=True)]
    rates = [(len(time) - 1) / max(float(time[-1] - time[0]), 1e-9) for time in times]
    smoothing = settings.smoothing * step_s * float(np.median(rates))
    scenes, scene_rows = _learn_half(features, smoothing, settings)
    changes, change_rows = _learn_half(recent, smoothing, settings)
    rows = [np.concatenate(pair, axis=1) for pair in zip(scene_rows, change_rows, strict=True)]
    return View(scenes, changes, memory), rows


def _learn_half(
    rows: Sequence[NDArray[np.floating]], smoothing: float, settings: LessonSettings
) -> tuple[Half, list[Floats]]:
    """One recording at a time is held in full width; the directions come from a sample."""
    stride = -(-sum(len(each) for each in rows) // SAMPLE)
    sample = [gaussian_filter1d(centred(each), smoothing, axis=0)[::stride].copy() for each in rows]
    half = Half(principal_directions(np.concatenate(sample), settings.directions), 1.0, smoothing)
    reduced = [half.rows(each) for each in rows]
    scale = float(np.concatenate(reduced).std()) or 1.0
    return Half(half.directions, scale, smoothing), [each / scale for each in reduced]


def around(rows: NDArray[np.floating], times: Times, span_s: float) -> NDArray[np.floating]:
    """The mean (T, P) of all rows (T, P), those farther off counting less: by e for every `span_s` seconds.

    >>> around(np.array([[0.0], [3.0]]), np.array([0.0, 1e9]), 1.0).tolist()
    [[0.0], [3.0]]
    """
    found, weights = -rows, np.full(len(rows), -1.0)  # each row is among those before it and those after it
    kept = np.exp(-np.maximum(np.diff(times), 0.0) / span_s)
    for way, fading in ((slice(None), kept), (slice(None, None, -1), kept[::-1])):
        total, weight = np.zeros_like(rows[0]), 0.0
        for number, share in enumerate((0.0, *fading)):
            total, weight = share * total + rows[way][number], share * weight + 1.0
            found[way][number] += total
            weights[way][number] += weight
    return np.asarray(found / weights[:, None].astype(rows.dtype))


def _recent(features: NDArray[np.floating], times: Times, memory: AppearanceSettings) -> NDArray[np.floating]:
    """How the present differs (T, P) from what is around it."""
    unit = _unit(features).astype(np.float32)
    return unit - around(unit, times, memory.memory_s)


def _unit(rows: NDArray[np.floating]) -> Floats:
    """Rows of unit length."""
    full = np.asarray(rows, np.float64)
    return np.asarray(full / np.maximum(np.linalg.norm(full, axis=1, keepdims=True), 1e-12))


def centred(rows: NDArray[np.floating]) -> Floats:
    """Rows of unit length, less their mean."""
    unit = _unit(rows)
    return np.asarray(unit - unit.mean(0))

"""A small task whose steps look like nothing else, so that whoever follows it can find every fault made in it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from guide.domain import Labels
from offline.features import RecordingFeatures
from offline.study.evaluation.task import LabelledTask

RATE = 2.0
USUAL = (1, 2, 3, 4)
NAMES = {1: "cut", 2: "fold", 3: "glue", 4: "press"}
WIDTH = 12
LOOKS = np.random.default_rng(5).normal(size=(5, WIDTH)) * 4


def make_recording(order: Sequence[int], seed: int, noise: float = 0.3) -> tuple[RecordingFeatures, Labels]:
    """Each step takes 8 s, with 2 s of background before it."""
    labels = np.concatenate([np.repeat([0, step], [4, 16]) for step in order]).astype(np.int64)
    rows = LOOKS[labels] + noise * np.random.default_rng(seed).normal(size=(len(labels), WIDTH))
    return RecordingFeatures(f"r{seed}", RATE, np.arange(len(labels)) / RATE, rows.astype(np.float32)), labels


def make_task(orders: Sequence[Sequence[int]] = (USUAL,) * 7, noise: float = 0.3, first: int = 0) -> LabelledTask:
    made = [make_recording(order, first + number, noise) for number, order in enumerate(orders)]
    return LabelledTask("toy", "toy", NAMES, tuple(one for one, _ in made), tuple(labels for _, labels in made))

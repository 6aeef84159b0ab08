"""A small task in memory: three demonstrations of three steps, each step in a direction of its own."""

from __future__ import annotations

import numpy as np

from guide.domain import KeyStep, Labels
from guide.perceive.appearance import AppearanceSettings
from guide.teach.demonstrations import Demonstrations, demonstrate
from guide.teach.edited import Review, Reviewed

RATE = 2.0
ORDERS = ((1, 2, 0, 3), (1, 2, 3, 0), (2, 1, 0, 3))
EACH = 20


def make_labels() -> tuple[Labels, ...]:
    return tuple(np.repeat(order, EACH).astype(np.int64) for order in ORDERS)


def make_demonstrations() -> Demonstrations:
    prototypes = np.random.default_rng(1).normal(0, 3, (4, 6))
    labels, pooled = make_labels(), []
    for number, own in enumerate(labels):
        noise = np.random.default_rng(number).normal(0, 0.3, (len(own), 6))
        pooled.append((prototypes[own] + noise).astype(np.float32))
    times = [np.arange(len(own)) / RATE for own in labels]
    return demonstrate(["01", "02", "03"], times, pooled, RATE, AppearanceSettings.for_step(10.0))


def make_review() -> Review:
    steps = tuple(KeyStep(number, f"step {number}") for number in (1, 2, 3))
    return Review(make_demonstrations(), Reviewed(make_labels(), steps, highest=3))

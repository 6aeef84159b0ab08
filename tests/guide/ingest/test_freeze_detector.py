"""A frozen picture is told from a still scene by the camera's noise."""

from __future__ import annotations

import numpy as np
import pytest

from guide.domain import Image
from guide.ingest.freeze_detector import CHECK_S, FreezeDetector
from tests.fake_camera import noisy
from tests.synth import plain


def changes(images: list[Image], freeze_s: float = 3.0) -> list[tuple[float, str]]:
    """What is said of pictures that come every half second, with the time."""
    still = FreezeDetector(freeze_s)
    told = [(number * CHECK_S, still.push(image, number * CHECK_S)) for number, image in enumerate(images)]
    return [(at, change) for at, change in told if change is not None]


def test_a_picture_that_does_not_change_is_frozen_once_and_cleared_once() -> None:
    grey = plain((80, 90, 100))
    assert changes([*noisy(4), *[grey] * 12, *noisy(4, seed=1)]) == [(5.0, "frozen"), (8.0, "moving")]


def test_noise_is_life() -> None:
    assert changes(noisy(60)) == []


def test_the_traces_of_an_encoder_are_not() -> None:
    """A key frame of the same picture differs a little, in few places."""
    grey = plain((80, 90, 100))
    encoded = grey.copy()
    encoded[::16, ::16] += 1
    assert changes([grey, encoded] * 6) == [(3.0, "frozen")]


def test_slow_changes_add_up_to_movement() -> None:
    assert changes([plain((80 + number // 4,) * 3) for number in range(60)], freeze_s=5.0) == []


def test_another_size_is_another_picture() -> None:
    assert changes([plain((9, 9, 9))] * 5 + [plain((9, 9, 9), 32, 32)] * 5) == []


def test_only_now_and_then_is_a_picture_looked_at() -> None:
    still = FreezeDetector(3.0)
    due = []
    for at in np.arange(0, 2, 0.125):
        due.append(still.is_due(at))
        if due[-1]:
            still.push(plain((1, 2, 3)), at)
    assert sum(due) == 4


@pytest.mark.parametrize("height", [1, 7])
def test_tiny_pictures_are_taken(height: int) -> None:
    assert changes([np.zeros((height, 1, 3), np.uint8)] * 8) == [(3.0, "frozen")]

"""The trial of a second look: kept where it clearly tells more of the steps, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guide.domain import Image, Labels
from guide.errors import InputError
from guide.manifest import perception_settings
from guide.perceive.appearance import AppearanceSettings
from offline.features import RecordingFeatures
from offline.second_look import LEAST_GAIN, Gain, gain_in_words, try_second_look
from tests.synth import COLOURS, steady, write_video
from tests.tiny import FEATURE_RATE, ORDERS, RECIPE, STEP_S, learn, write_features

RATE, EACH, WIDTH = 4.0, 20, 6
SETTINGS = AppearanceSettings.for_step(EACH / RATE)
LABELS: list[Labels] = [np.repeat(order, EACH).astype(np.int64) for order in ORDERS]
SHOWN = np.random.default_rng(5).normal(0, 3, (5, WIDTH))


def seen(strengths: tuple[float, float], count: int = 4) -> list[RecordingFeatures]:
    """Recordings in which the whole picture and the second look show the steps so strongly, in noise."""
    rng = np.random.default_rng(3)
    looks = [
        np.concatenate([strength * SHOWN[own] + rng.normal(0, 2, (len(own), WIDTH)) + 9 for strength in strengths], 1)
        for own in LABELS[:count]
    ]
    times = np.arange(len(LABELS[0])) / RATE
    return [RecordingFeatures(str(n), RATE, times, rows.astype(np.float32)) for n, rows in enumerate(looks)]


@pytest.mark.parametrize(
    ("strengths", "is_clear"), [((0.1, 1.0), True), ((1.0, 0.0), False), ((3.0, 3.0), False), ((0.0, 0.0), False)]
)
def test_a_second_look_is_kept_where_it_shows_what_the_first_does_not(
    strengths: tuple[float, float], is_clear: bool
) -> None:
    gain = try_second_look(seen(strengths), LABELS, SETTINGS)
    assert gain is not None
    assert gain.is_clear == is_clear
    assert ("is used" in gain_in_words(gain)) == is_clear


def test_steps_that_too_few_recordings_show_tell_nothing() -> None:
    labels = [np.zeros_like(LABELS[0]), np.zeros_like(LABELS[0]), *LABELS[2:]]
    assert try_second_look(seen((0.1, 1.0)), labels, SETTINGS) is None
    assert "too few" in gain_in_words(None)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=3, max_size=20))
def test_a_gain_is_clear_only_beyond_its_noise(shares: list[tuple[float, float]]) -> None:
    one, two = np.array(shares).T
    gain = Gain(one, two)
    differences = [after - before for before, after in shares]
    mean = sum(differences) / len(differences)
    variance = sum((each - mean) ** 2 for each in differences) / (len(differences) - 1)
    limit = max(LEAST_GAIN, (variance / len(differences)) ** 0.5)
    if abs(mean - limit) > 1e-9:
        assert gain.is_clear == (mean > limit)
    if gain.is_clear:
        assert not Gain(two, one).is_clear


def test_features_are_seen_once(tmp_path: Path) -> None:
    inputs = write_features(tmp_path / "features")
    tried = learn(inputs, tmp_path, RECIPE.replace("looks = 1", 'looks = "auto"'), rate=FEATURE_RATE)
    assert tried.bundle.facts["recipe"]["looks"] == 1
    with pytest.raises(InputError, match="--looks 2 is for pictures, but features were given"):
        learn(inputs, tmp_path, RECIPE.replace("looks = 1", "looks = 2"), rate=FEATURE_RATE)


def picture(step: int, at: float, room: Image, rng: np.random.Generator) -> Image:
    """A small thing in the colour of its step moves about in a bright and busy room."""
    image = room.copy()
    left, top = int(76 + 20 * np.sin(2 * at)), int(57 + 12 * np.cos(3 * at))
    image[top : top + 28, left : left + 28] = COLOURS[step]
    return np.clip(image + rng.normal(0, 4, image.shape), 0, 255).astype(np.uint8)


def test_it_is_tried_in_learning_and_kept_where_hands_are_small(tmp_path: Path) -> None:
    times = steady(int(len(ORDERS[0]) * STEP_S * 10), 10)
    for number, order in enumerate(ORDERS):
        rng = np.random.default_rng(number)
        room = cv2.resize(rng.integers(0, 256, (12, 16, 3), dtype=np.uint8), (192, 144))
        images = [picture(order[int(at / STEP_S)], at, np.asarray(room, np.uint8), rng) for at in times]
        write_video(tmp_path / f"{number}.mp4", images, times)
        rows = [f'{n * STEP_S},{(n + 1) * STEP_S},"{step} step"' for n, step in enumerate(order) if step]
        (tmp_path / f"{number}.csv").write_text("\n".join(rows) + "\n")
    learned = learn(tmp_path, tmp_path / "work", RECIPE.replace("looks = 1", 'looks = "auto"'), labels=tmp_path)
    assert "helps and is used" in learned.said
    assert learned.bundle.facts["recipe"]["looks"] == 2
    assert perception_settings(learned.bundle).region is not None
    assert any("helps and is used" in note for note in learned.bundle.facts["notes"])

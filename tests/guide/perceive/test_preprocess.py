"""The one preprocessing: worked by hand, and never a crash on odd shapes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.errors import BundleError
from guide.perceive.preprocess import Preprocessing, squash, to_network_input

FACTS = Preprocessing(size_px=2, mean=(0.5, 0.4, 0.3), std=(0.5, 0.2, 0.1))


def test_worked_by_hand() -> None:
    image = np.zeros((4, 4, 3), np.uint8)
    image[:2, :2] = (255, 0, 51)  # a quarter each: the area's mean is the quarter's own colour
    image[2, 2] = (40, 80, 120)
    image[3, 3] = (80, 80, 0)
    out = to_network_input(image, FACTS)
    assert out.shape == (3, 2, 2)
    assert out.dtype == np.float32
    np.testing.assert_allclose(out[:, 0, 0], [(1 - 0.5) / 0.5, -0.4 / 0.2, (0.2 - 0.3) / 0.1], atol=1e-6)
    np.testing.assert_allclose(out[:, 0, 1], [-1.0, -2.0, -3.0], atol=1e-6)
    mixed = np.array([30, 40, 30]) / 255  # (40 + 80) / 4, (80 + 80) / 4, 120 / 4
    np.testing.assert_allclose(out[:, 1, 1], (mixed - FACTS.mean) / FACTS.std, atol=1e-6)


def test_the_picture_is_squashed_and_not_cropped() -> None:
    image = np.zeros((2, 8, 3), np.uint8)
    image[:, 4:] = 255
    out = to_network_input(image, Preprocessing(2, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)))
    np.testing.assert_allclose(out[0], [[0, 1], [0, 1]])


@settings(derandomize=True, deadline=None, max_examples=40)
@given(height=st.integers(1, 70), width=st.integers(1, 70), size=st.sampled_from([1, 7, 32]), level=st.integers(0, 255))
def test_any_shape_of_one_colour_keeps_its_colour(height: int, width: int, size: int, level: int) -> None:
    facts = Preprocessing(size, (0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
    out = to_network_input(np.full((height, width, 3), level, np.uint8), facts)
    np.testing.assert_allclose(out, np.full((3, size, size), level / 127.5 - 1), atol=1e-6)


def test_a_view_gives_the_same_as_its_copy() -> None:
    image = np.random.default_rng(0).integers(0, 255, (20, 30, 3), dtype=np.uint8)
    turned = np.rot90(image)
    facts = Preprocessing(8, (0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
    np.testing.assert_array_equal(to_network_input(turned, facts), to_network_input(turned.copy(), facts))


@pytest.mark.parametrize("size", [(20, 30), (5, 6), (8, 8)])
def test_a_picture_is_squashed_into_its_place(size: tuple[int, int]) -> None:
    image = np.random.default_rng(0).integers(0, 255, (*size, 3), dtype=np.uint8)
    facts = Preprocessing(8, (0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
    places = np.zeros((3, 8, 8, 3), np.uint8)
    assert np.shares_memory(squash(image, facts, places[1]), places)
    np.testing.assert_array_equal(places[1], squash(image, facts))
    assert not places[[0, 2]].any()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"size_px": "0"}, "1 to 4096"),
        ({"size_px": "100000"}, "1 to 4096"),
        ({"mean": "[0.5, 0.5]"}, "how pictures are prepared"),
        ({"std": "[1, 1, 0]"}, "std must be positive"),
        ({"std": '["a", 1, 1]'}, "how pictures are prepared"),
        ({"mean": "[NaN, 0, 0]"}, "finite"),
        ({"mean": "{"}, "how pictures are prepared"),
        ({"preprocessing_version": "999"}, "train the bundle again"),
    ],
)
def test_damaged_facts_are_refused(change: dict[str, str], sentence: str) -> None:
    with pytest.raises(BundleError, match=sentence):
        Preprocessing.from_metadata(FACTS.to_metadata() | change)


def test_missing_facts_are_refused() -> None:
    with pytest.raises(BundleError, match="export the bundle again"):
        Preprocessing.from_metadata({})

"""Where to look: on what moves against the camera, from the past alone, and steadily."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.domain import Frame, Image
from guide.perceive.region import (
    MovingRegion,
    Region,
    RegionSettings,
    centre_of_motion,
    crop,
    pixels,
    second_looks,
    small_grey,
)

RATE = 5.0
HEIGHT, WIDTH = 240, 320
Place = tuple[float, float]
Shift = tuple[int, int]


def view(shift: Shift = (0, 0), blobs: tuple[Place, ...] = ()) -> Image:
    """What a camera sees of a room that was moved by `shift` pixels, with round things at places in [0, 1] of it."""
    coarse = np.random.default_rng(0).integers(40, 216, (24, 32, 3), dtype=np.uint8)
    room = cv2.resize(coarse, (WIDTH + 80, HEIGHT + 80), interpolation=cv2.INTER_NEAREST)
    picture = room[40 + shift[1] : 40 + shift[1] + HEIGHT, 40 + shift[0] : 40 + shift[0] + WIDTH].copy()
    for across, down in blobs:
        cv2.circle(picture, (round(across * WIDTH), round(down * HEIGHT)), 22, (250, 240, 235), -1)
    return np.asarray(picture)


def turning(n: int) -> Shift:
    """Where the head has turned to by frame n."""
    return 2 * round(10 * np.sin(n / 4)), 2 * round(6 * np.cos(n / 6))


def follow(pictures: list[Image], how: RegionSettings | None = None) -> list[Region]:
    region = MovingRegion(how or RegionSettings())
    return [region.push(picture, n / RATE) for n, picture in enumerate(pictures)]


@given(st.tuples(st.integers(-24, 24), st.integers(-24, 24)), st.tuples(st.floats(0.25, 0.75), st.floats(0.25, 0.75)))
@settings(max_examples=25, deadline=None)
def test_what_moves_is_found_whatever_the_camera_does(shift: Shift, place: Place) -> None:
    before, now = small_grey(view()), small_grey(view(shift, (place,)))
    found = centre_of_motion(before, now)
    assert found is not None
    np.testing.assert_allclose(found, place, atol=0.12)


@pytest.mark.parametrize("place", [(0.25, 0.3), (0.75, 0.3), (0.5, 0.7)])
def test_the_region_centres_on_what_moves_while_the_head_turns(place: Place) -> None:
    moving = [view(turning(n), ((place[0] + 0.05 * (-1) ** n, place[1]),)) for n in range(25)]
    for seen in follow(moving)[-5:]:
        assert abs(seen.x - place[0]) < 0.03
        assert abs(seen.y - place[1]) < 0.03


def test_pictures_are_compared_without_being_changed() -> None:
    """OpenCV's phase correlation multiplies its arguments by the window in place."""
    before, now = small_grey(view()), small_grey(view((6, 2)))
    kept = before.copy(), now.copy()
    centre_of_motion(before, now)
    np.testing.assert_array_equal((before, now), kept)


def test_where_nothing_moves_the_region_stays() -> None:
    assert {*follow([view((0, 0), ((0.8, 0.3),))] * 5)} == {Region(0.5, 0.5, 0.5)}


@given(st.integers(1, 11))
@settings(max_examples=8, deadline=None)
def test_what_comes_later_changes_nothing(count: int) -> None:
    pictures = [view(turning(n), ((0.3 + 0.03 * n, 0.5),)) for n in range(12)]
    assert follow(pictures[:count]) == follow(pictures)[:count]


def test_two_hands_that_move_in_turns_do_not_make_it_jump() -> None:
    left, right = (0.2, 0.5), (0.8, 0.5)
    places = [(left[0] + 0.05 * (n % 2), 0.5) if n % 4 < 2 else (right[0] + 0.05 * (n % 2), 0.5) for n in range(40)]
    seen = np.array(follow([view((0, 0), (place,)) for place in places]))[10:, 0]
    assert np.abs(np.diff(seen)).max() < 0.2  # a third of the way between the hands
    assert np.ptp(seen) < 0.4


@given(st.tuples(st.integers(1, 400), st.integers(1, 400)), st.floats(0, 1), st.floats(0, 1), st.floats(0.01, 1))
def test_a_region_lies_within_the_picture(size: tuple[int, int], x: float, y: float, side: float) -> None:
    picture = np.zeros((*size, 3), np.uint8)
    left, top, length = pixels(picture, Region(x, y, side))
    assert crop(picture, Region(x, y, side)).shape == (length, length, 3)
    assert left >= 0
    assert top >= 0
    assert length >= 1


@pytest.mark.parametrize("every", [1, 3])
def test_what_moves_is_followed_through_frames_without_a_second_look(every: int) -> None:
    frames = [Frame(n, n / RATE, view(turning(n), ((0.3, 0.4),))) for n in range(4)]
    looks = list(second_looks(frames, RegionSettings(), lambda number: number % every == 0))
    assert [look.at for look in looks] == [frame.at for frame in frames[::every]]
    regions = follow([frame.image for frame in frames])
    np.testing.assert_array_equal(looks[-1].image, crop(frames[3].image, regions[3]))

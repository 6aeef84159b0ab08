"""Shapes on the canvas, also where they pass behind the eye."""

from __future__ import annotations

import numpy as np

from offline.demo.camera import Camera
from offline.demo.canvas import Canvas, rectangle

WHITE = (255.0, 255.0, 255.0)


def _blank() -> Canvas:
    return Canvas(np.zeros((240, 320, 3), np.uint8), Camera((0.0, -8.0, 48.0), (0.0, 28.0, 0.0)), (0.5, 0.2))


def test_later_shapes_cover_earlier_ones() -> None:
    canvas = _blank()
    canvas.face(rectangle(0, 28, 0, (20, 20)), (255.0, 0.0, 0.0))
    canvas.disc(np.array([0.0, 28.0, 0.0]), 2.0, WHITE)
    canvas.flush()
    assert canvas.image[120, 160].tolist() == [255, 255, 255]
    assert canvas.image[120, 185].tolist() == [255, 0, 0]


def test_a_bar_from_behind_the_eye_reaches_the_bottom_edge() -> None:
    canvas = _blank()
    canvas.limb(np.array([0.0, -60.0, 90.0]), np.array([0.0, 28.0, 0.0]), (3.0, 3.0), WHITE)
    canvas.limb(np.array([0.0, 28.0, 0.0]), np.array([0.0, -90.0, 40.0]), (3.0, 3.0), WHITE)
    canvas.limb(np.array([0.0, -90.0, 90.0]), np.array([0.0, -80.0, 90.0]), (3.0, 3.0), WHITE)
    canvas.flush()
    assert canvas.image[239, :, 0].max() == 255
    assert canvas.image[120, 160, 0] == 255
    assert canvas.image[:60].max() == 0


def test_shapes_behind_the_eye_are_not_painted() -> None:
    canvas = _blank()
    canvas.face(rectangle(0, -90, 90, (20, 20)), WHITE)
    canvas.cord(np.array([[0.0, -90.0, 90.0], [0.0, 28.0, 0.0]]), 1.0, WHITE)
    canvas.flush()
    assert canvas.image.max() == 0


def test_shadows_darken_the_ground_where_the_light_throws_them() -> None:
    canvas = _blank()
    canvas.image[:] = 200
    canvas.cast(rectangle(0, 28, 10, (6, 6)))
    canvas.shade_ground()
    (x, y), (left, _) = canvas.camera.project(np.array([[5.0, 30.0, 0.0], [-5.0, 30.0, 0.0]])).round().astype(int)
    assert canvas.image[y, x, 0] < 150
    assert canvas.image[y, left, 0] == 200

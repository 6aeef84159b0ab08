"""The pinhole camera."""

from __future__ import annotations

import numpy as np

from offline.demo.camera import NEAR_CM, WIDTH_PX, Camera

EYE, TARGET = (0.0, -8.0, 48.0), (0.0, 28.0, 0.0)


def test_right_is_right_and_far_is_up() -> None:
    right, far = Camera(EYE, TARGET).project(np.array([[5.0, 28.0, 0.0], [0.0, 40.0, 0.0]]))
    assert right[0] > WIDTH_PX / 2
    assert far[1] < 120


def test_mirrored_world_is_the_mirrored_picture() -> None:
    points = np.random.default_rng(1).uniform((-20, 10, 0), (20, 50, 10), (20, 3))
    plain, mirrored = (Camera(EYE, TARGET, is_mirrored=is_mirrored).project(points) for is_mirrored in (False, True))
    assert np.allclose(mirrored[:, 0], WIDTH_PX - plain[:, 0])
    assert np.allclose(mirrored[:, 1], plain[:, 1])


def test_clipped_polygon_lies_before_the_eye() -> None:
    camera = Camera(EYE, (0.0, 150.0, 60.0))
    table = np.array([[-85.0, -60.0, 0.0], [85.0, -60.0, 0.0], [85.0, 78.0, 0.0], [-85.0, 78.0, 0.0]])
    clipped = camera.clip(table)
    assert len(clipped) == 4
    assert camera.depth(clipped).min() >= NEAR_CM - 1e-9


def test_plane_homography_agrees_with_projection() -> None:
    camera, uv = Camera(EYE, TARGET, roll=0.1), np.array([[3.0, 4.0, 1.0], [-7.0, 20.0, 1.0]])
    across, along = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
    homogeneous = uv @ camera.plane_to_picture(np.zeros(3), across, along).T
    flat = np.column_stack([uv[:, :2], np.zeros(2)])
    assert np.allclose(homogeneous[:, :2] / homogeneous[:, 2:], camera.project(flat))

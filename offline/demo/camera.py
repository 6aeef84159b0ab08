"""A pinhole camera on somebody's head above the workplace. World units are centimetres: x right, y away, z up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Points: TypeAlias = NDArray[np.float64]  # (N, 3) in the world or (N, 2) in the picture

WIDTH_PX, HEIGHT_PX = 320, 240
FOCAL_PX = 275.0
NEAR_CM = 6.0


@dataclass(frozen=True)
class Camera:
    """Where the eye is, what it looks at, how far the head is tilted (radians).

    `is_mirrored` turns the whole world about x = 0: that is how left-handed people are drawn.

    >>> camera = Camera(eye=(0.0, -8.0, 48.0), target=(0.0, 28.0, 0.0))
    >>> camera.project(np.array([[0.0, 28.0, 0.0]])).round().tolist()  # the target stands in the middle
    [[160.0, 120.0]]
    """

    eye: tuple[float, float, float]
    target: tuple[float, float, float]
    roll: float = 0.0
    is_mirrored: bool = False

    @cached_property
    def axes(self) -> Points:
        """Rows: right, down and forward in the world."""
        forward = np.subtract(self.target, self.eye)
        forward = forward / np.linalg.norm(forward)
        right = np.array([forward[1], -forward[0], 0.0])
        right = right / np.linalg.norm(right)
        down = np.cross(forward, right)
        c, s = np.cos(self.roll), np.sin(self.roll)
        return np.stack([c * right + s * down, c * down - s * right, forward])

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """(3, 4): homogeneous world points to homogeneous pixels."""
        lens = np.array([[FOCAL_PX, 0, WIDTH_PX / 2], [0, FOCAL_PX, HEIGHT_PX / 2], [0, 0, 1.0]])
        outer = np.column_stack([self.axes, -self.axes @ np.array(self.eye)])
        matrix: NDArray[np.float64] = lens @ outer
        if self.is_mirrored:
            matrix[:, 0] *= -1
        return matrix

    def depth(self, points: Points) -> NDArray[np.float64]:
        return np.asarray(points @ self.matrix[2, :3] + self.matrix[2, 3], np.float64)

    def project(self, points: Points) -> Points:
        """(N, 2) pixels of (N, 3) world points; points must lie before the eye."""
        homogeneous = points @ self.matrix[:, :3].T + self.matrix[:, 3]
        return homogeneous[:, :2] / homogeneous[:, 2:]

    def clip(self, polygon: Points) -> Points:
        """The part of a polygon (N, 3) that lies before the near plane; may be empty."""
        depths = self.depth(polygon) - NEAR_CM
        if (depths >= 0).all():
            return polygon
        kept: list[NDArray[np.float64]] = []
        for i in range(len(polygon)):
            a, b = depths[i - 1], depths[i]
            if (a >= 0) != (b >= 0):
                kept.append(polygon[i - 1] + (polygon[i] - polygon[i - 1]) * (a / (a - b)))
            if b >= 0:
                kept.append(polygon[i])
        return np.array(kept).reshape(-1, 3)

    def plane_to_picture(self, origin: Points, across: Points, along: Points) -> NDArray[np.float64]:
        """(3, 3) homography of the plane origin + u across + v along."""
        columns = [self.matrix[:, :3] @ across, self.matrix[:, :3] @ along, self.matrix[:, :3] @ origin]
        homography = np.column_stack(columns)
        homography[:, 2] += self.matrix[:, 3]
        return homography

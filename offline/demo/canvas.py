"""Solid shapes on a picture: faces, boxes, limbs, discs and cords, seen through a camera, shaded by one light."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from guide.domain import Image

from .camera import FOCAL_PX, NEAR_CM, Camera, Points

Colour: TypeAlias = tuple[float, float, float]  # RGB, 0-255

_SHIFT = 4  # OpenCV takes fixed-point corners: a sixteenth of a pixel
_ARC = np.linspace(-1.0, 1.0, 8)
_SHADOW: Colour = (150.0, 150.0, 150.0)


def shade(colour: Colour, gain: float) -> Colour:
    """The colour made darker (gain < 1) or lighter."""
    return (min(colour[0] * gain, 255.0), min(colour[1] * gain, 255.0), min(colour[2] * gain, 255.0))


def mix(one: Colour, other: Colour, share: float) -> Colour:
    """One colour with a share of another in it."""
    r, g, b = (mine + (yours - mine) * share for mine, yours in zip(one, other, strict=True))
    return (r, g, b)


def rectangle(x: float, y: float, z: float, size: tuple[float, float], yaw: float = 0.0) -> Points:
    """(4, 3) corners of a level rectangle about (x, y): front left, front right, back right, back left."""
    ux, uy = size[0] / 2 * math.cos(yaw), size[0] / 2 * math.sin(yaw)
    vx, vy = -size[1] / 2 * math.sin(yaw), size[1] / 2 * math.cos(yaw)
    return np.array(
        [
            [x - ux - vx, y - uy - vy, z],
            [x + ux - vx, y + uy - vy, z],
            [x + ux + vx, y + uy + vy, z],
            [x - ux + vx, y - uy + vy, z],
        ]
    )


class Stroke(NamedTuple):
    """A shape waiting to be painted: a face (no radii), a limb (two radii) or a cord (one radius)."""

    points: Points
    radii: tuple[float, ...]
    colour: Colour
    outline: float


class Canvas:
    """A picture being painted through a camera; shapes are gathered, then projected and painted all at once.

    One by one, projecting two hundred small shapes per frame would cost ten times the painting itself.
    `light` is how far a shadow moves along x and y per centimetre of height.

    >>> picture = np.zeros((240, 320, 3), np.uint8)
    >>> canvas = Canvas(picture, Camera((0, -8, 48), (0, 28, 0)), (0.5, 0.2))
    >>> canvas.face(rectangle(0, 28, 0, (10, 10)), (200, 100, 50))
    >>> canvas.flush()
    >>> picture[120, 160].tolist()
    [200, 100, 50]
    """

    def __init__(self, image: Image, camera: Camera, light: tuple[float, float]) -> None:
        self.image, self.camera, self.light = image, camera, light
        self._strokes: list[Stroke] = []
        self._shadows: list[Stroke] = []
        eye = camera.eye
        self._eye = (-eye[0] if camera.is_mirrored else eye[0], eye[1])

    def face(self, corners: Points, colour: Colour, outline: float = 0.0) -> None:
        """A convex polygon (N, 3); `outline` in (0, 1) adds a darker rim."""
        self._strokes.append(Stroke(corners, (), colour, outline))

    def prism(self, base: Points, height: float, colour: Colour, outline: float = 0.75) -> None:
        """An upright solid over a level convex base (N, 3), counter-clockwise from above."""
        top = base + np.array([0.0, 0.0, height])
        flat = base.tolist()
        for i, (x, y, _) in enumerate(flat):
            nx, ny = y - flat[i - 1][1], flat[i - 1][0] - x
            if nx * (self._eye[0] - x) + ny * (self._eye[1] - y) > 0:
                gain = 0.72 - 0.16 * (nx * self.light[0] + ny * self.light[1]) / (abs(nx) + abs(ny) + 1e-9)
                self.face(np.array([base[i - 1], base[i], top[i], top[i - 1]]), shade(colour, gain), outline)
        self.face(top, colour, outline)

    def box(self, x: float, y: float, z: float, size: tuple[float, float, float], yaw: float, colour: Colour) -> None:
        self.prism(rectangle(x, y, z, size[:2], yaw), size[2], colour)

    def disc(self, centre: Points, radius: float, colour: Colour) -> None:
        """A ball, or the end of something round."""
        self.limb(centre, centre, (radius, radius), colour)

    def limb(
        self, start: Points, end: Points, radii: tuple[float, float], colour: Colour, outline: float = 0.0
    ) -> None:
        """A round bar from one (3,) point to another that may taper."""
        self._strokes.append(Stroke(np.array([start, end]), radii, colour, outline))

    def cord(self, points: Points, radius: float, colour: Colour) -> None:
        """A bent line through (N, 3) points, such as a cable."""
        self._strokes.append(Stroke(points, (radius,), colour, 0.0))

    def cast(self, corners: Points) -> None:
        """The shadow on the table of a level face with these corners, (N, 3)."""
        self._shadows.append(Stroke(self._ground(corners), (), _SHADOW, 0.0))

    def cast_limb(self, start: Points, end: Points, radii: tuple[float, float]) -> None:
        self._shadows.append(Stroke(self._ground(np.array([start, end])), radii, _SHADOW, 0.0))

    def _ground(self, points: Points) -> Points:
        shift = np.array([[self.light[0], self.light[1], -1.0]])
        return np.asarray(points + points[:, 2:] * shift, np.float64)

    def shade_ground(self) -> None:
        """Paint what was gathered so far, then lay the gathered shadows over it."""
        self.flush()
        shadow = np.full(self.image.shape[:2], 255, np.uint8)
        self._paint(shadow, self._shadows)
        soft = cv2.blur(shadow, (7, 7))
        cv2.multiply(self.image, cv2.merge([soft, soft, soft]), dst=self.image, scale=1 / 255)
        self._shadows = []

    def flush(self) -> None:
        """Paint the gathered shapes, first come first painted."""
        self._paint(self.image, self._strokes)
        self._strokes = []

    def _paint(self, image: Image, strokes: list[Stroke]) -> None:
        if not strokes:
            return
        points, starts = _gather(strokes)
        depths = self.camera.depth(points)
        nearest = np.minimum.reduceat(depths, starts)
        if nearest.min() < NEAR_CM:
            strokes = self._before_eye(strokes, nearest)
            if not strokes:
                return
            points, starts = _gather(strokes)
            depths = self.camera.depth(points)
        pixels = self.camera.project(points)
        limbs = [(start, stroke.radii) for start, stroke in zip(starts, strokes, strict=True) if len(stroke.radii) == 2]
        hulls = iter(_fixed(_hulls(pixels, depths, limbs)))
        fixed = _fixed(pixels)
        for (corners, radii, colour, outline), start in zip(strokes, starts, strict=True):
            shape = next(hulls) if len(radii) == 2 else fixed[start : start + len(corners)]
            if len(radii) == 1:
                _paint_cord(image, shape, radii[0] * FOCAL_PX / float(depths[start]), colour)
                continue
            cv2.fillConvexPoly(image, shape, colour, cv2.LINE_AA, _SHIFT)
            if outline:
                cv2.polylines(image, [shape], True, shade(colour, outline), 1, cv2.LINE_AA, _SHIFT)

    def _before_eye(self, strokes: list[Stroke], nearest: Points) -> list[Stroke]:
        """The shapes with what lies behind the eye cut off."""
        cut = [s if near >= NEAR_CM else self._cut(s) for s, near in zip(strokes, nearest, strict=True)]
        return [stroke for stroke in cut if len(stroke.points) > 1]

    def _cut(self, stroke: Stroke) -> Stroke:
        if len(stroke.radii) == 1:
            return stroke._replace(points=stroke.points[:0])  # no cord ever comes that near
        if not stroke.radii:
            return stroke._replace(points=self.camera.clip(stroke.points))
        depths = self.camera.depth(stroke.points)
        if depths.max() < NEAR_CM or depths[0] == depths[1]:
            return stroke._replace(points=stroke.points[:0])
        share = (NEAR_CM - depths[0]) / (depths[1] - depths[0])
        border = stroke.points[0] + (stroke.points[1] - stroke.points[0]) * share
        ends = [border, stroke.points[1]] if depths[0] < NEAR_CM else [stroke.points[0], border]
        return stroke._replace(points=np.array(ends))


def _gather(strokes: list[Stroke]) -> tuple[Points, list[int]]:
    """All points of one stroke or more in one array, and where each stroke's begin."""
    points = [stroke.points for stroke in strokes]
    return np.concatenate(points), [0, *accumulate(map(len, points[:-1]))]


def _hulls(pixels: Points, depths: Points, limbs: Sequence[tuple[int, tuple[float, ...]]]) -> Points:
    """(L, 16, 2) outlines of limbs (first point, radii): an arc about either end, joined by the common tangents."""
    if not limbs:
        return np.empty((0, 16, 2))
    first, radii = np.array([start for start, _ in limbs]), np.array([radii for _, radii in limbs])
    start, end = pixels[first], pixels[first + 1]
    size = FOCAL_PX * radii / np.column_stack([depths[first], depths[first + 1]])
    along = end - start
    length = np.hypot(along[:, 0], along[:, 1]) + 1e-6
    heading = np.arctan2(along[:, 1], along[:, 0])
    tangent = np.arccos(np.clip((size[:, 0] - size[:, 1]) / length, -1.0, 1.0))
    near = heading[:, None] + np.pi + (np.pi - tangent)[:, None] * _ARC
    far = heading[:, None] + tangent[:, None] * _ARC
    rings = [
        centre[:, None] + radius[:, None, None] * np.stack([np.cos(angle), np.sin(angle)], axis=2)
        for centre, radius, angle in ((start, size[:, 0], near), (end, size[:, 1], far))
    ]
    return np.concatenate(rings, axis=1)


def _paint_cord(image: Image, shape: NDArray[np.int32], radius_px: float, colour: Colour) -> None:
    thickness = max(1, round(2 * radius_px))
    if thickness > 2:
        cv2.polylines(image, [shape], False, shade(colour, 0.6), thickness + 1, cv2.LINE_AA, _SHIFT)
    cv2.polylines(image, [shape], False, colour, max(1, thickness - 1), cv2.LINE_AA, _SHIFT)


def _fixed(pixels: Points) -> NDArray[np.int32]:
    # Far outside the picture corners would overflow OpenCV's fixed point.
    return (np.clip(pixels, -2000, 2000) * (1 << _SHIFT)).round().astype(np.int32)

"""The still surroundings: a table top and a wall behind it, painted once per person and warped into every frame."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from guide.domain import Image

from .camera import HEIGHT_PX, NEAR_CM, WIDTH_PX, Camera, Points
from .canvas import Colour, mix, shade
from .person import Person, TableKind

TABLE_PX_PER_CM, WALL_PX_PER_CM = 5, 3
TABLE = (-85.0, 85.0, -12.0, 78.0)  # left, right, front, back (cm)
WALL = (-260.0, 260.0, -60.0, 150.0)  # left, right, bottom, top (cm)
WALL_Y = 150.0


class Room:
    """A person's surroundings.

    >>> from .person import sample_person
    >>> room = Room(sample_person(np.random.default_rng(2)))
    >>> room.view(Camera((0, -8, 48), (0, 28, 0))).shape
    (240, 320, 3)
    """

    def __init__(self, person: Person) -> None:
        rng = np.random.default_rng(person.clutter_seed)
        self.floor = np.full((HEIGHT_PX, WIDTH_PX, 3), np.array(shade(person.wall, 0.45)).round(), np.uint8)
        self.table = _paint_table(person.table_kind, person.table, rng)
        self.wall = _paint_wall(person.wall, rng)

    def view(self, camera: Camera) -> Image:
        """The surroundings as seen by the camera."""
        image = self.floor.copy()
        left, right, bottom, top = WALL
        wall = np.array([[left, WALL_Y, bottom], [right, WALL_Y, bottom], [right, WALL_Y, top], [left, WALL_Y, top]])
        left, right, front, back = TABLE
        table = np.array([[left, front, 0.0], [right, front, 0.0], [right, back, 0.0], [left, back, 0.0]])
        _lay(image[: _horizon(camera, table)], self.wall, camera, wall, WALL_PX_PER_CM)
        _lay(image, self.table, camera, table, TABLE_PX_PER_CM)
        return image


def _horizon(camera: Camera, table: Points) -> int:
    """A number of rows at the top of the picture below which all is table."""
    edge = camera.project(camera.clip(table)).astype(np.float32)
    if len(edge) < 3:
        return HEIGHT_PX

    def is_table(row: int) -> bool:
        return all(cv2.pointPolygonTest(edge, (x, float(row)), False) > 0 for x in (0.0, float(WIDTH_PX)))

    if not is_table(HEIGHT_PX):
        return HEIGHT_PX
    return next((row for row in range(0, HEIGHT_PX, 24) if is_table(row)), HEIGHT_PX)


def _lay(image: Image, texture: Image, camera: Camera, corners: Points, scale: int) -> None:
    """Warp a texture onto the polygon corners (back edge first in the texture's rows)."""
    visible = camera.clip(corners)
    if len(visible) < 3 or len(image) == 0:
        return
    across, along = corners[1] - corners[0], corners[0] - corners[3]
    unit = [side / np.linalg.norm(side) / scale for side in (across, along)]
    homography = camera.plane_to_picture(corners[3], unit[0], unit[1])
    size, flags = (WIDTH_PX, len(image)), cv2.INTER_LINEAR
    if len(visible) == len(corners) and (camera.depth(visible) > NEAR_CM).all():
        cv2.warpPerspective(texture, homography, size, dst=image, flags=flags, borderMode=cv2.BORDER_TRANSPARENT)
        return
    # Part of the plane lies behind the eye; unmasked it would show again, upside down, above the horizon.
    mask = np.zeros(image.shape[:2], np.uint8)
    cv2.fillConvexPoly(mask, np.clip(camera.project(visible), -20000, 20000).round().astype(np.int32), (255,))
    cv2.copyTo(cv2.warpPerspective(texture, homography, size, flags=flags), mask, image)


def _paint_table(kind: TableKind, colour: Colour, rng: np.random.Generator) -> Image:
    left, right, front, back = TABLE
    height, width = round((back - front) * TABLE_PX_PER_CM), round((right - left) * TABLE_PX_PER_CM)
    grain: NDArray[Any] = np.zeros((height, width), np.float32)
    if kind in ("wood", "planks"):
        streaks = rng.normal(0, 1, (height // 3 + 1, width // 60 + 1)).astype(np.float32)
        grain = 14 * cv2.resize(streaks, (width, height), interpolation=cv2.INTER_CUBIC)
    elif kind == "speckle":
        grain = 22 * cv2.GaussianBlur(rng.normal(0, 1, (height, width)).astype(np.float32), (0, 0), 1.2) * 2
    elif kind == "metal":
        grain = 9 * cv2.blur(rng.normal(0, 1, (height, width)).astype(np.float32), (61, 1)) * 5
    table: Image = np.clip(np.array(colour, np.float32) + grain[..., None], 0, 255).astype(np.uint8)
    if kind == "planks":
        for row in range(int(rng.integers(20, 60)), height, int(rng.integers(50, 80))):
            cv2.line(table, (0, row), (width, row), shade(colour, 0.6), 2)
    _strew(table, rng)
    cv2.rectangle(table, (0, 0), (width - 1, height - 1), shade(colour, 0.7), 6)
    return table


def _strew(table: Image, rng: np.random.Generator) -> None:
    """Flat clutter at the sides: paper, books, coasters."""
    height, width = table.shape[:2]
    for _ in range(int(rng.integers(3, 8))):
        x = float(rng.choice([rng.uniform(0.03, 0.25), rng.uniform(0.75, 0.97)])) * width
        y = rng.uniform(0.1, 0.9) * height
        corners = cv2.boxPoints(((x, y), tuple(rng.uniform(30, 110, 2)), rng.uniform(0, 90)))
        colour = rng.uniform(40, 245, 3).tolist()
        cv2.fillConvexPoly(table, corners.astype(np.int32), colour, cv2.LINE_AA)
        cv2.polylines(table, [corners.astype(np.int32)], True, shade(tuple(colour), 0.6), 2, cv2.LINE_AA)


def _paint_wall(colour: Colour, rng: np.random.Generator) -> Image:
    left, right, bottom, top = WALL
    height, width = round((top - bottom) * WALL_PX_PER_CM), round((right - left) * WALL_PX_PER_CM)
    fade = np.linspace(1.05, 0.75, height)[:, None, None]
    wall = np.clip(np.array(colour) * fade * np.ones((height, width, 1)), 0, 255).astype(np.uint8)
    for x in range(60, width - 160, 210):
        kind = rng.integers(4)
        y = int(rng.integers(60, 220))
        if kind == 0:
            _paint_window(wall, x, y)
        elif kind == 1:
            _paint_shelf(wall, x, y + 120, rng)
        elif kind == 2:
            poster = rng.uniform(30, 240, 3).tolist()
            cv2.rectangle(wall, (x, y), (x + 110, y + 150), poster, -1)
            cv2.circle(wall, (x + 55, y + 60), 34, rng.uniform(30, 240, 3).tolist(), -1, cv2.LINE_AA)
    cv2.rectangle(wall, (0, height - 60), (width, height), mix(colour, (60.0, 50.0, 40.0), 0.5), -1)
    return wall


def _paint_window(wall: Image, x: int, y: int) -> None:
    cv2.rectangle(wall, (x, y), (x + 150, y + 200), (245, 245, 240), -1)
    for i in (0, 1):
        for j in (0, 1):
            cv2.rectangle(
                wall, (x + 10 + 68 * i, y + 10 + 93 * j), (x + 70 + 68 * i, y + 95 + 93 * j), (190, 220, 245), -1
            )


def _paint_shelf(wall: Image, x: int, y: int, rng: np.random.Generator) -> None:
    cv2.rectangle(wall, (x - 10, y), (x + 160, y + 10), (120, 84, 54), -1)
    at = x
    while at < x + 140:
        wide, tall = int(rng.integers(10, 24)), int(rng.integers(50, 95))
        cv2.rectangle(wall, (at, y - tall), (at + wide, y), rng.uniform(30, 230, 3).tolist(), -1)
        at += wide + 2

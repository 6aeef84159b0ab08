"""The loose things of the task: board, battery, cable, cloth, tools, label, cup, and what does not belong."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from .camera import Points
from .canvas import Canvas, Colour, mix, rectangle, shade
from .person import Looks
from .scene import Place, State

Painter: TypeAlias = Callable[[Canvas, Place, Looks, State], None]

STEEL: Colour = (190.0, 194.0, 200.0)
INK: Colour = (40.0, 40.0, 46.0)
PAPER: Colour = (246.0, 246.0, 240.0)


def _at(place: Place, u: float, v: float, w: float = 0.0) -> Points:
    c, s = math.cos(place.yaw), math.sin(place.yaw)
    return np.array([place.x + u * c - v * s, place.y + u * s + v * c, place.z + w])


def paint_board(canvas: Canvas, place: Place, looks: Looks, state: State) -> None:
    width, depth = looks.board_size
    base = rectangle(place.x, place.y, place.z, looks.board_size, place.yaw)
    canvas.prism(base, 0.5, looks.board)
    for u in np.linspace(-0.42, 0.42, 5):
        spot = _at(place, u * width, -0.42 * depth, 0.55)
        canvas.face(rectangle(spot[0], spot[1], spot[2], (1.0, 0.9), place.yaw), (225.0, 190.0, 90.0))
    for u, v, w, d in looks.chips:
        spot = _at(place, u * width, v * depth * 0.8, 0.5)
        canvas.box(spot[0], spot[1], spot[2], (w * width, d * depth, 0.8), place.yaw, INK)
    port = _at(place, 0.36 * width, 0.36 * depth, 0.5)
    canvas.box(port[0], port[1], port[2], (3.0, 2.4, 1.4), place.yaw, STEEL)


def paint_battery(canvas: Canvas, place: Place, looks: Looks, state: State) -> None:
    length, width, height = looks.battery_size
    if looks.is_battery_round:
        for v in (-width / 4, width / 4):
            ends = [_at(place, u * length, v, height / 2) for u in (-0.5, 0.42, 0.5)]
            canvas.limb(ends[0], ends[2], (width / 4, width / 4), shade(looks.battery, 0.85), outline=0.6)
            canvas.limb(ends[0] + (0, 0, 0.5), ends[1] + (0, 0, 0.5), (width / 6, width / 6), looks.battery)
            canvas.limb(ends[1], ends[2], (width / 4, width / 4), (215.0, 165.0, 80.0), outline=0.6)
        return
    canvas.box(place.x, place.y, place.z, looks.battery_size, place.yaw, looks.battery)
    band = _at(place, 0.3 * length, 0, height + 0.03)
    canvas.face(rectangle(band[0], band[1], band[2], (length * 0.25, width), place.yaw), (215.0, 165.0, 80.0))
    bolt = _at(place, -0.12 * length, 0, height + 0.03)
    canvas.face(rectangle(bolt[0], bolt[1], bolt[2], (length * 0.3, width * 0.4), place.yaw), PAPER)


def paint_cloth(canvas: Canvas, place: Place, looks: Looks, state: State) -> None:
    size = looks.cloth_size
    angles = np.linspace(0, 2 * np.pi, 14, endpoint=False)
    radii = size * 0.5 * (1 + 0.14 * np.sin(3 * angles + 1) + 0.08 * np.sin(5 * angles))
    rim = np.stack([_at(place, r * np.cos(a), 0.8 * r * np.sin(a), 0.3) for a, r in zip(angles, radii, strict=True)])
    canvas.face(rim, looks.cloth, outline=0.7)
    for share in (-0.5, 0.0, 0.5):
        fold = np.stack([_at(place, share * size * 0.5, v * size * 0.3, 0.4) for v in (-1.0, 1.0)])
        canvas.cord(fold, 0.25, shade(looks.cloth, 0.82))
        fold = np.stack([_at(place, u * size * 0.42, share * size * 0.36, 0.4) for u in (-1.0, 1.0)])
        canvas.cord(fold, 0.2, mix(looks.cloth, (255.0, 255.0, 255.0), 0.5))


def paint_driver(canvas: Canvas, place: Place, looks: Looks, state: State) -> None:
    radius, length = looks.handle_size
    if state.spin:  # in use: it stands upright and turns
        foot, neck, top = (np.array([place.x, place.y, place.z + h]) for h in (0.0, 6.5, 6.5 + length))
    else:
        foot, neck, top = (_at(place, 0, v, 1.2) for v in (8.0, 1.5, 1.5 - length))
    canvas.limb(foot, neck, (0.35, 0.45), STEEL, outline=0.6)
    canvas.limb(neck, top, (radius * 0.75, radius), looks.handle, outline=0.55)
    for offset in (0.0, 2.1, 4.2):
        side = radius * 0.7 * np.cos(state.spin + offset)
        groove = np.array([side, 0.0, 0.0])
        canvas.limb(neck + groove, top + groove, (0.18, 0.22), shade(looks.handle, 0.6))
    canvas.disc(top, radius * 0.8, mix(looks.handle, INK, 0.35))


def paint_opener(canvas: Canvas, place: Place, looks: Looks, state: State) -> None:
    tip, waist, end = (_at(place, 0, v, 0.6) for v in (5.5, 0.0, -9.0))
    canvas.limb(waist, end, (1.1, 1.8), looks.opener, outline=0.55)
    canvas.limb(tip, waist, (2.6, 1.0), mix(looks.opener, PAPER, 0.4), outline=0.6)


def paint_sheet(canvas: Canvas, place: Place, looks: Looks, state: State) -> None:
    canvas.face(rectangle(place.x, place.y, place.z + 0.2, (13, 16), place.yaw), looks.backing, outline=0.7)
    for row in (-4.8, 0.0, 4.8):
        for column in (-3.1, 3.1):
            spot = _at(place, column, row, 0.3)
            canvas.face(rectangle(spot[0], spot[1], spot[2], (5.0, 3.6), place.yaw), looks.label, outline=0.7)
            bar = _at(place, column - 0.4, row, 0.35)
            canvas.face(rectangle(bar[0], bar[1], bar[2], (2.6, 1.8), place.yaw), INK)


def paint_label(canvas: Canvas, place: Place, looks: Looks, state: State) -> None:
    up = np.array([[-4.2, 0, -1.9], [4.2, 0, -1.9], [4.2, 0.4, 1.9], [-4.2, 0.4, 1.9]])
    centre = np.array([place.x, place.y, place.z])
    canvas.face(up + centre, looks.label, outline=0.7)
    _bars(canvas, up * (0.8, 1, 0.6) + centre)


def _bars(canvas: Canvas, corners: Points) -> None:
    for left, right in ((0.0, 0.12), (0.2, 0.26), (0.36, 0.5), (0.6, 0.68), (0.8, 1.0)):
        low, high = corners[1] - corners[0], corners[2] - corners[3]
        bar = [corners[0] + left * low, corners[0] + right * low, corners[3] + right * high, corners[3] + left * high]
        canvas.face(np.stack(bar), INK)


def paint_plug(canvas: Canvas, place: Place, looks: Looks, state: State) -> None:
    """The plug; its metal tip points to +x, its cable leaves to -x (the cord itself lies below everything)."""
    back, neck, tip = _at(place, -4.2, 0, 1.0), _at(place, 0.4, 0, 1.0), _at(place, 2.4, 0, 1.0)
    canvas.limb(neck, tip, (1.0, 1.0), STEEL, outline=0.5)
    canvas.limb(back, neck, (1.2, 1.9), looks.cable, outline=0.5)


def paint_coil(canvas: Canvas, home: Place, state: State, looks: Looks) -> None:
    """The cable: a coil where it lay at first, then by way of the hand that leads it, if any, to the plug."""
    angles, radii = np.linspace(0, 5 * np.pi, 40), np.linspace(5.6, 4.0, 40)
    x, y = home.x - 2 + radii * np.cos(angles), home.y + 0.8 * radii * np.sin(angles)
    ring = np.column_stack([x, y, np.full(40, 0.5)])
    canvas.cord(ring, 0.75, looks.cable)
    loop = state.places.get("loop")
    stops = [ring[0], *([] if loop is None else [_at(loop, 0, 0)]), _at(state.places["plug"], -4.2, 0, 1.0)]
    for start, end in pairwise(stops):
        share = np.linspace(0, 1, 10)[:, None]
        sag = np.sin(np.pi * share) * np.array([[-2.0, -4.0, 0.0]])
        canvas.cord(start + (end - start) * share + sag, 0.75, looks.cable)


def paint_bottle(canvas: Canvas, place: Place, looks: Looks, state: State) -> None:
    """A spray bottle, standing; the nozzle points to +x."""
    foot, shoulder, neck = (np.array([place.x, place.y, place.z + h]) for h in (2.0, 8.5, 12.0))
    canvas.limb(foot, shoulder, (3.0, 2.9), looks.bottle, outline=0.6)
    canvas.limb(shoulder, neck, (2.2, 1.0), mix(looks.bottle, PAPER, 0.35), outline=0.6)
    canvas.limb(_at(place, -1.2, 0, 13.0), _at(place, 3.4, -0.6, 13.4), (1.3, 0.8), PAPER, outline=0.6)
    canvas.limb(foot + np.array([0.6, -0.4, 1.0]), shoulder + np.array([0.6, -0.4, -1.0]), (1.4, 1.4), PAPER)


def paint_foam(canvas: Canvas, place: Place, looks: Looks, state: State) -> None:
    """Foam before the case that is being wiped up; a larger `yaw` leaves less of it."""
    for number in range(14):
        u, v = 15 * np.sin(2.4 * number), 5 * np.cos(3.7 * number)
        size = (1.0 + 0.8 * (number % 3)) * (1 - 0.6 * place.yaw)
        canvas.disc(np.array([place.x + u, place.y + v, 0.3]), size, (248.0, 250.0, 252.0))
        canvas.disc(np.array([place.x + u + 0.3, place.y + v - 0.3, 0.4]), 0.5 * size, (225.0, 232.0, 240.0))


def paint_cup(canvas: Canvas, place: Place, looks: Looks, state: State) -> None:
    foot, rim = np.array([place.x, place.y, place.z + 1.0]), np.array([place.x, place.y, place.z + 8.5])
    ear = np.stack([_at(place, 3.2, 0, 7), _at(place, 6.0, 0, 6.5), _at(place, 5.8, 0, 3.5), _at(place, 3.0, 0, 2.5)])
    canvas.cord(ear, 0.6, shade(looks.cup, 0.8))
    canvas.limb(foot, rim, (3.2, 3.7), shade(looks.cup, 0.85), outline=0.6)
    canvas.disc(rim, 3.6, looks.cup)
    canvas.disc(rim - (0, 0, 0.3), 3.0, (70.0, 46.0, 30.0))


def paint_phone(canvas: Canvas, place: Place, looks: Looks, state: State) -> None:
    canvas.box(place.x, place.y, place.z, (8.2, 15.5, 0.8), place.yaw, INK)
    glow = (150.0, 205.0, 250.0)
    canvas.face(rectangle(place.x, place.y, place.z + 0.85, (7.2, 13.5), place.yaw), glow)
    for row in (-4.5, -2.8, -1.1, 1.5, 3.6):
        spot = _at(place, 0.8 if row > 0 else 0.0, row, 0.9)
        size = (4.4, 1.3) if row > 0 else (6.4, 1.1)
        canvas.face(rectangle(spot[0], spot[1], spot[2], size, place.yaw), PAPER if row < 0 else (120.0, 220.0, 140.0))


def paint_hammer(canvas: Canvas, place: Place, looks: Looks, state: State) -> None:
    head, end = _at(place, 0, 1, 1.5), _at(place, 0, -15, 1.0)
    canvas.limb(head, end, (0.9, 1.2), (170.0, 120.0, 70.0), outline=0.6)
    canvas.limb(_at(place, -4.2, 1.5, 1.5), _at(place, 4.2, 1.5, 1.5), (1.9, 1.5), (110.0, 114.0, 122.0), outline=0.5)


PAINTERS: dict[str, Painter] = {
    "board": paint_board,
    "battery": paint_battery,
    "cloth": paint_cloth,
    "driver": paint_driver,
    "opener": paint_opener,
    "sheet": paint_sheet,
    "label": paint_label,
    "plug": paint_plug,
    "cup": paint_cup,
    "bottle": paint_bottle,
    "foam": paint_foam,
    "phone": paint_phone,
    "hammer": paint_hammer,
}
FOOTPRINTS = {
    "board": 6.0,
    "battery": 4.0,
    "cloth": 5.0,
    "driver": 1.5,
    "opener": 1.2,
    "sheet": 5.5,
    "plug": 1.5,
    "cup": 3.6,
    "bottle": 3.2,
    "phone": 5.0,
    "hammer": 3.0,
}

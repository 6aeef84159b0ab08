"""The mat and the case: hinged lid, screws, battery cradle, socket."""

from __future__ import annotations

import numpy as np

from .camera import Points
from .canvas import Canvas, mix, rectangle, shade
from .props import INK, STEEL
from .scene import State, Workplace

MAT_SIZE = (46.0, 34.0)
LID_TURN = 1.9  # radians from shut to open


def paint_mat(canvas: Canvas, workplace: Workplace, state: State) -> None:
    colour = workplace.person.looks.mat
    left, front, back = workplace.x - MAT_SIZE[0] / 2, workplace.y - MAT_SIZE[1] / 2, workplace.y + MAT_SIZE[1] / 2
    right = left + MAT_SIZE[0] * state.mat
    if state.mat > 0:
        canvas.face(
            np.array([[left, front, 0.1], [right, front, 0.1], [right, back, 0.1], [left, back, 0.1]]), colour, 0.7
        )
        pale = mix(colour, (255.0, 255.0, 255.0), 0.3)
        for x in np.arange(left + 5, right - 1, 7.0):
            canvas.cord(np.array([[x, front + 1, 0.15], [x, back - 1, 0.15]]), 0.08, pale)
        for y in np.arange(front + 4, back - 1, 7.0):
            canvas.cord(np.array([[left + 1, y, 0.15], [right - 0.5, y, 0.15]]), 0.08, pale)
    if state.mat < 1:
        radius = 3.2 - 1.4 * state.mat
        ends = np.array([[right, back, radius], [right, front, radius]])
        canvas.limb(ends[0], ends[1], (radius, radius), shade(colour, 0.85), outline=0.6)
        canvas.limb(
            ends[0] + (0, 0, radius / 2), ends[1] + (0, 0, radius / 2), (radius / 3, radius / 3), shade(colour, 1.15)
        )
        canvas.disc(ends[1], radius * 0.5, shade(colour, 0.45))


def cast_case(canvas: Canvas, workplace: Workplace, state: State) -> None:
    for level in (0.0, 0.5, 1.0):
        canvas.cast(rectangle(workplace.x, workplace.y, level * workplace.size[2], workplace.size[:2]))
    if state.lid > 0.1:
        canvas.cast(_lid(workplace, state.lid))


def paint_case(canvas: Canvas, workplace: Workplace, state: State) -> None:
    """Everything of the case but its front, which is painted after what lies inside."""
    looks = workplace.person.looks
    width, depth, height = workplace.size
    _paint_cradle(canvas, workplace)
    if state.lid > 0.8:
        paint_lid(canvas, workplace, state)
    base = rectangle(workplace.x, workplace.y, 0, (width, depth))
    canvas.prism(base, height, looks.case)
    inner = (width - 2.0, depth - 2.0)
    low, high = rectangle(workplace.x, workplace.y, 1.2, inner), rectangle(workplace.x, workplace.y, height, inner)
    canvas.face(high, shade(looks.inside, 0.55))
    for i, j, gain in ((1, 2, 0.75), (2, 3, 0.95), (3, 0, 0.65)):
        canvas.face(np.stack([low[i], low[j], high[j], high[i]]), shade(looks.inside, gain))
    canvas.face(low, looks.inside)


def paint_front(canvas: Canvas, workplace: Workplace, state: State) -> None:
    looks = workplace.person.looks
    width, _, height = workplace.size
    if state.lid > 0:
        rim = rectangle(workplace.x, workplace.front + 0.5, height, (width, 1.0))
        canvas.face(rim, shade(looks.case, 1.08), outline=0.8)
    left, right, y = workplace.x - width / 2, workplace.x + width / 2, workplace.front
    wall = np.array([[left, y, 0.0], [right, y, 0.0], [right, y, height], [left, y, height]])
    canvas.face(wall, shade(looks.case, 0.78), outline=0.7)
    socket = np.array([workplace.x - width / 2, workplace.y, 3.0])
    canvas.disc(socket, 1.1, INK)
    if state.lid <= 0.8:
        paint_lid(canvas, workplace, state)


def paint_screws(canvas: Canvas, workplace: Workplace, state: State) -> None:
    level = workplace.size[2] + 1.3 if state.is_screwed_through else 2.6
    for index in range(int(state.screws)):
        x, y = workplace.corner(index)
        canvas.disc(np.array([x, y, level]), 0.85, shade(STEEL, 0.7))
        canvas.disc(np.array([x, y, level + 0.1]), 0.6, (235.0, 238.0, 240.0))


def _lid(workplace: Workplace, openness: float) -> Points:
    """(4, 3): hinge left, hinge right, free right, free left."""
    width, depth, height = workplace.size
    angle = openness * LID_TURN
    hinge, swing = workplace.y + depth / 2, depth * np.array([-np.cos(angle), np.sin(angle)])
    left, right = workplace.x - width / 2, workplace.x + width / 2
    free = (hinge + swing[0], height + 0.3 + swing[1])
    return np.array([[left, hinge, height + 0.3], [right, hinge, height + 0.3], [right, *free], [left, *free]])


def paint_lid(canvas: Canvas, workplace: Workplace, state: State) -> None:
    looks, corners = workplace.person.looks, _lid(workplace, state.lid)
    angle = state.lid * LID_TURN
    thick = np.array([0.0, np.sin(angle), np.cos(angle)]) * 0.9
    shows_inside = angle > 0.9
    canvas.face(corners[[3, 2, 1, 0]] + (0 if shows_inside else thick), shade(looks.lid, 0.8), outline=0.6)
    canvas.face(np.stack([corners[3], corners[2], corners[2] + thick, corners[3] + thick]), shade(looks.lid, 0.7), 0.6)
    centre = corners.mean(axis=0)
    if shows_inside:
        canvas.face(centre + (corners - centre) * 0.86, shade(looks.inside, 1.3), outline=0.8)
        return
    canvas.face(corners + thick, looks.lid, outline=0.7)
    for share in (0.2, 0.5, 0.8):
        rib = corners[[0, 1]] + (corners[[3, 2]] - corners[[0, 1]]) * share
        middle = rib.mean(axis=0)
        canvas.cord(middle + (rib - middle) * 0.6 + thick, 0.25, shade(looks.lid, 0.82))


def _paint_cradle(canvas: Canvas, workplace: Workplace) -> None:
    seat = workplace.seats["battery"]
    length, width, _ = workplace.person.looks.battery_size
    canvas.box(seat.x, seat.y, 0, (width + 0.8, length + 0.6, 0.8), 0.0, shade(workplace.person.looks.case, 0.6))

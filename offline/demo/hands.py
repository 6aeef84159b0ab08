"""Two hands with forearms that come from the bottom of the picture."""

from __future__ import annotations

import numpy as np

from .camera import Points
from .canvas import Canvas, Colour, mix, shade
from .gestures import Pose
from .person import Person

ELBOWS = {"main": np.array([27.0, -22.0, 7.0]), "helper": np.array([-27.0, -22.0, 7.0])}
_GRIP = 6.0  # the pose's point lies this far before the middle of the palm, under the fingers
_FINGERS = ((-2.9, 6.6), (-1.0, 7.4), (0.95, 7.0), (2.8, 5.6))  # offset across the palm, length (cm), index first


class Hand:
    """One hand laid out in the world: local u across (to the little finger), v forward, w up."""

    def __init__(self, pose: Pose, side: str, person: Person) -> None:
        self.pose, self.size = pose, person.hand_size
        self.side = 1.0 if side == "main" else -1.0  # the main hand's thumb points to -u
        grip = np.array([pose.x, pose.y, pose.z])
        self.elbow = ELBOWS[side] + 0.12 * (grip - (self.side * 15, 8, 2)) * (1, 1, 0)
        reach = grip - self.elbow
        heading = np.arctan2(reach[1], reach[0]) - np.pi / 2 + pose.turn
        self.cos, self.sin = float(np.cos(heading)), float(np.sin(heading))
        back = _GRIP * self.size
        self.palm = (pose.x + back * self.sin, pose.y - back * self.cos, pose.z + 1.2)
        self.wrist = self.at(0, -5.2, 0.4)
        self.fingers = self._lay_fingers()

    def at(self, u: float, v: float, w: float = 0.0) -> Points:
        """(3,) world point of a local one; never below the table."""
        u, v = self.size * self.side * u, self.size * v
        x, y, z = self.palm
        return np.array([x + u * self.cos - v * self.sin, y + u * self.sin + v * self.cos, max(z + w * self.size, 0.4)])

    def _lay_fingers(self) -> list[tuple[Points, Points, Points]]:
        """Knuckle, middle joint and tip of the four fingers, index first."""
        curl, pinch = self.pose.curl, self.pose.pinch
        found = []
        for number, (u, length) in enumerate(_FINGERS):
            bend = min(1.0, curl + (0.25 * pinch if number else 0.0))
            spread = u * (1.0 + 0.12 * (1 - bend))
            knuckle = self.at(u, 3.4, 0.3)
            middle = self.at(spread, 3.6 + length * (0.5 - 0.16 * bend), 0.5 * bend)
            tip = self.at(spread * (1 - 0.1 * bend), 3.6 + length * (1 - 0.72 * bend), -0.6 - 2.2 * bend)
            if number == 0 and pinch:
                tip = tip + (self.at(-1.9, 7.4, -2.0) - tip) * pinch
            found.append((knuckle, middle, tip))
        return found

    def thumb(self) -> tuple[Points, Points, Points]:
        pinch, curl = self.pose.pinch, self.pose.curl
        tip = self.at(-6.0 + 2.6 * curl, 3.8, -0.5)
        tip = tip + (self.at(-2.5, 6.9, -2.0) - tip) * pinch
        return self.at(-2.4, -2.6, 0.0), self.at(-4.9 + 0.8 * max(curl, pinch), 1.0, 0.2), tip


def cast_hand(canvas: Canvas, hand: Hand) -> None:
    """The shadow of hand and forearm on the table."""
    canvas.cast_limb(hand.elbow, hand.wrist, (4.6, 3.0))
    canvas.cast_limb(hand.wrist, hand.at(0, 3), (3.0, 4.2 * hand.size))
    for _, middle, tip in hand.fingers:
        canvas.cast_limb(middle, tip, (1.0, 0.8))


def paint_hand(canvas: Canvas, hand: Hand, person: Person) -> None:
    _paint_forearm(canvas, hand, person)
    skin, size = person.skin, hand.size
    _paint_digit(canvas, hand.thumb(), (1.35 * size, 1.1 * size, 0.85 * size), shade(skin, 0.95))
    corners = [hand.at(-2.6, 3.2), hand.at(2.6, 3.2), hand.at(2.0, -3.4), hand.at(-2.0, -3.4)]
    canvas.limb(corners[1], corners[2], (1.35 * size, 1.5 * size), shade(skin, 0.86))
    canvas.limb(corners[0], corners[3], (1.35 * size, 1.5 * size), shade(skin, 0.98))
    canvas.limb(hand.at(0, 3.0), hand.at(0, -3.6), (2.6 * size, 2.3 * size), shade(skin, 0.93))
    for digit in reversed(hand.fingers):
        _paint_digit(canvas, digit, (1.0 * size, 0.92 * size, 0.76 * size), skin)


def _paint_forearm(canvas: Canvas, hand: Hand, person: Person) -> None:
    elbow, wrist = hand.elbow, hand.wrist
    cuff = elbow + (wrist - elbow) * person.sleeve_share
    radius = 4.6 - 1.9 * person.sleeve_share
    canvas.limb(elbow, wrist, (4.2, 2.3), shade(person.skin, 0.9), outline=0.7)
    canvas.limb(elbow, cuff, (5.4, radius + 0.9), person.sleeve, outline=0.65)
    edge = elbow + (wrist - elbow) * (person.sleeve_share - 0.07)
    canvas.limb(edge, cuff, (radius + 0.9, radius + 0.9), shade(person.sleeve, 0.8))


def _paint_digit(
    canvas: Canvas, joints: tuple[Points, Points, Points], radii: tuple[float, float, float], colour: Colour
) -> None:
    dark = shade(colour, 0.72)
    for i in (0, 1):
        canvas.limb(joints[i], joints[i + 1], (radii[i] + 0.22, radii[i + 1] + 0.22), dark)
    for i in (0, 1):
        canvas.limb(joints[i], joints[i + 1], (radii[i], radii[i + 1]), colour)
    nail = joints[1] + (joints[2] - joints[1]) * 0.96 + (0, 0, 0.4)
    canvas.disc(nail, radii[2] * 0.5, mix(colour, (255.0, 225.0, 215.0), 0.45))

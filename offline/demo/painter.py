"""A moment painted: room, mat, shadows, case, loose things from far to near, hands on top."""

from __future__ import annotations

import numpy as np

from guide.domain import Image

from .camera import Camera
from .canvas import Canvas
from .gestures import Moment
from .hands import Hand, cast_hand, paint_hand
from .housing import cast_case, paint_case, paint_front, paint_mat, paint_screws
from .person import Person
from .props import FOOTPRINTS, PAINTERS, paint_coil
from .room import Room
from .scene import Place, State, Workplace

# Held from above, these stick out between the fingers and hide them.
_OVER_HAND = ("driver", "phone")


class Painter:
    """Paints the moments of one person's recording.

    >>> from .acting import act
    >>> from .person import sample_person
    >>> from .script import sample_script
    >>> person = sample_person(np.random.default_rng(3))
    >>> moment = next(act(sample_script(np.random.default_rng(3)), Workplace(person)))
    >>> Painter(person).paint(moment, Camera(person.eye, (0.0, 28.0, 0.0))).shape
    (240, 320, 3)
    """

    def __init__(self, person: Person) -> None:
        self.person, self.workplace, self.room = person, Workplace(person), Room(person)
        self.coil = self.workplace.start().places["plug"]

    def paint(self, moment: Moment, camera: Camera) -> Image:
        """(H, W, 3) RGB, before the sensor."""
        canvas = Canvas(self.room.view(camera), camera, self.person.light)
        hands = [Hand(moment.main, "main", self.person), Hand(moment.helper, "helper", self.person)]
        paint_mat(canvas, self.workplace, moment.state)
        self._shade(canvas, moment.state, hands)
        self._paint_things(canvas, moment.state)
        for hand in sorted(hands, key=lambda hand: -hand.palm[1]):
            paint_hand(canvas, hand, self.person)
        for name in _OVER_HAND:
            if name in moment.state.places and not self._is_under(name, moment.state):
                self._paint_thing(canvas, name, moment.state)
        canvas.flush()
        return canvas.image

    def _shade(self, canvas: Canvas, state: State, hands: list[Hand]) -> None:
        cast_case(canvas, self.workplace, state)
        for name, place in state.places.items():
            if name in FOOTPRINTS:
                point = np.array([place.x, place.y, place.z + 1.0])
                canvas.cast_limb(point, point, (FOOTPRINTS[name], FOOTPRINTS[name]))
        for hand in hands:
            cast_hand(canvas, hand)
        canvas.shade_ground()

    def _paint_things(self, canvas: Canvas, state: State) -> None:
        loose = {
            name: place for name, place in state.places.items() if name in PAINTERS and self._is_under(name, state)
        }
        inside = [name for name, place in loose.items() if self._is_inside(name, place)]
        behind = [name for name, place in loose.items() if name not in inside and place.y > self.workplace.y + 5]
        before = [name for name in loose if name not in inside and name not in behind]
        paint_coil(canvas, self.coil, state, self.person.looks)
        for name in sorted(behind, key=lambda name: -loose[name].y):
            self._paint_thing(canvas, name, state)
        paint_case(canvas, self.workplace, state)
        for name in inside:
            self._paint_thing(canvas, name, state)
        if not state.is_screwed_through:
            paint_screws(canvas, self.workplace, state)
        paint_front(canvas, self.workplace, state)
        if state.is_screwed_through:
            paint_screws(canvas, self.workplace, state)
        if "foam" in before:
            self._paint_thing(canvas, before.pop(before.index("foam")), state)
        for name in sorted(before, key=lambda name: -loose[name].y + 2 * loose[name].z * (name == "label")):
            self._paint_thing(canvas, name, state)

    def _is_under(self, name: str, state: State) -> bool:
        """Whether a thing is painted before the hands."""
        return name not in _OVER_HAND or (name == "driver" and not state.spin)

    def _is_inside(self, name: str, place: Place) -> bool:
        seat = self.workplace.seats["board"]
        return (
            name == "board"
            and abs(place.x - seat.x) < 3
            and abs(place.y - seat.y) < 3
            and place.z < self.workplace.size[2]
        )

    def _paint_thing(self, canvas: Canvas, name: str, state: State) -> None:
        PAINTERS[name](canvas, state.places[name], self.person.looks, state)

"""The state of the workplace: what lies where and what is done. What was done stays done, in whatever order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from .person import Person


@dataclass(frozen=True, slots=True)
class Place:
    """Where a thing lies (cm) and how it is turned (radians).

    >>> Place(0, 0, 0).towards(Place(10, 0, 0), 0.5, lift=4)
    Place(x=5.0, y=0.0, z=4.0, yaw=0.0)
    """

    x: float
    y: float
    z: float
    yaw: float = 0.0

    def towards(self, other: Place, share: float, lift: float = 0.0) -> Place:
        """The place after a share of the way there, carried in an arc of height `lift`."""
        share = min(max(share, 0.0), 1.0)
        smooth = share * share * (3 - 2 * share)
        here, there = np.array([self.x, self.y, self.z, self.yaw]), np.array([other.x, other.y, other.z, other.yaw])
        x, y, z, yaw = here + (there - here) * smooth
        return Place(float(x), float(y), float(z + lift * np.sin(np.pi * smooth)), float(yaw))

    def moved(self, x: float = 0.0, y: float = 0.0, z: float = 0.0, yaw: float = 0.0) -> Place:
        return Place(self.x + x, self.y + y, self.z + z, self.yaw + yaw)


@dataclass(frozen=True, slots=True)
class State:
    """The workplace at one moment: `mat` and `lid` from 0 (rolled, shut) to 1 (laid, open), `screws` 0 to 4.

    `places` holds the loose things; one that is missing is out of sight. `spin` turns what is being turned.
    `is_screwed_through` says that the screws went in through the shut lid.
    """

    mat: float
    lid: float
    screws: float
    places: Mapping[str, Place]
    spin: float = 0.0
    is_screwed_through: bool = False

    def put(self, **places: Place | None) -> State:
        merged = {**self.places, **places}
        return replace(self, places={name: place for name, place in merged.items() if place is not None})


@dataclass(frozen=True, slots=True)
class Workplace:
    """A person's workplace: where the case stands and where each thing belongs once it is fitted."""

    person: Person

    @property
    def x(self) -> float:
        return self.person.centre[0]

    @property
    def y(self) -> float:
        return self.person.centre[1]

    @property
    def size(self) -> tuple[float, float, float]:
        return self.person.looks.case_size

    @property
    def front(self) -> float:
        return self.y - self.size[1] / 2

    @property
    def seats(self) -> dict[str, Place]:
        width, _, height = self.size
        bay = self.x + width / 2 + self.person.looks.battery_size[1] / 2 + 0.4
        return {
            "board": Place(self.x, self.y, 1.8),
            "battery": Place(bay, self.y, 0.8, np.pi / 2),
            "plug": Place(self.x - width / 2 - 1.6, self.y, 2.2),
            "label": Place(self.x + 2, self.front - 0.1, height / 2),
        }

    def corner(self, index: int) -> tuple[float, float]:
        """Where screw 0..3 goes (x, y)."""
        width, depth = self.person.looks.board_size
        return (
            self.x + (0.44 * width if index in (1, 2) else -0.44 * width),
            self.y + (0.42 * depth if index > 1 else -0.42 * depth),
        )

    def start(self) -> State:
        """The workplace before anything is done."""
        places = {name: Place(x, y, 0.0, yaw) for name, (x, y, yaw) in self.person.slots.items()}
        return State(mat=0.0, lid=0.0, screws=0.0, places=places)

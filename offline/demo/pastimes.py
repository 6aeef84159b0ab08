"""What people do between steps, and two activities no demonstration ever shows."""

from __future__ import annotations

import numpy as np

from .gestures import REST_HELPER, REST_MAIN, ActivityMoment, Gesture, Moment, Pose
from .scene import Place
from .script import Activity

# Where eyes wander: far left, far right, up to the wall, down to the lap side.
_SIGHTS = (
    (-75.0, 60.0, 5.0),
    (80.0, 65.0, 5.0),
    (-40.0, 130.0, 40.0),
    (50.0, 130.0, 45.0),
    (58.0, 20.0, 0.0),
    (-58.0, 22.0, 0.0),
)


def rest(do: ActivityMoment) -> Moment:
    sway = 0.6 * do.wave(0.2)
    main = Pose(REST_MAIN.x + sway, REST_MAIN.y, 1.5, curl=0.45)
    helper = Pose(REST_HELPER.x + sway, REST_HELPER.y - sway, 1.5, curl=0.4)
    return Moment(main, helper, (do.workplace.x, do.workplace.y - 6, 0), do.before)


def fiddle(do: ActivityMoment) -> Moment:
    rub = do.wave(0.8)
    x, y = do.workplace.x, do.workplace.front - 9
    main = Pose(x + 2.5 + rub, y + rub, 6, turn=-0.8, curl=0.4)
    helper = Pose(x - 2.5 - rub, y - rub, 4.5, turn=0.8, curl=0.4)
    return Moment(main, helper, (x, y + 6, 3), do.before)


def look_away(do: ActivityMoment) -> Moment:
    still = rest(do)
    return Moment(still.main, still.helper, _SIGHTS[do.variant % len(_SIGHTS)], do.before)


def drink(do: ActivityMoment) -> Moment:
    home = do.before.places["cup"]
    mouth = Place(do.workplace.x + 8, 4, 19)
    cup = home.towards(mouth, do.part(0.15, 0.4)).towards(home, do.part(0.65, 0.9))
    main = Pose(cup.x + 3, cup.y - 2, cup.z + 4, turn=-0.3, curl=0.6)
    return Moment(main, REST_HELPER, (cup.x * 0.6, cup.y + 14, 0), do.before.put(cup=cup))


def tidy(do: ActivityMoment) -> Moment:
    """A thing that lies about is touched and shifted, to no purpose."""
    loose = [name for name, place in do.before.places.items() if name in do.workplace.person.slots and place.z == 0.0]
    name = sorted(loose)[do.variant % len(loose)]
    place = do.before.places[name]
    nudged = place.moved(
        x=1.0 * do.wave(0.5) * do.part(0.2, 0.3) * (1 - do.part(0.8, 0.9)),
        yaw=0.2 * do.wave(0.4) * do.part(0.2, 0.3) * (1 - do.part(0.8, 0.9)),
    )
    hand = Pose(nudged.x, nudged.y - 2, 3, turn=0.3 * do.wave(0.4), curl=0.35, pinch=0.4)
    far = (nudged.x * 0.7 + do.workplace.x * 0.3, nudged.y * 0.8 + do.workplace.y * 0.2, 0.0)
    state = do.before.put(**{name: nudged})
    if nudged.x < do.workplace.x:
        return Moment(REST_MAIN, hand, far, state)
    return Moment(hand, REST_HELPER, far, state)


def use_phone(do: ActivityMoment) -> Moment:
    held = Place(do.workplace.x - 2, do.workplace.front - 7, 12, 0.1 * do.wave(0.3))
    phone = Place(-16, -12, 4).towards(held, do.part(0.0, 0.15)).towards(Place(-16, -12, 4), do.part(0.92, 1.0))
    tap = do.wave(1.3)
    helper = Pose(phone.x - 2.5, phone.y - 3, phone.z - 0.6, turn=-0.3, curl=0.3)
    main = Pose(
        phone.x + 2 + 1.2 * float(np.sin(3.1 * do.time_s)),
        phone.y - 1 + 2 * float(np.sin(1.9 * do.time_s)),
        phone.z + 1.6 + tap,
        pinch=0.9,
        curl=0.7,
    )
    return Moment(main, helper, (phone.x, phone.y + 5, 6), do.before.put(phone=phone))


def hammer(do: ActivityMoment) -> Moment:
    blow = max(do.wave(0.9), -0.5)
    spot = Place(do.workplace.x + 9, do.workplace.front - 7, 2 + 8 * (blow + 0.5), 0.15)
    tool = Place(26, -12, 4).towards(spot, do.part(0.0, 0.15)).towards(Place(26, -12, 4), do.part(0.92, 1.0))
    main = Pose(tool.x + 1, tool.y - 10, tool.z + 1, curl=0.9)
    helper = Pose(do.workplace.x - 1, do.workplace.front - 6, 1.5, pinch=0.8, curl=0.4)
    return Moment(main, helper, (spot.x, spot.y + 3, 2), do.before.put(hammer=tool))


PASTIMES: dict[Activity, Gesture] = {
    "rest": rest,
    "fiddle": fiddle,
    "look": look_away,
    "cup": drink,
    "tidy": tidy,
    "phone": use_phone,
    "hammer": hammer,
}

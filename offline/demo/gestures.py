"""How each step is done: hands, gaze and things as functions of the state before it and how far it has come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from .scene import Place, State, Workplace
from .task import BATTERY, BOARD, CABLE, CLOSE, LABEL, MAT, OPEN, SCREWS, WIPE


@dataclass(frozen=True, slots=True)
class Pose:
    """A hand: where it grips (cm), how it is turned beside its forearm, how far it is closed or pinches (0 to 1).

    >>> Pose(0, 0, 0).blend(Pose(2, 4, 6), 0.5).y
    2.0
    """

    x: float
    y: float
    z: float
    turn: float = 0.0
    curl: float = 0.2
    pinch: float = 0.0

    def blend(self, other: Pose, share: float) -> Pose:
        a, b = np.array(self.values), np.array(other.values)
        return Pose(*(a + (b - a) * share).tolist())

    @property
    def values(self) -> tuple[float, ...]:
        return (self.x, self.y, self.z, self.turn, self.curl, self.pinch)


@dataclass(frozen=True, slots=True)
class Moment:
    """What is to be drawn at one moment; `focus` is what the eyes are on."""

    main: Pose
    helper: Pose
    focus: tuple[float, float, float]
    state: State


@dataclass(frozen=True, slots=True)
class ActivityMoment:
    """One moment of an activity: `phase` runs from 0 to 1, `time_s` is scaled by the person's own tempo."""

    workplace: Workplace
    before: State
    phase: float
    time_s: float
    variant: int = 0

    def part(self, start: float, end: float) -> float:
        """The share of the phases from `start` to `end` that is over."""
        return min(max((self.phase - start) / (end - start), 0.0), 1.0)

    def wave(self, hertz: float) -> float:
        return float(np.sin(2 * np.pi * hertz * self.time_s))


Gesture: TypeAlias = Callable[[ActivityMoment], Moment]

REST_MAIN = Pose(15, 5, 1.5, curl=0.45)
REST_HELPER = Pose(-15, 5, 1.5, curl=0.45)


def lay_mat(do: ActivityMoment) -> Moment:
    workplace, laid = do.workplace, do.part(0.08, 0.72)
    x = workplace.x - 23 + 46 * laid
    stroke = 7 + 11 * abs(do.wave(0.4))
    if laid < 1:
        main, helper = Pose(x + 2, workplace.y - 7, 3.5, curl=0.3), Pose(workplace.x - 20, workplace.y - 9, 1, curl=0.1)
    else:
        main, helper = (
            Pose(workplace.x + stroke, workplace.front - 5, 0.8, curl=0),
            Pose(workplace.x - stroke, workplace.front - 5, 0.8, curl=0),
        )
    return Moment(main, helper, (x * 0.5, workplace.y - 4, 0), replace(do.before, mat=max(laid, do.before.mat)))


def open_case(do: ActivityMoment) -> Moment:
    workplace, home, lifted = do.workplace, do.before.places["opener"], do.part(0.74, 0.96)
    width, depth, height = workplace.size
    sweep = workplace.x + width * 0.46 * float(np.sin(2 * np.pi * 0.3 * do.time_s))
    edge = Place(sweep, workplace.front - 1, height, 0.2 * do.wave(1.6))
    tool = home.towards(edge, do.part(0.06, 0.17), lift=6).towards(home, do.part(0.54, 0.68), lift=5)
    if do.phase < 0.68:
        main = Pose(tool.x + 0.5, tool.y - 5.5, tool.z + 1.2, pinch=0.8, curl=0.5)
        helper = Pose(workplace.x - width / 2 - 1, workplace.y - 3, height * 0.6, turn=-0.3, curl=0.35)
    else:
        angle = lifted * 1.9
        y, z = workplace.y + depth / 2 - depth * float(np.cos(angle)), height + depth * float(np.sin(angle))
        main, helper = (
            Pose(workplace.x + width * 0.3, y, z, pinch=0.6),
            Pose(workplace.x - width * 0.3, y, z, pinch=0.6),
        )
    state = replace(do.before, lid=max(lifted, do.before.lid)).put(opener=tool)
    return Moment(main, helper, (workplace.x, workplace.y - 2, height), state)


def fit_board(do: ActivityMoment) -> Moment:
    workplace, seat = do.workplace, do.workplace.seats["board"]
    hover = seat.moved(z=4.5)
    board = do.before.places["board"].towards(hover, do.part(0.07, 0.3), lift=7)
    push = 0.5 + 0.5 * do.wave(0.9)
    board = board.towards(
        seat.moved(z=1.6 * push * (1 - do.part(0.85, 0.95)), yaw=0.09 * do.wave(0.7)), do.part(0.35, 0.5)
    )
    half = workplace.person.looks.board_size[0] / 2
    c, s = float(np.cos(board.yaw)), float(np.sin(board.yaw))
    main = Pose(board.x + half * c, board.y + half * s - 1, board.z + 1.6, turn=0.5, pinch=0.7, curl=0.3)
    helper = Pose(board.x - half * c, board.y - half * s - 1, board.z + 1.6, turn=-0.5, pinch=0.7, curl=0.3)
    return Moment(main, helper, (board.x, board.y, board.z), do.before.put(board=board))


def drive_screws(do: ActivityMoment) -> Moment:
    workplace, home = do.workplace, do.before.places["driver"]
    turn = do.part(0.14, 0.85) * 3.999
    corner, share = int(turn), turn % 1
    x, y = workplace.corner(corner)
    floor = workplace.size[2] + 0.6 if do.before.lid < 0.5 else 2.4
    down = Place(x, y, floor + 1.2 * (1 - share))
    driver = home.towards(down, do.part(0.05, 0.14), lift=8).towards(home, do.part(0.86, 1.0), lift=5)
    is_turning = 0.14 < do.phase < 0.86
    upright = 1.0 if 0.1 < do.phase < 0.92 else 0.0
    main = Pose(
        driver.x + 0.8, driver.y - 0.5, driver.z + 9.5 * upright + 1, turn=0.35 * do.wave(1.7) * is_turning, curl=0.85
    )
    helper = Pose(x - 4, y - 1.5, floor + 0.8, turn=-0.2, pinch=0.8, curl=0.4)
    done = max(do.before.screws, min(turn, 4.0)) if do.phase < 0.85 else 4.0
    state = replace(do.before, screws=done, spin=do.time_s * 6 * is_turning + upright * 1e-3)
    state = replace(state, is_screwed_through=do.before.lid < 0.5).put(driver=driver)
    return Moment(main, helper, (x, y, 4), state)


def insert_battery(do: ActivityMoment) -> Moment:
    workplace, seat = do.workplace, do.workplace.seats["battery"]
    ready = seat.moved(y=-11, z=1.2)
    battery = do.before.places["battery"].towards(ready, do.part(0.07, 0.32), lift=6)
    shove = do.part(0.42, 0.9)
    battery = battery.towards(seat.moved(y=-2.5 * (0.5 + 0.5 * do.wave(0.8)) * (1 - do.part(0.85, 0.95))), shove)
    reach = workplace.person.looks.battery_size[0] / 2
    main = Pose(battery.x + 0.5, battery.y - reach * 0.6, battery.z + 3.4, curl=0.5, pinch=0.2)
    helper = Pose(workplace.x + 1, workplace.y + 1, workplace.size[2] + 1.2, turn=0.5, curl=0.1)
    return Moment(main, helper, (battery.x, battery.y, 2), do.before.put(battery=battery))


def plug_cable(do: ActivityMoment) -> Moment:
    workplace, seat = do.workplace, do.workplace.seats["plug"]
    ready = seat.moved(x=-7, z=1.5)
    plug = do.before.places["plug"].towards(ready, do.part(0.07, 0.3), lift=8)
    wiggle = (1 - do.part(0.86, 0.95)) * do.part(0.4, 0.45)
    plug = plug.towards(
        seat.moved(x=-2.2 * wiggle * (0.5 + 0.5 * do.wave(1.1)), yaw=0.25 * wiggle * do.wave(0.8)), do.part(0.4, 0.6)
    )
    helper = Pose(plug.x - 2.5, plug.y - 1, plug.z + 1.2, turn=-0.7, pinch=1, curl=0.6)
    lead = Place(workplace.x + 5 + do.wave(0.5), workplace.front - 6, 6)
    loop = do.before.places["plug"].towards(lead, do.part(0.1, 0.3), lift=2)
    main = Pose(loop.x + 1, loop.y - 1, loop.z + 1, pinch=0.9, curl=0.5)
    state = do.before.put(plug=plug, loop=loop if do.phase < 0.97 else None)
    return Moment(main, helper, (plug.x, plug.y, 2), state)


def wipe_dust(do: ActivityMoment) -> Moment:
    workplace, home = do.workplace, do.before.places["cloth"]
    drift = float(np.sin(0.9 * do.time_s))
    sweep = Place(workplace.x + 4 + 12 * do.wave(0.75), workplace.front - 6.5 + 2.5 * drift, 0.4, 0.5 * do.wave(0.75))
    cloth = home.towards(sweep, do.part(0.06, 0.17), lift=4).towards(home, do.part(0.86, 1.0), lift=3)
    main = Pose(cloth.x, cloth.y - 2.5, cloth.z + 1.6, turn=0.2 * do.wave(0.75), curl=0.0)
    spot, stand = Place(workplace.x - 13, workplace.front - 3, 2 + do.wave(0.6)), do.before.places["bottle"]
    bottle = stand.towards(spot, do.part(0.06, 0.17), lift=4).towards(stand, do.part(0.86, 1.0), lift=4)
    helper = Pose(bottle.x - 1.5, bottle.y - 1.5, bottle.z + 9, turn=-0.2, curl=0.65)
    foam = Place(workplace.x + 2, workplace.front - 6.5, 0, do.phase) if 0.12 < do.phase < 0.9 else None
    return Moment(
        main, helper, (workplace.x, workplace.front - 3, 0), do.before.put(cloth=cloth, bottle=bottle, foam=foam)
    )


def close_lid(do: ActivityMoment) -> Moment:
    workplace = do.workplace
    width, depth, height = workplace.size
    was_shut = do.before.lid < 0.5
    lid = (0.35 if was_shut else 1.0) * (1 - do.part(0.1, 0.36))
    if do.phase < 0.38:
        y, z = workplace.y + depth / 2 - depth * float(np.cos(lid * 1.9)), height + depth * float(np.sin(lid * 1.9))
        main, helper = (
            Pose(workplace.x + width * 0.3, y, z, pinch=0.5),
            Pose(workplace.x - width * 0.3, y, z, pinch=0.5),
        )
    else:
        press = 1.4 + 1.8 * max(do.wave(0.9), -0.2)
        main = Pose(workplace.x + width * 0.26, workplace.y + 1, height + press, turn=-0.15, curl=0.0)
        helper = Pose(workplace.x - width * 0.26, workplace.y + 1, height + press, turn=0.15, curl=0.0)
    return Moment(main, helper, (workplace.x, workplace.y, height), replace(do.before, lid=lid))


def stick_label(do: ActivityMoment) -> Moment:
    workplace, seat, home = do.workplace, do.workplace.seats["label"], do.before.places["sheet"]
    held = Place(workplace.x - 6, workplace.front - 7, 10, 0.15 * do.wave(0.4))
    sheet = home.towards(held, do.part(0.06, 0.16), lift=3).towards(home, do.part(0.87, 1.0), lift=3)
    peel = do.part(0.16, 0.6)
    off = sheet.moved(x=3 + 8 * peel, y=-1 + do.wave(0.9) * (1 - peel), z=1 + 2 * peel)
    label = off.towards(seat, do.part(0.62, 0.72), lift=1)
    rub = do.part(0.72, 0.74) * do.wave(0.8)
    main = Pose(label.x + 0.8 + 3 * rub, label.y - 1.2, label.z + 0.8, pinch=1 - 0.6 * do.part(0.7, 0.75), curl=0.5)
    helper = Pose(sheet.x - 5.5, sheet.y - 3, sheet.z + 0.8, turn=-0.3, pinch=0.6)
    is_off = do.phase > 0.16
    places = do.before.put(sheet=sheet, label=label if is_off else do.before.places.get("label"))
    return Moment(main, helper, (workplace.x, workplace.front - 4, 3), places)


STEPS: dict[int, Gesture] = {
    MAT: lay_mat,
    OPEN: open_case,
    BOARD: fit_board,
    SCREWS: drive_screws,
    BATTERY: insert_battery,
    CABLE: plug_cable,
    WIPE: wipe_dust,
    CLOSE: close_lid,
    LABEL: stick_label,
}

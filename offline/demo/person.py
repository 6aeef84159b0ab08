"""Who does the task and where: everything that differs from person to person."""

from __future__ import annotations

import colorsys
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from .canvas import Colour

TableKind: TypeAlias = Literal["wood", "speckle", "plain", "planks", "metal"]
TABLES: tuple[TableKind, ...] = ("wood", "speckle", "plain", "planks", "metal")
_SKINS: tuple[Colour, ...] = ((236, 196, 170), (214, 162, 128), (176, 122, 88), (128, 84, 58), (92, 60, 44))
_GLOVES: tuple[Colour, ...] = ((70, 110, 190), (235, 235, 230), (60, 60, 64))
# Loose things lie here, around the work place (cm).
SLOTS = (
    (-31.0, 14.0),
    (-33.0, 27.0),
    (-31.0, 41.0),
    (31.0, 14.0),
    (33.0, 27.0),
    (31.0, 41.0),
    (-14.0, 50.0),
    (14.0, 50.0),
    (-31.0, 54.0),
)
LOOSE = ("board", "battery", "plug", "cloth", "driver", "opener", "sheet", "cup", "bottle")


@dataclass(frozen=True, slots=True)
class Looks:
    """Colours and shapes of the things handled."""

    mat: Colour
    case: Colour
    lid: Colour
    inside: Colour
    case_size: tuple[float, float, float]
    board: Colour
    board_size: tuple[float, float]
    chips: tuple[tuple[float, float, float, float], ...]
    battery: Colour
    battery_size: tuple[float, float, float]
    is_battery_round: bool
    cable: Colour
    cloth: Colour
    cloth_size: float
    handle: Colour
    handle_size: tuple[float, float]
    opener: Colour
    label: Colour
    backing: Colour
    bottle: Colour
    cup: Colour


@dataclass(frozen=True, slots=True)
class Person:
    """One person at one table under one light.

    >>> person = sample_person(np.random.default_rng(1))
    >>> sorted(person.slots) == sorted(LOOSE)
    True
    """

    skin: Colour
    sleeve: Colour
    sleeve_share: float
    hand_size: float
    is_left_handed: bool
    table_kind: TableKind
    table: Colour
    wall: Colour
    clutter_seed: int
    light: tuple[float, float]
    light_colour: Colour
    eye: tuple[float, float, float]
    tempo: float
    centre: tuple[float, float]
    slots: dict[str, tuple[float, float, float]]
    looks: Looks


def sample_person(rng: np.random.Generator) -> Person:
    """A person, drawn with care for what stays the same: what the things are."""
    warm = rng.uniform(-1, 1)
    angle, length = rng.uniform(0, 2 * np.pi), rng.uniform(0.3, 0.9)
    has_gloves = rng.random() < 0.25
    skin = _GLOVES[int(rng.integers(3))] if has_gloves else _SKINS[int(rng.integers(len(_SKINS)))]
    return Person(
        skin=_jitter(skin, rng, 12),
        sleeve=_hue(rng.random(), rng.uniform(0.1, 0.7), rng.uniform(0.2, 0.85)),
        sleeve_share=float(rng.choice([0.35, 0.6, 0.8, 0.9])),
        hand_size=rng.uniform(0.9, 1.12),
        is_left_handed=bool(rng.random() < 0.15),
        table_kind=TABLES[int(rng.integers(len(TABLES)))],
        table=_table_colour(rng),
        wall=_hue(rng.random(), rng.uniform(0.02, 0.3), rng.uniform(0.45, 0.9)),
        clutter_seed=int(rng.integers(2**31)),
        light=(float(length * np.cos(angle)), float(length * np.sin(angle))),
        light_colour=(1 + 0.1 * warm, 1.0, 1 - 0.12 * warm),
        eye=(rng.uniform(-3, 3), rng.uniform(-12, -4), rng.uniform(43, 54)),
        tempo=rng.uniform(0.85, 1.2),
        centre=(rng.uniform(-3, 3), rng.uniform(27, 32)),
        slots=_sample_slots(rng),
        looks=_sample_looks(rng),
    )


def _sample_slots(rng: np.random.Generator) -> dict[str, tuple[float, float, float]]:
    places = rng.permutation(len(SLOTS))
    return {
        name: (
            SLOTS[slot][0] + rng.uniform(-2, 2),
            SLOTS[slot][1] + rng.uniform(-2, 2),
            rng.uniform(-0.6, 0.6),
        )
        for name, slot in zip(LOOSE, places, strict=True)
    }


def _sample_looks(rng: np.random.Generator) -> Looks:
    case = _hue(rng.random(), rng.uniform(0.0, 0.45), rng.uniform(0.3, 0.85))
    width, depth = rng.uniform(20, 25), rng.uniform(13.5, 16.5)
    return Looks(
        mat=_hue(
            rng.choice([0.36, 0.45, 0.6, 0.75, 0.95]) + rng.uniform(-0.03, 0.03),
            rng.uniform(0.3, 0.6),
            rng.uniform(0.3, 0.6),
        ),
        case=case,
        lid=_jitter(case, rng, 25) if rng.random() < 0.5 else _hue(rng.random(), 0.3, rng.uniform(0.3, 0.9)),
        inside=_hue(rng.random(), 0.1, rng.uniform(0.2, 0.4)),
        case_size=(width, depth, rng.uniform(4.5, 6.5)),
        board=_hue(rng.choice([0.36, 0.36, 0.6, 0.0, 0.78]), rng.uniform(0.65, 0.9), rng.uniform(0.35, 0.55)),
        board_size=(width * rng.uniform(0.66, 0.78), depth * rng.uniform(0.62, 0.74)),
        chips=tuple(
            (*rng.uniform(-0.38, 0.38, 2).tolist(), *rng.uniform(0.1, 0.26, 2).tolist())
            for _ in range(int(rng.integers(4, 8)))
        ),
        battery=_hue(rng.choice([0.02, 0.13, 0.6, 0.3]), rng.uniform(0.6, 0.95), rng.uniform(0.5, 0.85)),
        battery_size=(rng.uniform(9.5, 12), rng.uniform(4.6, 6), rng.uniform(3.2, 4.2)),
        is_battery_round=bool(rng.random() < 0.4),
        cable=_hue(rng.random(), rng.uniform(0.5, 0.95), rng.uniform(0.45, 0.95)),
        cloth=_hue(
            rng.choice([0.13, 0.92, 0.55, 0.08]) + rng.uniform(-0.03, 0.03),
            rng.uniform(0.3, 0.6),
            rng.uniform(0.8, 0.98),
        ),
        cloth_size=rng.uniform(16, 20),
        handle=_hue(rng.choice([0.0, 0.1, 0.15, 0.6]), rng.uniform(0.75, 1.0), rng.uniform(0.6, 0.95)),
        handle_size=(rng.uniform(1.3, 1.9), rng.uniform(8, 10.5)),
        opener=_hue(rng.choice([0.05, 0.55, 0.85]), rng.uniform(0.6, 0.9), rng.uniform(0.6, 0.95)),
        label=_hue(rng.choice([0.13, 0.3, 0.5]), rng.uniform(0.0, 0.3), 0.97),
        backing=_hue(rng.uniform(0.1, 0.16), rng.uniform(0.55, 0.8), 0.97),
        bottle=_hue(rng.choice([0.55, 0.6, 0.5, 0.33]), rng.uniform(0.5, 0.85), rng.uniform(0.75, 0.95)),
        cup=_hue(rng.random(), rng.uniform(0.1, 0.6), rng.uniform(0.5, 0.95)),
    )


def _table_colour(rng: np.random.Generator) -> Colour:
    if rng.random() < 0.5:
        return _hue(rng.uniform(0.06, 0.11), rng.uniform(0.2, 0.55), rng.uniform(0.4, 0.85))
    return _hue(rng.random(), rng.uniform(0.0, 0.2), rng.uniform(0.35, 0.9))


def _hue(hue: float, saturation: float, value: float) -> Colour:
    r, g, b = colorsys.hsv_to_rgb(float(hue) % 1.0, float(saturation), float(value))
    return (255 * r, 255 * g, 255 * b)


def _jitter(colour: Colour, rng: np.random.Generator, spread: float) -> Colour:
    r, g, b = np.clip(np.array(colour) + rng.uniform(-spread, spread, 3), 0, 255)
    return (float(r), float(g), float(b))

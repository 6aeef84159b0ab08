"""How steps are done: made visits whose parts lie where they are put, and the way through a bundle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.label.manner import PARTS, Manners, learn_manners, parts_of, visits_of

WIDTH = 30
CENTRES = np.eye(3, WIDTH) * 6.0  # background and two steps


def visit(step: int, frames: int, rng: np.random.Generator, is_backwards: bool = False) -> np.ndarray:
    """A step that moves a little along the way to the other one; noise in every direction."""
    drift = np.linspace(-0.4, 0.4, frames)[:: -1 if is_backwards else 1, None] * (CENTRES[3 - step] - CENTRES[step])
    return np.asarray(CENTRES[step] + drift + rng.normal(size=(frames, WIDTH)))


def demonstrations(count: int = 8) -> tuple[list[np.ndarray], list[np.ndarray], np.random.Generator]:
    rng = np.random.default_rng(4)
    labels = [np.repeat([1, 0, 2], 30) for _ in range(count)]
    rows = [
        np.concatenate([visit(1, 30, rng), CENTRES[0] + rng.normal(size=(30, WIDTH)), visit(2, 30, rng)])
        + 0.2 * rng.normal(size=WIDTH)
        for _ in range(count)
    ]
    return rows, labels, rng


def learned() -> tuple[Manners, np.random.Generator]:
    rows, labels, rng = demonstrations()
    manners = learn_manners(rows, labels, CENTRES)
    assert manners is not None
    return manners, rng


def test_what_is_done_otherwise_is_farther_than_what_is_done_the_same() -> None:
    manners, rng = learned()

    def far(rows: np.ndarray) -> float:
        distance = manners.distance(1, manners.rows(rows))
        assert distance is not None
        return distance

    same = [far(visit(1, frames, rng) + 0.2 * rng.normal(size=WIDTH)) for frames in (12, 30, 45)]
    half = np.concatenate([visit(1, 15, rng), visit(2, 15, rng)])
    assert max(same) < 5
    assert far(visit(1, 30, rng, is_backwards=True)) > 2 * max(same)
    assert far(half) > 2 * max(same)


def test_directions_that_tell_no_steps_apart_do_not_count() -> None:
    manners, rng = learned()
    rows = visit(1, 30, rng)
    elsewhere = rows + 50.0 * np.eye(WIDTH)[-1]
    np.testing.assert_allclose(manners.rows(elsewhere), manners.rows(rows), atol=1e-8)
    assert manners.directions.shape == (WIDTH, len(CENTRES) - 1)


def test_visits_of_the_demonstrations_spread_like_a_unit_sphere() -> None:
    rows, labels, _ = demonstrations(60)
    manners = learn_manners(rows, labels, CENTRES)
    assert manners is not None
    off = np.concatenate([parts_of(manners.rows(each[:30])) - manners.usual[0] for each in rows])
    np.testing.assert_allclose(np.cov(off.T, bias=True), np.eye(2), atol=0.4)


def test_a_step_seen_once_and_slips_of_the_labels_teach_no_spread() -> None:
    rows, labels, _ = demonstrations(1)
    assert learn_manners(rows, labels, CENTRES) is None
    rows, labels, _ = demonstrations(3)
    slipped = [each.copy() for each in labels]
    slipped[0][40:43] = 2  # far shorter than the step usually is
    clean, other = learn_manners(rows, labels, CENTRES), learn_manners(rows, slipped, CENTRES)
    assert clean is not None
    assert other is not None
    np.testing.assert_allclose(other.usual, clean.usual)


def test_steps_that_nobody_did_and_visits_without_parts_are_not_judged() -> None:
    manners, _ = learned()
    assert manners.distance(9, np.zeros((9, 2))) is None
    assert manners.distance(0, np.zeros((9, 2))) is None
    assert manners.distance(1, np.zeros((PARTS - 1, 2))) is None


def test_nothing_is_learned_where_all_centres_are_one() -> None:
    rows, labels, _ = demonstrations(3)
    assert learn_manners(rows, labels, np.ones((3, WIDTH))) is None


def test_manners_come_back_as_they_were_written() -> None:
    manners, _ = learned()
    read = Manners.from_arrays(manners.to_arrays(), WIDTH)
    for name in ("directions", "numbers", "usual"):
        np.testing.assert_array_equal(getattr(read, name), getattr(manners, name))


@pytest.mark.parametrize(
    "spoilt",
    [
        {"manner_directions": np.zeros((WIDTH - 1, 2))},
        {"manner_directions": np.full((WIDTH, 2), np.nan)},
        {"manner_numbers": np.array([2, 1])},
        {"manner_numbers": np.array([[1, 2]])},
        {"manner_usual": np.zeros((2, PARTS, 5))},
        {"manner_usual": np.full((2, PARTS, 2), np.inf)},
    ],
    ids=str,
)
def test_spoilt_manners_are_refused(spoilt: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="manners"):
        Manners.from_arrays({**learned()[0].to_arrays(), **spoilt}, WIDTH)


@settings(derandomize=True, deadline=None)
@given(st.lists(st.integers(-1, 3), max_size=30))
def test_visits_tile_the_labels_that_are_steps(labels: list[int]) -> None:
    numbers = np.array(labels, np.int64)
    seen = np.zeros_like(numbers)
    last = None
    for step, start, end in visits_of(numbers):
        assert last != (step, start)
        assert (numbers[start:end] == step).all()
        seen[start:end] = step
        last = (step, end)
    np.testing.assert_array_equal(seen, np.maximum(numbers, 0))

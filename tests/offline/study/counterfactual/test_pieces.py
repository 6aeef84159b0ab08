"""Pieces and their new orders: background is halved, every frame lasts as long as it did."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.domain import Labels
from offline.study.counterfactual.pieces import Layout, Piece, lasting, retime, splices

label_lists = st.lists(
    st.tuples(st.integers(0, 4), st.integers(1, 4)), min_size=1, max_size=10
).map(lambda runs: np.repeat([step for step, _ in runs], [count for _, count in runs]).astype(np.int64))  # fmt: skip


def test_background_between_steps_is_halved_and_the_ends_stay() -> None:
    labels = np.array([0, 0, 1, 1, 0, 0, 0, 2, 0])
    layout = Layout.of(labels)
    assert layout.pieces == (Piece(1, 2, 2, 6), Piece(2, 6, 7, 8))
    assert layout.index((1, 0)).tolist() == [0, 1, 6, 7, 2, 3, 4, 5, 8]
    assert layout.start((1, 0), 0) == 3


def test_a_pause_within_a_step_is_part_of_its_piece() -> None:
    assert Layout.of(np.array([1, 0, 1, 2, 1])).steps == (1, 2, 1)


@settings(derandomize=True, deadline=None)
@given(label_lists)
def test_pieces_in_their_own_order_are_the_recording(labels: Labels) -> None:
    layout = Layout.of(labels)
    order = tuple(range(len(layout.pieces)))
    assert layout.index(order).tolist() == list(range(len(labels)))
    assert splices(layout.index(order)) == []


@settings(derandomize=True, deadline=None)
@given(label_lists, st.randoms(use_true_random=False))
def test_any_new_order_is_made_of_the_source_and_knows_where_its_steps_begin(labels: Labels, random: object) -> None:
    layout = Layout.of(labels)
    order = list(range(len(layout.pieces)))
    random.shuffle(order)  # type: ignore[attr-defined]
    index = layout.index(order)
    assert sorted(index.tolist()) == list(range(len(labels)))
    for place, number in enumerate(order):
        start = layout.start(order, place)
        assert index[start] == layout.pieces[number].start
        assert labels[index[start]] == layout.pieces[number].step


@settings(derandomize=True, deadline=None)
@given(label_lists, st.integers(0, 1000))
def test_the_new_times_rise_and_every_frame_lasts_as_long_as_it_did(labels: Labels, seed: int) -> None:
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.uniform(0.05, 0.3, len(labels)))
    index = rng.integers(len(labels), size=len(labels) + 3)
    new = retime(index, times, rate=5.0)
    assert new[0] == 0.0
    assert np.diff(new) == pytest.approx(lasting(times, 5.0)[index[:-1]])

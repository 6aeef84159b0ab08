"""Other orders of one recording: every frame once, stretches whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.teach.reorder import shuffled, stretches, turned


@settings(derandomize=True, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=40), st.integers(0, 99), st.sampled_from([turned, shuffled]))
def test_every_frame_comes_once_and_stretches_stay_whole(labels: list[int], seed: int, reorder: object) -> None:
    numbers = np.array(labels, np.int64)
    order = reorder(numbers, np.random.default_rng(seed))  # type: ignore[operator]
    assert sorted(order.tolist()) == list(range(len(labels)))
    whole = {tuple(part.tolist()) for part in stretches(numbers)}
    breaks = np.flatnonzero(np.diff(order) != 1) + 1
    for run in np.split(order, breaks):
        assert run[0] in {part[0] for part in whole}


def test_turning_starts_elsewhere() -> None:
    order = turned(np.repeat([1, 2, 3], 2), np.random.default_rng(0))
    assert order[0] in (2, 4)


@pytest.mark.parametrize("reorder", [turned, shuffled])
def test_a_recording_of_one_stretch_stays_as_it_is(reorder: object) -> None:
    assert reorder(np.ones(3, np.int64), np.random.default_rng(0)).tolist() == [0, 1, 2]  # type: ignore[operator]

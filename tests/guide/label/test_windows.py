"""Windows that are cut together give what the live window gives one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.label.energy import LinkSettings, build_links
from guide.label.window import WindowCut, WindowSettings, WindowTimes
from guide.label.windows import released, within
from tests.noisy import steps_under_noise

RATE = 5.0


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.integers(1, 70), st.integers(1, 5), st.integers(1, 30), st.floats(0.0, 3.0), st.integers(0, 1000))
def test_the_same_labels_as_one_by_one(size: int, k: int, frames: int, lag_s: float, seed: int) -> None:
    times = np.cumsum(np.random.default_rng(seed).choice([0.2, 0.2, 0.21, 0.3, 0.4, 2.0], size=size))
    unary = steps_under_noise(size, k, seed, frames=9, lift=1.5)
    window, links = WindowSettings(frames, lag_s), LinkSettings(weight=1.0)
    steps = tuple(range(k))
    live, late = WindowCut(window, links, RATE, steps), WindowTimes(window)
    expected, moments = [], []
    for row, at in zip(unary, times, strict=True):
        expected.append(live.push(row, at))
        moments.append(late.push(row, at))
    expected.append(live.finish())
    moments.append(late.finish())
    assert released(unary, times, steps, window, links, RATE) == [label for each in expected for label in each]
    assert [[one.at for one in each] for each in moments] == [[one.at for one in each] for each in expected]


@settings(derandomize=True, deadline=None, max_examples=25)
@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 1000))
def test_links_within_a_window_are_those_of_its_frames_alone(start: int, length: int, seed: int) -> None:
    times = np.cumsum(np.random.default_rng(seed).choice([0.2, 0.3, 2.0], size=40))
    settings_ = LinkSettings(radius_s=1.0)
    inner = within(build_links(times, RATE, settings_), range(start, start + length))
    alone = build_links(times[start : start + length], RATE, settings_)
    for one, other in ((inner.first, alone.first), (inner.second, alone.second), (inner.weight, alone.weight)):
        np.testing.assert_array_equal(one, other)

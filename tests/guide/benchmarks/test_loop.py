"""The loop's parts are told apart; nothing is said of how long they should take."""

from __future__ import annotations

import pytest

from guide.benchmarks.clocks import Span, TimedHead, TimedTrunk
from guide.benchmarks.loop import LoopTimes, measure_loop, time_frames
from guide.errors import InputError
from guide.networks import start_networks
from guide.session import Session
from guide.settings import LiveSettings
from tests.tiny import Learned


def test_the_rest_is_the_whole_less_the_networks() -> None:
    times = LoopTimes((Span(0.5, 0.25), Span(0.5, 0.25)), (Span(0.25, 0.125), Span(0.25, 0.125)))
    assert times.rest_s(by_clock=True) == [0.25, 0.25]
    assert times.ratio(by_clock=False) == 2.0


def test_every_frame_is_timed(frames_task: Learned) -> None:
    networks = start_networks(frames_task.bundle, "cpu", 1, trunk_type=TimedTrunk, head_type=TimedHead)
    times = time_frames(Session(frames_task.bundle, networks, LiveSettings()), networks, None, 5)
    assert len(times.whole) == len(times.networks) == 5
    assert all(span.wall_s > 0 for span in times.networks)
    assert all(second > 0 for second in times.rest_s(by_clock=True))


def test_figures_are_held_against_limits_where_wanted(frames_task: Learned) -> None:
    held, free = (measure_loop(frames_task.bundle, None, 4, is_held) for is_held in (True, False))
    assert [figure.most for figure in held.figures if figure.most is not None] == [8.0, 1.15]
    assert not [figure for figure in free.figures if figure.most is not None]
    assert "K = 4" in held.title


def test_a_bundle_of_features_is_refused(features_task: Learned) -> None:
    with pytest.raises(InputError, match="learned from features"):
        measure_loop(features_task.bundle, None, 2)

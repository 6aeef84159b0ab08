"""Steps start, are confirmed and end; noise does not make them flap."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.domain import SettledLabel, StepEvent
from guide.label.steps import StepSettings, StepTrack

RATE = 5.0
SETTINGS = StepSettings(confirm_s=1.0, bridge_s=1.5)


def follow(steps: list[int]) -> list[StepEvent]:
    track = StepTrack(SETTINGS)
    events = [event for n, step in enumerate(steps) for event in track.push(SettledLabel(n / RATE, step, 0.8))]
    return events + list(track.finish())


def brief(events: list[StepEvent]) -> list[tuple[str, int]]:
    return [(event.state, event.step) for event in events]


def test_a_plain_sequence() -> None:
    events = follow([0] * 5 + [1] * 10 + [2] * 10)
    assert brief(events) == [
        ("started", 1),
        ("confirmed", 1),
        ("ended", 1),
        ("started", 2),
        ("confirmed", 2),
        ("ended", 2),
    ]
    assert [event.start for event in events if event.state == "started"] == [1.0, 3.0]
    assert events[2].end == 2.8


def test_one_stray_label_changes_nothing() -> None:
    clean, noisy = [1] * 20, [1] * 8 + [2] + [1] * 4 + [0] * 3 + [1] * 4
    assert brief(follow(noisy)) == brief(follow(clean))


def test_a_step_seen_too_briefly_is_never_confirmed() -> None:
    assert brief(follow([0] * 5 + [3] * 3 + [0] * 20)) == [("started", 3), ("ended", 3)]


def test_a_long_pause_makes_two_doings() -> None:
    events = brief(follow([4] * 10 + [0] * 10 + [4] * 10))
    assert events.count(("confirmed", 4)) == 2


def test_unknown_activity_is_followed_like_a_step_that_is_confirmed_later() -> None:
    confirmed = [event for event in follow([1] * 8 + [-1] * 30) if event.state == "confirmed"][-1]
    assert confirmed.step == -1
    assert confirmed.start == 1.6
    assert confirmed.at - confirmed.start == pytest.approx(SETTINGS.unknown_s, abs=1.01 / RATE)


def test_a_glance_round_the_room_is_no_activity() -> None:
    assert ("confirmed", -1) not in brief(follow([1] * 8 + [-1] * 15 + [1] * 10))


@given(st.lists(st.integers(-1, 3), max_size=120))
@settings(derandomize=True, deadline=None)
def test_events_always_come_in_order(steps: list[int]) -> None:
    events = follow(steps)
    is_open = None
    for event in events:
        if event.state == "started":
            assert is_open is None
            is_open = event.step
        else:
            assert event.step == is_open
            is_open = None if event.state == "ended" else is_open
    assert is_open is None
    assert all(one.at <= two.at for one, two in itertools.pairwise(events))


@given(st.lists(st.integers(0, 3), max_size=120))
@settings(derandomize=True, deadline=None)
def test_confirmed_steps_cannot_flap(steps: list[int]) -> None:
    confirmed = [event for event in follow(steps) if event.state == "confirmed"]
    for one, two in itertools.pairwise(confirmed):
        assert two.at - one.at >= SETTINGS.confirm_s - 1e-9

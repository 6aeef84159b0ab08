"""A recording that is played keeps its pace, and stands still while it is paused."""

from __future__ import annotations

import threading

import pytest

from guide.serve import playback
from guide.serve.playback import PacedPlayback


class Time:
    """A clock that goes on only while somebody waits."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


class Waiting(threading.Event):
    """A stop that never comes: waiting for it takes the clock's time."""

    def __init__(self, clock: Time) -> None:
        super().__init__()
        self._clock = clock

    def wait(self, timeout: float | None = None) -> bool:
        self._clock.now += timeout or 0.0
        return self.is_set()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Time:
    made = Time()
    monkeypatch.setattr(playback, "time", made)
    return made


def test_each_frame_comes_when_it_was_taken(clock: Time) -> None:
    played = PacedPlayback(Waiting(clock))
    for at, now in ((0.0, 100.0), (1.5, 101.5), (2.0, 102.0)):
        played.wait_for(at)
        assert clock.now == now


def test_a_frame_that_is_late_is_not_waited_for(clock: Time) -> None:
    played = PacedPlayback(Waiting(clock))
    played.wait_for(0.0)
    clock.now += 5.0
    played.wait_for(2.0)
    assert clock.now == 105.0


def test_the_time_of_a_pause_does_not_count(clock: Time, monkeypatch: pytest.MonkeyPatch) -> None:
    played = PacedPlayback(Waiting(clock))
    played.wait_for(0.0)
    played.set_paused(True)

    def go_on() -> None:
        clock.now += 60.0
        played.set_paused(False)

    monkeypatch.setattr(played._resumed, "wait", go_on)
    played.wait_for(1.0)
    assert clock.now == 161.0
    played.wait_for(2.0)
    assert clock.now == 162.0  # not at once, as if it were late


def test_a_stopped_playback_cannot_be_paused() -> None:
    stop = threading.Event()
    played = PacedPlayback(stop)
    played.set_paused(True)
    stop.set()
    played.set_paused(True)
    assert not played.is_paused
    played.wait_for(1e6)

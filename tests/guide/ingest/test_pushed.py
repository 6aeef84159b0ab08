"""Frames brought by others: numbered, timed, missed and welcomed back."""

from __future__ import annotations

import pytest

from guide.errors import InputError
from guide.ingest.base import SourceNotice
from guide.ingest.capture import CaptureSettings
from guide.ingest.pushed import Headsets, PushedFrames
from tests.fake_camera import FakeClock, noisy
from tests.synth import plain


def test_at_counts_from_the_first_frame_by_the_senders_stamps() -> None:
    clock = FakeClock()
    headset = PushedFrames("helmet", clock=clock)
    times = []
    for stamp, arrival in ((50.0, 0.0), (50.2, 0.5), (50.4, 0.5), (50.6, 0.7)):
        clock.now = 1000.0 + arrival
        times.append(headset.push(plain((1, 2, 3)), stamp))
    assert times == pytest.approx([0.0, 0.2, 0.4, 0.6], abs=2e-3)
    assert headset.health().dropped == 3


def test_a_headset_that_falls_silent_is_missed_and_welcomed_back() -> None:
    clock, notices = FakeClock(), list[SourceNotice]()
    headset = PushedFrames("helmet", CaptureSettings(give_up_s=30), notices.append, clock)
    frames = headset.frames()
    for image in noisy(2):
        clock.now += 0.1
        headset.push(image)
        assert next(frames).image is image
    clock.now += 12
    headset._is_over()  # the consumer asks while it waits
    headset._is_over()
    headset.push(plain((1, 2, 3)))
    assert next(frames).at == pytest.approx(12.1)
    assert [(notice.kind, round(notice.at, 1)) for notice in notices] == [("lost", 12.1), ("reopened", 12.1)]


def test_a_headset_that_stays_away_ends_its_session() -> None:
    clock, notices = FakeClock(), list[SourceNotice]()
    headset = PushedFrames("helmet", CaptureSettings(give_up_s=30), notices.append, clock)
    headset.push(plain((1, 2, 3)))
    clock.now += 31
    assert len(list(headset)) == 1
    assert [notice.kind for notice in notices] == ["lost", "gone"]


def test_late_stamps_are_tied_anew() -> None:
    clock, notices = FakeClock(), list[SourceNotice]()
    headset = PushedFrames("helmet", tell=notices.append, clock=clock)
    headset.push(plain((1, 2, 3)), 0.0)
    clock.now += 20
    assert headset.push(plain((1, 2, 3)), 1.0) == pytest.approx(1.0, abs=0.1)
    clock.now += 0.1
    assert headset.push(plain((1, 2, 3)), 1.1) == pytest.approx(20.1)


def test_damaged_pictures_are_told() -> None:
    notices: list[SourceNotice] = []
    headset = PushedFrames("helmet", tell=notices.append, clock=FakeClock())
    for _ in range(5):
        headset.damaged()
    headset.end()
    assert list(headset) == []
    assert [notice.kind for notice in notices] == ["damaged"]


def test_an_error_of_the_server_reaches_the_session() -> None:
    headset = PushedFrames("helmet", clock=FakeClock())
    headset.end(RuntimeError("the connection broke"))
    with pytest.raises(RuntimeError, match="the connection broke"):
        list(headset)


def test_a_name_taken_again_ends_the_earlier_one() -> None:
    headsets = Headsets()
    earlier = headsets.register("helmet")
    later = headsets.register("helmet")
    assert list(earlier) == []
    assert headsets.find("helmet") is later
    headsets.remove("helmet")
    headsets.remove("helmet")
    assert list(later) == []
    with pytest.raises(InputError, match="known here are: none"):
        headsets.find("helmet")


def test_a_headset_that_comes_late_was_never_away() -> None:
    clock, notices = FakeClock(), list[SourceNotice]()
    headset = PushedFrames("helmet", CaptureSettings(give_up_s=300), notices.append, clock)
    frames = headset.frames()
    headset._is_over()
    clock.now += 50
    headset._is_over()
    headset.push(plain((1, 2, 3)))
    next(frames)
    assert [notice.text for notice in notices] == [
        "headset:helmet has not sent anything yet; waiting for it.", "headset:helmet has come.",
    ]  # fmt: skip

"""The fault table, rows of the sources: each is survived, said, and loses nothing that was seen."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pytest

from guide.domain import Frame, Image
from guide.errors import InputError
from guide.ingest.base import Device, FrameSource, Shot, SourceLostError, SourceNotice
from guide.ingest.capture import Capture, CaptureSettings
from guide.ingest.clock import SteadyClock
from guide.ingest.live import LiveSource
from guide.ingest.mailbox import PendingFrame
from guide.ingest.pushed import PushedFrames
from guide.ingest.source import SourceOptions, open_source
from tests.fake_camera import FakeCamera, FakeClock, Take, noisy
from tests.stream_server import Stream, jpeg, mjpeg, mjpeg_parts, mpegts, rtsp_serving, serving
from tests.synth import grey_levels, plain, steady, write_video

HOUR_S = 3600.0
QUICK = CaptureSettings(silent_s=2.0, give_up_s=10.0, first_pause_s=0.1)


class Played:
    """What a capture of a fake camera gave, in no real time."""

    def __init__(
        self, takes: Sequence[Take | None], settings: CaptureSettings | None = None, rate: float = 10.0
    ) -> None:
        self.clock = FakeClock()
        self.camera = FakeCamera(self.clock, takes, rate)
        self.capture = Capture(
            "camera 0", self.camera.open, settings or CaptureSettings(), SteadyClock(self.clock), self.clock.pause
        )
        self.frames: list[PendingFrame] = []
        self.notices: list[SourceNotice] = []

    def run(self) -> Played:
        for item in self.capture.run(threading.Event()):
            if isinstance(item, PendingFrame):
                self.frames.append(item)
            else:
                self.notices.append(item)
        return self

    @property
    def kinds(self) -> list[str]:
        return [notice.kind for notice in self.notices]


def require_increasing(frames: Sequence[Frame | PendingFrame]) -> None:
    assert all(a.at < b.at and a.number < b.number for a, b in itertools.pairwise(frames))


def stamped(images: Sequence[Image], stamps: Sequence[float]) -> list[Shot]:
    return [Shot(lambda image=image: image, stamp) for image, stamp in zip(images, stamps, strict=True)]  # type: ignore[misc]


# Camera dies and returns.


def test_a_camera_that_dies_is_reopened_with_growing_pauses() -> None:
    played = Played([noisy(20), *[None] * 4, noisy(20, seed=1)], CaptureSettings(give_up_s=40)).run()
    assert played.clock.pauses[:5] == [0.5, 1.0, 2.0, 4.0, 8.0]
    assert played.kinds == ["lost", "reopened", "lost", "gone"]
    assert "back after 15.7 s" in played.notices[1].text
    assert [frame.number for frame in played.frames] == list(range(40))
    require_increasing(played.frames)
    gap_s = played.frames[20].at - played.frames[19].at
    assert gap_s == pytest.approx(15.7)  # the time it was away counts: nobody stood still meanwhile
    assert played.camera.opened == played.camera.closed == 2


def test_a_camera_that_stays_away_ends_the_session_after_the_time_given() -> None:
    played = Played([noisy(5)], CaptureSettings(give_up_s=20)).run()
    assert played.kinds == ["lost", "gone"]
    assert played.notices[-1].text == "camera 0 did not come back within 20 s."
    assert played.notices[-1].at == pytest.approx(20.4)
    assert max(played.clock.pauses) <= 8.0


def test_a_camera_that_dies_again_and_again_keeps_its_long_pauses() -> None:
    played = Played([noisy(2, seed) for seed in range(8)], CaptureSettings(give_up_s=30)).run()
    assert played.clock.pauses[:7] == [0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0]


def test_a_camera_that_held_for_long_is_reopened_quickly_again() -> None:
    played = Played([noisy(2), noisy(2), noisy(100), noisy(2)]).run()
    assert played.clock.pauses[:3] == [0.5, 1.0, 0.5]


def test_a_camera_that_was_never_there_is_one_sentence() -> None:
    with pytest.raises(InputError, match=r"^camera 0 cannot be used: it is unplugged; plug it in\.$"):
        Played([None, noisy(3)]).run()


def test_a_fault_of_our_own_in_the_thread_reaches_the_consumer() -> None:
    class Broken:
        def read(self) -> Shot:
            raise ZeroDivisionError("our own fault")

        def close(self) -> None:
            pass

    with pytest.raises(ZeroDivisionError, match="our own fault"):
        list(LiveSource("camera 0", Broken))


# Streams that are cut off and brought back.


@pytest.mark.parametrize("make", [mjpeg, mpegts], ids=["mjpeg", "mpegts"])
def test_an_http_stream_cut_off_in_the_middle_goes_on(make: Callable[..., Stream]) -> None:
    notices: list[SourceNotice] = []
    with serving(make(noisy(40), rate=25.0, cut_after=20)) as address:
        source = open_source(address, SourceOptions(live=QUICK), notices.append)
        frames = take_until(source, lambda: "reopened" in [notice.kind for notice in notices])
    assert [notice.kind for notice in notices] == ["lost", "reopened"]
    require_increasing(frames)


def test_an_rtsp_stream_cut_off_in_the_middle_goes_on(tmp_path: Path) -> None:
    notices: list[SourceNotice] = []
    video = write_video(tmp_path / "a.mp4", noisy(60), steady(60, 20.0))
    with ExitStack() as first, ExitStack() as second:
        address = first.enter_context(rtsp_serving(video))
        port = address.rpartition(":")[2].partition("/")[0]

        def told(notice: SourceNotice) -> None:
            notices.append(notice)
            if notice.kind == "lost":
                second.enter_context(rtsp_serving(video, port))

        source = open_source(address, SourceOptions(live=QUICK), told)
        threading.Timer(1.5, first.close).start()
        frames = take_until(source, lambda: "reopened" in [notice.kind for notice in notices])
    assert [notice.kind for notice in notices] == ["lost", "reopened"]
    require_increasing(frames)


def take_until(source: FrameSource, is_enough: Callable[[], bool]) -> list[Frame]:
    """Frames until there are five more than it took until it was enough."""
    frames: list[Frame] = []
    more = 0
    for frame in source:
        frames.append(frame)
        more += is_enough()
        if more == 5:
            source.close()
    assert len(frames) > 8
    return frames


def test_a_stream_that_ends_for_good_ends_the_session() -> None:
    notices: list[SourceNotice] = []
    with serving(mjpeg(noisy(10))) as address:
        impatient = CaptureSettings(give_up_s=0.3, first_pause_s=0.1)
        frames = list(open_source(address, SourceOptions(live=impatient), notices.append))
    assert len(frames) > 5
    assert [notice.kind for notice in notices] == ["lost", "gone"]


# Stream freezes.


def test_a_frozen_picture_is_reported_and_cleared() -> None:
    played = Played([[*noisy(20), *[plain((90, 90, 90))] * 200, *noisy(20, seed=1)]]).run()
    assert played.kinds == ["frozen", "moving", "lost", "gone"]
    assert played.notices[0].at == pytest.approx(2.0 + 10.0, abs=0.6)
    assert played.notices[1].at == pytest.approx(22.0, abs=0.6)
    assert len(played.frames) == 240  # a frozen picture is still a picture: the session goes on


def test_a_still_scene_seen_by_a_real_camera_is_not_frozen() -> None:
    assert "frozen" not in Played([noisy(600)]).run().kinds


def test_a_connection_that_stays_open_but_falls_silent_is_opened_anew() -> None:
    notices: list[SourceNotice] = []
    quick = CaptureSettings(silent_s=0.5, first_pause_s=0.1)
    with serving(mjpeg(noisy(10), is_stuck=True, stays_up=True)) as address:
        source = open_source(address, SourceOptions(live=quick), notices.append)
        frames = list(itertools.islice(source, 12))
        source.close()
    assert [notice.kind for notice in notices][:2] == ["lost", "reopened"]
    require_increasing(frames)
    assert frames[-1].at > quick.silent_s


def test_a_stream_that_falls_behind_is_opened_anew_instead_of_showing_the_past() -> None:
    late = stamped(noisy(100), [number / 50 for number in range(100)])  # arrives at 10 a second: 8 s late in the end
    played = Played([late, noisy(5)]).run()
    assert "came 5 s late" in played.notices[0].text
    assert played.kinds[:2] == ["lost", "reopened"]


# Clock jumps by an hour either way.


@pytest.mark.parametrize("jump_s", [HOUR_S, -HOUR_S, -0.3, 5.0])
def test_stamps_that_jump_are_lived_through(jump_s: float) -> None:
    stamps = [number / 10 + (jump_s if number >= 20 else 0.0) for number in range(40)]
    played = Played([stamped(noisy(40), stamps)]).run()
    assert played.kinds == ["clock", "lost", "gone"]
    require_increasing(played.frames)
    np.testing.assert_allclose([frame.at for frame in played.frames], steady(40, 10.0), atol=0.01)


@pytest.mark.parametrize("jump_s", [HOUR_S, -HOUR_S])
def test_a_machine_whose_clock_jumps_goes_on(jump_s: float) -> None:
    played = Played([noisy(40)])
    count = itertools.count()

    def read() -> None:
        played.clock.now += jump_s if next(count) == 20 else 0.0

    played.camera.before_read = read
    played.run()
    assert played.kinds == ["clock", "lost", "gone"]
    require_increasing(played.frames)
    assert played.frames[-1].at == pytest.approx(3.9, abs=0.2)


@pytest.mark.parametrize("jump_s", [HOUR_S, -HOUR_S])
def test_the_wall_clock_plays_no_part(jump_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    wall = time.time
    monkeypatch.setattr(time, "time", lambda: wall() + jump_s)
    with serving(mpegts(noisy(10))) as address:
        source = open_source(address, SourceOptions(live=QUICK))
        frames = list(itertools.islice(source, 5))
        source.close()
    assert frames[-1].at < 5.0


@pytest.mark.parametrize("jump_s", [HOUR_S, -HOUR_S])
def test_a_headset_whose_clock_jumps_goes_on(jump_s: float) -> None:
    clock, notices = FakeClock(), list[SourceNotice]()
    headset = PushedFrames("helmet", tell=notices.append, clock=clock)
    times = []
    for number, image in enumerate(noisy(40)):
        clock.now += 0.1
        times.append(headset.push(image, 1.7e9 + number / 10 + (jump_s if number >= 20 else 0.0)))
    headset.end()
    list(headset)
    np.testing.assert_allclose(times, steady(40, 10.0), atol=0.01)
    assert [notice.kind for notice in notices] == ["clock"]


@pytest.mark.parametrize("stamp", [float("nan"), float("inf"), -float("inf"), 1e308, -1e308])
def test_a_headset_may_stamp_what_it_likes(stamp: float) -> None:
    clock = FakeClock()
    headset = PushedFrames("helmet", clock=clock)
    times = []
    for number, image in enumerate(noisy(9)):
        clock.now += 0.1
        times.append(headset.push(image, stamp if number % 3 else 1.7e9 + number / 10))
    np.testing.assert_allclose(times, steady(9, 10.0), atol=0.01)


# Corrupt JPEGs.


def test_corrupt_jpegs_inside_mjpeg_are_left_out_and_counted() -> None:
    parts = [jpeg(image) for image in grey_levels(12, 320, 240)]
    scribble = np.random.default_rng(0).bytes(600)
    parts[3] = b"no picture at all" * 40
    parts[4] = parts[4][: len(parts[4]) // 2]
    parts[5] = b""
    parts[6] = parts[6][:400] + scribble + parts[6][1000:]
    notices: list[SourceNotice] = []
    with serving(mjpeg_parts(parts, rate=20.0)) as address:
        impatient = CaptureSettings(give_up_s=0.3, first_pause_s=0.1)
        frames = list(open_source(address, SourceOptions(live=impatient), notices.append))
    assert [notice.kind for notice in notices] == ["damaged", "lost", "gone"]
    whole = {10 + 200 * number // 12 for number in (0, 1, 2, 7, 8, 9, 10, 11)}
    assert {round(float(frame.image.mean())) for frame in frames} <= whole
    require_increasing(frames)


def test_damage_is_told_now_and_then_with_a_count() -> None:
    shots: list[Image | None] = [image if number % 2 else None for number, image in enumerate(noisy(300))]
    played = Played([shots]).run()
    damaged = [notice for notice in played.notices if notice.kind == "damaged"]
    assert len(damaged) == 3
    assert "(50 times)" in damaged[1].text


def test_a_camera_that_gives_only_damaged_pictures_is_opened_anew() -> None:
    played = Played([[*noisy(3), *[None] * 60], noisy(3)]).run()
    assert [kind for kind in played.kinds if kind != "damaged"] == ["lost", "reopened", "lost", "gone"]


def test_one_damaged_picture_after_a_long_loss_is_not_another_loss() -> None:
    played = Played([noisy(3), *[None] * 4, [None, *noisy(3)]]).run()
    assert [kind for kind in played.kinds if kind != "damaged"] == ["lost", "reopened", "lost", "gone"]
    assert len(played.frames) == 6


# A machine that is too slow, and a consumer that goes away.


def test_a_slow_consumer_gets_the_newest_frame_and_nothing_piles_up() -> None:
    clock = FakeClock()
    camera = FakeCamera(clock, [noisy(50)])
    source = LiveSource(
        "camera 0", camera.open, CaptureSettings(give_up_s=1.0), lambda notice: None, clock, clock.pause
    )
    numbers = []
    for frame in source:
        numbers.append(frame.number)
        until = time.monotonic() + 10
        while camera.takes or camera.closed == 0:  # the whole recording passes while the first frame is looked at
            assert time.monotonic() < until
            time.sleep(0.001)
    health = source.health()
    assert numbers[-1] == 49
    assert len(numbers) <= 2
    assert (health.received, health.taken + health.dropped) == (50, 50)


def test_a_device_that_hangs_does_not_hold_up_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("guide.ingest.mailbox.JOIN_S", 0.2)
    released = threading.Event()

    class Hanging:
        def read(self) -> Shot:
            released.wait(10)
            raise SourceLostError("released")

        def close(self) -> None:
            pass

    def hang() -> Device:
        return Hanging()

    source = LiveSource("camera 0", hang)
    threading.Timer(0.1, source.close).start()
    began = time.monotonic()
    assert list(source) == []
    assert time.monotonic() - began < 3.0
    released.set()


@contextmanager
def no_reader_left() -> Iterator[None]:
    yield
    assert not [thread for thread in threading.enumerate() if thread.name == "reader of camera 0"]


def test_a_consumer_that_fails_stops_the_thread() -> None:
    clock = FakeClock()
    camera = FakeCamera(clock, [noisy(5000)])

    def fail() -> None:
        for _ in LiveSource("camera 0", camera.open, clock=clock, pause=clock.pause):
            raise RuntimeError("the consumer fell over")

    with no_reader_left(), pytest.raises(RuntimeError, match="fell over"):
        fail()
    assert camera.opened == camera.closed == 1

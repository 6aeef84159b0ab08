"""What every source of frames promises; a new source only joins the list."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import pytest

from guide.ingest.base import FrameSource
from guide.ingest.capture import CaptureSettings
from guide.ingest.files import VideoFile
from guide.ingest.live import LiveSource
from guide.ingest.mailbox import SourceHealth
from guide.ingest.pushed import Headsets
from guide.ingest.source import SourceOptions, open_source
from guide.ingest.stills import StillFolder
from tests.fake_camera import FakeCamera, FakeClock
from tests.stream_server import Stream, mjpeg, mpegts, rtsp_serving, serving
from tests.synth import grey_levels, steady, write_video

COUNT = 20
RATE = 30.0
# Streams end when their server does: soon here, and without long pauses.
IMPATIENT = CaptureSettings(give_up_s=0.4, first_pause_s=0.1)


@dataclass(frozen=True)
class Case:
    """A source of COUNT pictures; exact ones give all of them, live ones may drop some for newer ones.

    `again` makes the same pictures come once more; None where nothing can.
    """

    source: FrameSource
    is_exact: bool = True
    again: Callable[[], object] | None = lambda: None


def video(folder: Path, _: ExitStack) -> Case:
    return Case(VideoFile(write_video(folder / "a.mp4", grey_levels(COUNT), steady(COUNT, 29.97))))


def stills(folder: Path, _: ExitStack) -> Case:
    for number, image in enumerate(grey_levels(COUNT)):
        cv2.imwrite(str(folder / f"{number}.png"), image)
    return Case(StillFolder(folder, rate=5.0))


def camera(_: Path, __: ExitStack) -> Case:
    """A fake device behind the real thread and mailbox; it waits until the last frame was taken, so none is dropped."""
    clock = FakeClock()
    device = FakeCamera(clock, [grey_levels(COUNT)])
    source = LiveSource("camera 0", device.open, IMPATIENT, lambda notice: None, clock, clock.pause)
    device.before_read = lambda: wait_until_taken(source.health)
    return Case(source, again=lambda: device.takes.append(grey_levels(COUNT)))


def wait_until_taken(health: Callable[[], SourceHealth]) -> None:
    until = time.monotonic() + 10
    while health().received > health().taken and time.monotonic() < until:
        time.sleep(0.0005)


def pushed(_: Path, stack: ExitStack) -> Case:
    """A headset by name; another thread pushes, as the server does."""
    headsets = Headsets()
    headset = headsets.register("helmet", IMPATIENT)

    def send() -> None:
        for number, image in enumerate(grey_levels(COUNT)):
            headset.push(image, stamp=1.7e9 + number / RATE)
            wait_until_taken(headset.health)
        headset.end()

    threading.Thread(target=send, daemon=True).start()
    source = open_source("headset:helmet", SourceOptions(headsets=headsets))
    return Case(source, again=None)


def http_mjpeg(_: Path, stack: ExitStack) -> Case:
    return over_http(mjpeg(grey_levels(COUNT), rate=RATE), stack)


def http_mpegts(_: Path, stack: ExitStack) -> Case:
    return over_http(mpegts(grey_levels(COUNT), rate=RATE), stack)


def over_http(stream: Stream, stack: ExitStack) -> Case:
    address = stack.enter_context(serving(stream))
    return Case(open_source(address, SourceOptions(live=IMPATIENT)), is_exact=False, again=stream.is_up.set)


def rtsp(folder: Path, stack: ExitStack, machine: str | None = None) -> Case:
    path = write_video(folder / "a.mp4", grey_levels(COUNT), steady(COUNT, RATE))
    address = stack.enter_context(rtsp_serving(path))
    port = address.rpartition(":")[2].partition("/")[0]
    source = open_source(address, SourceOptions(live=IMPATIENT, machine=machine))
    return Case(source, is_exact=False, again=lambda: stack.enter_context(rtsp_serving(path, port)))


def rtsp_relayed(folder: Path, stack: ExitStack) -> Case:
    return rtsp(folder, stack, "127.0.0.1")


SOURCES = [video, stills, camera, pushed, http_mjpeg, http_mpegts, rtsp, rtsp_relayed]


@pytest.fixture(params=SOURCES, ids=lambda make: make.__name__)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Case]:
    with ExitStack() as stack:
        yield request.param(tmp_path, stack)


def test_frames_come_in_order_from_time_0(case: Case) -> None:
    frames = list(case.source)
    assert all(a.number < b.number and a.at < b.at for a, b in itertools.pairwise(frames))
    if case.is_exact:
        assert [frame.number for frame in frames] == list(range(COUNT))
        assert frames[0].at == 0.0
    assert len(frames) >= 3  # a busy machine drops frames of a live source: newest frame wins
    assert 0.0 <= frames[0].at < 0.5
    brightness = [float(frame.image.mean()) for frame in frames]
    np.testing.assert_allclose(brightness, [10 + 200 * frame.number // COUNT for frame in frames], atol=4)


def test_the_choice_is_asked_once_for_each_frame_in_order(case: Case) -> None:
    asked: list[float] = []

    def wanted(at: float) -> bool:
        asked.append(at)
        return len(asked) % 3 == 1

    chosen = list(case.source.frames(wanted))
    assert all(a < b for a, b in itertools.pairwise(asked))
    assert [frame.at for frame in chosen] == asked[::3]
    if case.is_exact:
        assert [frame.number for frame in chosen] == list(range(0, COUNT, 3))


def test_a_source_can_be_read_again(case: Case) -> None:
    if case.again is None:
        pytest.skip("its frames come from outside, and only once")
    first = list(case.source)
    case.again()
    second = list(case.source)
    assert second[0].at < 0.5
    if case.is_exact:
        assert all(np.array_equal(a.image, b.image) for a, b in zip(first, second, strict=True))


def test_a_source_that_is_closed_leaves_no_thread_behind(case: Case) -> None:
    frames = case.source.frames()
    image = next(frames).image
    assert image.shape == (48, 64, 3)
    case.source.close()
    if case.source.is_live:
        assert next(frames, None) is None
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("reader of")]


def test_a_source_has_a_name_to_show(case: Case) -> None:
    assert case.source.name
    assert "\n" not in case.source.name

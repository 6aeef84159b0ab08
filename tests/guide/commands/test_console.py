"""What is said besides guidance: the pace now and then, notices always."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from guide.commands.console import RecordingProgress, SourceConsole, ThroughputReport, ending_on_signals
from guide.ingest.base import SourceNotice
from guide.ingest.live import LiveSource
from guide.ingest.mailbox import SourceHealth
from tests.fake_camera import FakeCamera, FakeClock, noisy


def say(is_brief: bool) -> str:
    """Everything said about a camera of 12 seconds, read as fast as it comes."""
    clock, printed = FakeClock(), io.StringIO()
    camera = FakeCamera(clock, [noisy(120)])
    source_console = SourceConsole(Console(file=printed, width=200), is_brief)
    source_console.source = LiveSource(
        "camera 0", camera.open, tell=source_console.note, clock=clock, pause=clock.pause
    )
    with ending_on_signals(source_console.source):
        list(source_console.source)
    for second in range(12):
        source_console.frame_processed(float(second), 5.0)
    source_console.note(SourceNotice(3.0, "frozen", "the [picture] of :camera: 0 stands still."))
    source_console.end()
    return printed.getvalue()


def test_the_terminal_hears_of_the_pace() -> None:
    told = say(is_brief=False)
    assert "~ 1.0 of 0.0 frames a second processed" in told
    assert "! lost: camera 0 was lost (it was unplugged); trying to reopen it." in told
    assert "the [picture] of :camera: 0 stands still." in told
    assert "camera 0: 120 frames came, 12 were processed" in told


def test_another_program_does_not() -> None:
    told = say(is_brief=True)
    assert "frames a second" not in told
    assert "! gone: camera 0 did not come back within 60 s." in told


def test_a_recording_has_no_pace() -> None:
    printed = io.StringIO()
    source_console = SourceConsole(Console(file=printed), is_brief=False)
    source_console.frame_processed(100.0, 5.0)
    source_console.end()
    assert printed.getvalue() == ""


def test_a_recording_tells_how_far_it_has_come_and_how_long_it_takes() -> None:
    recording = RecordingProgress(length_s=200.0)
    told = [recording.push(at=10.0 * number, now=7.0 + 4.0 * number) for number in range(7)]
    assert told == [None, None, None, "15 % watched, about 68 s left", None, None, "30 % watched, about 56 s left"]
    assert recording.slow_words() == ""


def test_a_recording_of_unknown_length_tells_how_far_it_has_come() -> None:
    recording = RecordingProgress(length_s=0.0)
    assert [recording.push(at, now=at) for at in (0.0, 10.0)] == [None, "10 s watched"]


@pytest.mark.parametrize(("real_s", "is_slow"), [(0.3, False), (1.0, False), (1.2, False), (1.5, True)])
def test_a_machine_that_could_not_follow_a_camera_is_told_of(real_s: float, is_slow: bool) -> None:
    """`real_s` for each second of the recording; one played at its own pace takes 1."""
    recording = RecordingProgress(length_s=60.0)
    for at in range(61):
        recording.push(float(at), now=at * real_s)
    assert bool(recording.slow_words()) is is_slow
    assert not is_slow or recording.slow_words().startswith("this machine took 1.5 s for each second")


def lines(processed_rate: float, camera_rate: float, seconds: int = 31) -> list[str]:
    throughput = ThroughputReport(rate=5.0)
    told = []
    for number in range(round(seconds * processed_rate)):
        at = number / processed_rate
        told.append(throughput.push(at, SourceHealth(received=1 + round(at * camera_rate), dropped=number, age_s=0.05)))
    return [line for line in told if line is not None]


def test_a_line_every_ten_seconds() -> None:
    told = lines(5.0, 30.0)
    assert len(told) == 3
    assert told[0] == "5.0 of 30.0 frames a second processed, 50 dropped so far, the last one 50 ms old"


def test_too_slow_is_said() -> None:
    assert all(line.endswith("; too slow for 5 a second") for line in lines(2.0, 30.0))


def test_a_slow_camera_is_no_slow_machine() -> None:
    assert not any("too slow" in line for line in lines(2.0, 2.0))

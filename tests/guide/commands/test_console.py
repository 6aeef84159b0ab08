"""What is said besides guidance: the pace now and then, notices always."""

from __future__ import annotations

import io

from rich.console import Console

from guide.commands.console import Aside, ending_on_signals
from guide.ingest.base import SourceNotice
from guide.ingest.live import LiveSource
from tests.fake_camera import FakeCamera, FakeClock, noisy


def say(is_brief: bool) -> str:
    """Everything said about a camera of 12 seconds, read as fast as it comes."""
    clock, printed = FakeClock(), io.StringIO()
    camera = FakeCamera(clock, [noisy(120)])
    aside = Aside(Console(file=printed, width=200), is_brief)
    aside.source = LiveSource("camera 0", camera.open, tell=aside.note, clock=clock, pause=clock.pause)
    with ending_on_signals(aside.source):
        list(aside.source)
    for second in range(12):
        aside.pulse(float(second), 5.0)
    aside.note(SourceNotice(3.0, "frozen", "the [picture] of :camera: 0 stands still."))
    aside.end()
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
    aside = Aside(Console(file=printed), is_brief=False)
    aside.pulse(100.0, 5.0)
    aside.end()
    assert printed.getvalue() == ""

"""Work beside the pages: how far it is, its answer, giving it up, and what goes wrong."""

from __future__ import annotations

import threading
import time

import pytest

from guide.errors import InputError
from guide.ui.background_job import BackgroundJob, Tell

LONG_S = 20.0


def test_it_tells_how_far_it_is_and_then_the_answer() -> None:
    goes_on, is_there = threading.Event(), threading.Event()

    def work(tell: Tell) -> str:
        tell(0.5)
        tell(0.25)  # never back
        is_there.set()
        goes_on.wait(LONG_S)
        return "42"

    job = BackgroundJob(work, basis="a")
    job.start()
    assert is_there.wait(LONG_S)
    assert (job.state, job.share, job.answer) == ("running", 0.5, None)
    assert job.words.startswith("50 %, ")
    goes_on.set()
    job.join(LONG_S)
    assert (job.state, job.share, job.answer) == ("done", 1.0, "42")


def test_what_is_given_up_gives_no_answer() -> None:
    is_given_up = threading.Event()

    def work(tell: Tell) -> str:
        is_given_up.wait(LONG_S)
        tell(0.5)
        raise AssertionError("it went on")

    job = BackgroundJob(work, basis=0)
    job.start()
    job.cancel()
    assert job.state == "cancelled"
    is_given_up.set()
    job.join(LONG_S)
    assert (job.state, job.answer, job.problem) == ("cancelled", None, "")


@pytest.mark.parametrize(
    ("error", "words"), [(InputError("no labels came."), "no labels came."), (KeyError("x"), "fault of the program")]
)
def test_what_goes_wrong_is_told_in_a_sentence(error: Exception, words: str) -> None:
    def work(tell: Tell) -> str:
        raise error

    job = BackgroundJob(work, basis=0)
    job.start()
    job.join(LONG_S)
    assert job.state == "failed"
    assert words in job.problem


def test_the_time_left_is_in_proportion(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    job = BackgroundJob(lambda tell: "", basis=0)
    now[0] = 130.0
    assert (job.left_s, job.words) == (None, "0 %")
    job.share = 0.25
    assert (job.left_s, job.words) == (90.0, "25 %, about 2 min left")
    job.share = 0.5
    assert job.words == "50 %, about 30 s left"
    job.share = 0.9
    assert job.words == "90 %, a few seconds left"

"""Work beside the pages: how far it is, its answer, giving it up, and what goes wrong."""

from __future__ import annotations

import threading
import time

import pytest

from guide.errors import InputError
from guide.ui.background_job import Errand, Tell

LONG_S = 20.0


def test_it_tells_how_far_it_is_and_then_the_answer() -> None:
    goes_on, is_there = threading.Event(), threading.Event()

    def work(tell: Tell) -> str:
        tell(0.5)
        tell(0.25)  # never back
        is_there.set()
        goes_on.wait(LONG_S)
        return "42"

    errand = Errand(work, basis="a")
    errand.start()
    assert is_there.wait(LONG_S)
    assert (errand.state, errand.share, errand.answer) == ("running", 0.5, None)
    assert errand.words.startswith("50 %, ")
    goes_on.set()
    errand.join(LONG_S)
    assert (errand.state, errand.share, errand.answer) == ("done", 1.0, "42")


def test_what_is_given_up_gives_no_answer() -> None:
    is_given_up = threading.Event()

    def work(tell: Tell) -> str:
        is_given_up.wait(LONG_S)
        tell(0.5)
        raise AssertionError("it went on")

    errand = Errand(work, basis=0)
    errand.start()
    errand.give_up()
    assert errand.state == "given up"
    is_given_up.set()
    errand.join(LONG_S)
    assert (errand.state, errand.answer, errand.problem) == ("given up", None, "")


@pytest.mark.parametrize(
    ("error", "words"), [(InputError("no labels came."), "no labels came."), (KeyError("x"), "fault of the program")]
)
def test_what_goes_wrong_is_told_in_a_sentence(error: Exception, words: str) -> None:
    def work(tell: Tell) -> str:
        raise error

    errand = Errand(work, basis=0)
    errand.start()
    errand.join(LONG_S)
    assert errand.state == "failed"
    assert words in errand.problem


def test_the_time_left_is_in_proportion(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    errand = Errand(lambda tell: "", basis=0)
    now[0] = 130.0
    assert (errand.left_s, errand.words) == (None, "0 %")
    errand.share = 0.25
    assert (errand.left_s, errand.words) == (90.0, "25 %, about 2 min left")
    errand.share = 0.5
    assert errand.words == "50 %, about 30 s left"
    errand.share = 0.9
    assert errand.words == "90 %, a few seconds left"

"""Work that takes a minute, done beside the pages: any browser sees how far it is, gives it up, or finds its answer."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Hashable
from typing import Generic, Literal, TypeVar

import streamlit as st

from guide.errors import GuideError

log = logging.getLogger(__name__)

PROGRESS_S = 1.0  # how often it is looked how far the work is
AT_ONCE_S = 1.5  # what takes no longer is answered without a bar in between
LEAST_SHARE = 0.04  # of the work that must be done before anything can be said about the rest
Tell = Callable[[float], None]
Answer = TypeVar("Answer")


class GivenUpError(GuideError):
    """Somebody gave the work up.

    >>> str(GivenUpError("it was given up."))
    'it was given up.'
    """


class Errand(Generic[Answer]):
    """Work in a thread of its own; `basis` is what it was asked about, so that a later answer is known to be late.

    >>> errand = Errand(lambda tell: 7, basis=1)
    >>> errand.start()
    >>> errand.join(5.0)
    >>> errand.state, errand.answer
    ('done', 7)
    """

    def __init__(self, work: Callable[[Tell], Answer], basis: Hashable) -> None:
        self.basis = basis
        self.state: Literal["running", "done", "failed", "given up"] = "running"
        self.answer: Answer | None = None
        self.problem = ""
        self.share = 0.0
        self._work, self._is_given_up = work, threading.Event()
        self._began = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="errand", daemon=True)

    @property
    def left_s(self) -> float | None:
        """Seconds that the rest will take; nothing while too little is done to tell."""
        if self.share < LEAST_SHARE:
            return None
        return (time.monotonic() - self._began) * (1 - self.share) / self.share

    @property
    def words(self) -> str:
        """How far it is."""
        left_s = self.left_s
        if left_s is None:
            return f"{100 * self.share:.0f} %"
        about = f"{left_s:.0f} s" if left_s < 90 else f"{left_s / 60:.0f} min"
        left = "a few seconds" if left_s < 10 else f"about {about}"
        return f"{100 * self.share:.0f} %, {left} left"

    def start(self) -> None:
        self._thread.start()

    def join(self, timeout_s: float) -> None:
        self._thread.join(timeout_s)

    def give_up(self) -> None:
        """The work ends when it next tells how far it is."""
        self._is_given_up.set()
        self.state = "given up"

    def _tell(self, share: float) -> None:
        if self._is_given_up.is_set():
            raise GivenUpError("it was given up.")
        self.share = min(max(share, self.share), 1.0)

    def _run(self) -> None:
        try:
            self._tell(0.0)
            self.answer = self._work(self._tell)
            self._tell(1.0)
            self.state = "done"
        except GivenUpError:
            self.state = "given up"
        except (GuideError, OSError) as error:
            self.problem, self.state = str(error), "failed"
        except Exception:  # our own fault: told in the log in full, on the page in one sentence
            log.exception("work beside the pages broke off")
            self.problem, self.state = "This broke off by a fault of the program: see the dashboard's log.", "failed"


@st.cache_resource(show_spinner=False)
def errands() -> dict[str, Errand[str]]:
    """All that is under way or was answered, by what it is about; shared by all browsers."""
    return {}


def send(name: str, work: Callable[[Tell], str], basis: Hashable) -> None:
    """Begins the work, unless it is under way."""
    known = errands().get(name)
    if known is None or known.state != "running":
        errands()[name] = errand = Errand(work, basis)
        errand.start()
        errand.join(AT_ONCE_S)


def draw_progress(name: str, title: str) -> None:
    """How far the work is, again and again, with a way out; once it is over the whole page is drawn anew."""
    errand = errands().get(name)
    if errand is None or errand.state != "running":
        st.rerun(scope="app")
    with st.container(horizontal=True, vertical_alignment="center", key=f"errand-{name}"):
        st.progress(errand.share, text=f"{title}: {errand.words}")
        st.button("Give it up", key=f"give_up_{name}", icon=":material/close:", on_click=errand.give_up)

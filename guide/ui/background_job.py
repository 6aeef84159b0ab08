"""Background jobs of the pages: work of about a minute whose progress and answer every browser sees, and may cancel."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Hashable
from typing import Generic, Literal, TypeVar

import streamlit as st

from guide.errors import GuideError

log = logging.getLogger(__name__)

PROGRESS_S = 1.0  # between two drawings of the progress
AT_ONCE_S = 1.5  # a job that takes no longer shows no progress bar
LEAST_SHARE = 0.04  # of the work done before the time left is estimated
Tell = Callable[[float], None]
Answer = TypeVar("Answer")


class JobCancelledError(GuideError):
    """The job was cancelled.

    >>> str(JobCancelledError("it was cancelled."))
    'it was cancelled.'
    """


class BackgroundJob(Generic[Answer]):
    """Work in a thread of its own; `basis` is the state it works on, so that an outdated answer is recognised.

    >>> job = BackgroundJob(lambda tell: 7, basis=1)
    >>> job.start()
    >>> job.join(5.0)
    >>> job.state, job.answer
    ('done', 7)
    """

    def __init__(self, work: Callable[[Tell], Answer], basis: Hashable) -> None:
        self.basis = basis
        self.state: Literal["running", "done", "failed", "cancelled"] = "running"
        self.answer: Answer | None = None
        self.problem = ""
        self.share = 0.0
        self._work, self._is_cancelled = work, threading.Event()
        self._began = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="job", daemon=True)

    @property
    def left_s(self) -> float | None:
        """Estimated seconds left; None while too little is done to tell."""
        if self.share < LEAST_SHARE:
            return None
        return (time.monotonic() - self._began) * (1 - self.share) / self.share

    @property
    def words(self) -> str:
        """The progress in words."""
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

    def cancel(self) -> None:
        """Cancels the job; the work ends when it next reports its progress."""
        self._is_cancelled.set()
        self.state = "cancelled"

    def _tell(self, share: float) -> None:
        if self._is_cancelled.is_set():
            raise JobCancelledError("it was cancelled.")
        self.share = min(max(share, self.share), 1.0)

    def _run(self) -> None:
        try:
            self._tell(0.0)
            self.answer = self._work(self._tell)
            self._tell(1.0)
            self.state = "done"
        except JobCancelledError:
            self.state = "cancelled"
        except (GuideError, OSError) as error:
            self.problem, self.state = str(error), "failed"
        except Exception:  # our own fault: in full in the log, in one sentence on the page
            log.exception("a background job failed")
            self.problem, self.state = "This failed by a fault of the program: see the dashboard's log.", "failed"


@st.cache_resource(show_spinner=False)
def background_jobs() -> dict[str, BackgroundJob[str]]:
    """Running and finished jobs by name; shared by all browsers."""
    return {}


def start_job(name: str, work: Callable[[Tell], str], basis: Hashable) -> None:
    """Starts the job, unless it runs already."""
    known = background_jobs().get(name)
    if known is None or known.state != "running":
        background_jobs()[name] = job = BackgroundJob(work, basis)
        job.start()
        job.join(AT_ONCE_S)


def draw_progress(name: str, title: str) -> None:
    """The progress of a running job with a button to cancel it; once it has ended the whole page is drawn anew."""
    job = background_jobs().get(name)
    if job is None or job.state != "running":
        st.rerun(scope="app")
    with st.container(horizontal=True, vertical_alignment="center", key=f"job-{name}"):
        st.progress(job.share, text=f"{title}: {job.words}")
        st.button("Cancel", key=f"cancel_{name}", icon=":material/close:", on_click=job.cancel)

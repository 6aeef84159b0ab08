"""One slot between the thread that owns a device and the one that follows it: the newest frame wins."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType

from guide.domain import Frame, Image
from guide.ingest.base import SourceNotice, Tell, Wanted

log = logging.getLogger(__name__)

MOST_NOTICES = 64  # the oldest go first: a queue that nobody empties must not grow
POLL_S = 0.1  # how long a consumer waits before it looks whether it should stop
JOIN_S = 3.0


@dataclass(frozen=True, slots=True)
class PendingFrame:
    """A frame not yet asked for: `at` in session time, `moment` the same on the clock, the picture made on demand."""

    number: int
    at: float
    moment: float
    picture: Callable[[], Image]

    def frame(self) -> Frame:
        return Frame(self.number, self.at, self.picture())


@dataclass(frozen=True, slots=True)
class SourceHealth:
    """What went through a mailbox: frames put in, taken out, dropped for a newer one; age of the last one taken."""

    received: int = 0
    taken: int = 0
    dropped: int = 0
    age_s: float = 0.0


class Mailbox:
    """Holds the newest frame, drops the older one and counts it, and keeps the notices in between.

    >>> box = Mailbox(clock=lambda: 10.0)
    >>> picture = lambda: __import__("numpy").zeros((1, 1, 3), "uint8")
    >>> for number in range(3):
    ...     box.put(PendingFrame(number, at=float(number), moment=7.5 + number, picture=picture))
    >>> box.take(0.0).number, box.health()
    (2, SourceHealth(received=3, taken=1, dropped=2, age_s=0.5))
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._changed = threading.Condition()
        self._slot: PendingFrame | None = None
        self._notices: deque[SourceNotice] = deque(maxlen=MOST_NOTICES)
        self._is_closed = False
        self._error: Exception | None = None
        self._received = self._taken = self._dropped = 0
        self._age_s = 0.0

    def put(self, pending: PendingFrame) -> None:
        """Lays a frame in the slot; one that still lies there is dropped. After `close` nothing more is taken in."""
        with self._changed:
            if self._is_closed:
                return
            self._received += 1
            self._dropped += self._slot is not None
            self._slot = pending
            self._changed.notify_all()

    def note(self, notice: SourceNotice) -> None:
        """Adds a notice for the consumer, unless it was closed."""
        with self._changed:
            if self._is_closed:
                return
            self._notices.append(notice)
            self._changed.notify_all()

    def close(self, error: Exception | None = None) -> None:
        """No more will come; an error is kept and raised to the consumer."""
        with self._changed:
            self._is_closed, self._error = True, self._error or error
            self._changed.notify_all()

    def take(self, timeout_s: float) -> PendingFrame | None:
        """The newest frame; nothing where none came in time, a notice came first, or the mailbox was closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._slot or self._notices or self._is_closed, timeout_s)
            pending, self._slot = self._slot, None
            if pending is not None:
                self._taken += 1
                self._age_s = self._clock() - pending.moment
            return pending

    def notices(self) -> tuple[SourceNotice, ...]:
        """The notices since the last time."""
        with self._changed:
            told = tuple(self._notices)
            self._notices.clear()
            return told

    def check(self) -> bool:
        """Whether more may come; raises the error that ended it once everything before it was taken."""
        with self._changed:
            if not self._is_closed or self._slot or self._notices:
                return True
            if self._error is not None:
                raise self._error
            return False

    def health(self) -> SourceHealth:
        with self._changed:
            return SourceHealth(self._received, self._taken, self._dropped, self._age_s)


def deliver(mailbox: Mailbox, wanted: Wanted | None, tell: Tell, is_stopped: Callable[[], bool]) -> Iterator[Frame]:
    """The wanted frames of a mailbox until it is closed; notices are told in the consumer's own thread."""
    while not is_stopped() and mailbox.check():
        pending = mailbox.take(POLL_S)
        for notice in mailbox.notices():
            tell(notice)
        if pending is not None and (wanted is None or wanted(pending.at)):
            yield pending.frame()


class DeviceReader:
    """A thread that puts what a device gives into a mailbox; leaving `with` stops it.

    `work(stop)` gives frames and notices and ends soon after the event is set. Its exception is kept for the consumer.

    >>> box = Mailbox(clock=lambda: 0.0)
    >>> with DeviceReader("camera 0", box, lambda stop: iter([SourceNotice(0.0, "lost", "unplugged")])):
    ...     box.take(5.0), [notice.kind for notice in box.notices()]
    (None, ['lost'])
    """

    def __init__(
        self, name: str, mailbox: Mailbox, work: Callable[[threading.Event], Iterable[PendingFrame | SourceNotice]]
    ) -> None:
        self.stop = threading.Event()
        self._name, self._mailbox, self._work = name, mailbox, work
        self._thread = threading.Thread(target=self._run, name=f"reader of {name}", daemon=True)

    def __enter__(self) -> DeviceReader:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop.set()
        self._thread.join(JOIN_S)
        if self._thread.is_alive():
            log.warning("%s did not let go within %.0f s; its thread is left behind.", self._name, JOIN_S)

    def _run(self) -> None:
        try:
            for item in self._work(self.stop):
                if isinstance(item, PendingFrame):
                    self._mailbox.put(item)
                else:
                    self._mailbox.note(item)
            self._mailbox.close()
        except Exception as error:
            self._mailbox.close(error)

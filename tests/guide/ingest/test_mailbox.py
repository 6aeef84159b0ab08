"""The one-slot mailbox: the newest wins, nothing grows, errors reach the consumer."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from guide.ingest.base import SourceNotice
from guide.ingest.mailbox import MOST_NOTICES, DeviceReader, Mailbox, PendingFrame, SourceHealth, deliver
from tests.synth import plain


def pending(number: int) -> PendingFrame:
    return PendingFrame(number, float(number), 100.0 + number, lambda: plain((1, 2, 3)))


def notice(at: float = 0.0) -> SourceNotice:
    return SourceNotice(at, "lost", "gone for now.")


@pytest.fixture
def box() -> Mailbox:
    return Mailbox(clock=lambda: 110.0)


def test_the_newest_wins_and_the_rest_is_counted(box: Mailbox) -> None:
    for number in range(1000):
        box.put(pending(number))
    taken = box.take(0.0)
    assert taken is not None
    assert taken.number == 999
    assert box.take(0.0) is None
    assert box.health() == SourceHealth(received=1000, taken=1, dropped=999, age_s=110.0 - 1099.0)


def test_notices_are_kept_in_order_but_never_pile_up(box: Mailbox) -> None:
    for number in range(1000):
        box.note(notice(number))
    assert [told.at for told in box.notices()] == list(range(1000 - MOST_NOTICES, 1000))
    assert box.notices() == ()


def test_what_was_put_before_the_end_is_still_taken(box: Mailbox) -> None:
    told: list[SourceNotice] = []
    box.put(pending(3))
    box.note(notice())
    box.close()
    frames = list(deliver(box, None, told.append, lambda: False))
    assert [frame.number for frame in frames] == [3]
    assert len(told) == 1


def test_what_comes_after_the_end_is_not_taken_in(box: Mailbox) -> None:
    box.close()
    box.put(pending(3))
    box.note(notice())
    assert list(deliver(box, None, lambda _: None, lambda: False)) == []
    assert box.health().received == 0


def test_an_error_comes_after_what_was_put_before_it(box: Mailbox) -> None:
    box.put(pending(3))
    box.close(ValueError("the first"))
    box.close(ValueError("the second"))
    frames = deliver(box, None, lambda _: None, lambda: False)
    assert next(frames).number == 3
    with pytest.raises(ValueError, match="the first"):
        next(frames)


def test_a_picture_nobody_wants_is_never_made(box: Mailbox) -> None:
    def make() -> None:
        raise AssertionError("made for nothing")

    box.put(PendingFrame(0, 0.0, 0.0, make))  # type: ignore[arg-type]
    box.close()
    assert list(deliver(box, lambda at: False, lambda _: None, lambda: False)) == []


def test_leaving_the_reader_stops_it(box: Mailbox) -> None:
    ended = threading.Event()

    def work(stop: threading.Event) -> Iterator[PendingFrame]:
        yield pending(0)
        stop.wait(10)
        ended.set()

    with DeviceReader("camera 0", box, work):
        assert box.take(10.0) is not None
    assert ended.is_set()
    assert box.check() is False


def test_the_readers_error_is_kept(box: Mailbox) -> None:
    def work(stop: threading.Event) -> Iterator[PendingFrame]:
        yield pending(0)
        raise OSError("broken")

    with DeviceReader("camera 0", box, work):
        frames = deliver(box, None, lambda _: None, lambda: False)
        with pytest.raises(OSError, match="broken"):
            list(frames)

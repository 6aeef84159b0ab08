"""Pictures for a GPU: each in its place whoever resized_batches it, a bounded number at a time, errors raised."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator

import numpy as np
import pytest

from guide.domain import Frame
from guide.errors import InputError
from guide.perceive.preprocess import Preprocessing, squash
from offline.resize_batches import BUFFERS, FRAMES_AT_ONCE, grouped, resized_batches

HOW = Preprocessing(16, (0.5, 0.5, 0.5), (0.5, 0.5, 0.5))


def some_frames(count: int, size: tuple[int, int] = (20, 30)) -> list[Frame]:
    images = np.random.default_rng(0).integers(0, 255, (count, *size, 3), dtype=np.uint8)
    return [Frame(number, number / 10, image) for number, image in enumerate(images)]


@pytest.mark.parametrize(
    ("count", "lengths"), [(0, []), (1, [1]), (16, [16]), (37, [16, 16, 5]), (90, [16] * 5 + [10])]
)
def test_every_picture_is_where_its_time_is(count: int, lengths: list[int]) -> None:
    frames = some_frames(count)
    batches = list(resized_batches(grouped(frames), HOW, size=9))  # rounded up to whole groups
    assert [len(pictures) for _, pictures in batches] == lengths
    assert [len(times) for times, _ in batches] == lengths
    found = [pair for times, pictures in batches for pair in zip(times, pictures, strict=True)]
    for frame, (at, picture) in zip(frames, found, strict=True):
        assert at == frame.at
        np.testing.assert_array_equal(picture, squash(frame.image, HOW))


def test_a_batch_handed_over_is_never_written_again() -> None:
    frames = some_frames(80)
    kept = [(pictures, pictures.copy()) for _, pictures in resized_batches(grouped(frames), HOW, size=8)]
    for pictures, copy in kept:
        np.testing.assert_array_equal(pictures, copy)


def test_pictures_of_the_right_size_are_copied_and_not_shared() -> None:
    frames = some_frames(3, (16, 16))
    ((_, pictures),) = resized_batches(grouped(frames), HOW, size=8)
    np.testing.assert_array_equal(pictures, np.stack([frame.image for frame in frames]))
    assert not any(np.shares_memory(pictures, frame.image) for frame in frames)


def test_no_more_is_read_than_the_rooms_hold() -> None:
    drawn: list[int] = []

    def source() -> Iterator[list[Frame]]:
        for number in itertools.count():
            drawn.append(number)
            yield some_frames(FRAMES_AT_ONCE)

    batches = resized_batches(source(), HOW, size=2 * FRAMES_AT_ONCE)
    for expected in range(1, 6):
        next(batches)
        assert len(drawn) <= 2 * (BUFFERS + expected)
    batches.close()  # type: ignore[attr-defined]


def test_leaving_early_ends_the_threads() -> None:
    before = set(threading.enumerate())
    batches = resized_batches(grouped(some_frames(200)), HOW, size=8)
    next(batches)
    batches.close()  # type: ignore[attr-defined]
    assert set(threading.enumerate()) <= before


def test_an_error_in_a_thread_reaches_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise InputError("no such picture")

    monkeypatch.setattr("offline.resize_batches.squash", refuse)
    with pytest.raises(InputError, match="no such picture"):
        list(resized_batches(grouped(some_frames(3)), HOW, size=8))

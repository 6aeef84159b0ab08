"""The picture of a bar: what another program reads in it is what was put in, and it stays small."""

from __future__ import annotations

from base64 import b64decode

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from guide.domain import Labels
from offline.study.evaluation.stripe import MOST_COLUMNS, RGBA, address, columns

HEAD = "data:image/png;base64,"


def pixels(text: str) -> NDArray[np.uint8]:
    """(columns, 4) red, green, blue and how opaque, read by OpenCV."""
    assert text.startswith(HEAD)
    read = cv2.imdecode(np.frombuffer(b64decode(text.removeprefix(HEAD)), np.uint8), cv2.IMREAD_UNCHANGED)
    assert read is not None
    assert read.shape[0] == 1
    return np.asarray(cv2.cvtColor(read, cv2.COLOR_BGRA2RGBA)[0], np.uint8)


def colours_of(labels: Labels) -> dict[int, RGBA]:
    opaque = {label: (label % 256, label // 256, 7, 255) for label in np.unique(labels).tolist() if label > 0}
    return opaque | {0: (0, 0, 0, 0), -1: (0, 0, 0, 0)}


@given(st.lists(st.integers(-1, 5), min_size=1, max_size=60))
@settings(derandomize=True, deadline=None, max_examples=50)
def test_every_frame_has_its_colour(values: list[int]) -> None:
    labels = np.array(values)
    colours = colours_of(labels)
    assert pixels(address(labels, colours)).tolist() == [list(colours[value]) for value in values]


@pytest.mark.parametrize("count", [256, 257, 700])
def test_more_colours_than_a_palette_holds_are_no_matter(count: int) -> None:
    labels = np.arange(1, count + 1)
    colours = colours_of(labels)
    assert pixels(address(labels, colours)).tolist() == [list(colours[label]) for label in labels.tolist()]


def test_a_long_recording_is_seen_in_fewer_columns_that_keep_their_places() -> None:
    labels = np.repeat([1, 2, 3], [30_000, 15_000, 15_000])
    shown = columns(labels)
    assert len(shown) == MOST_COLUMNS
    assert np.flatnonzero(np.diff(shown)).tolist() == [MOST_COLUMNS // 2 - 1, 3 * MOST_COLUMNS // 4 - 1]
    assert columns(labels[:100]) is not shown
    assert len(columns(labels[:100])) == 100


def test_random_labels_of_an_hour_take_about_a_kilobyte() -> None:
    labels = np.random.default_rng(0).integers(1, 8, 7200)
    assert len(address(labels, colours_of(labels))) < 1300

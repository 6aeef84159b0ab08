"""The sheet: what is drawn lies where it should, and nothing falls off."""

from __future__ import annotations

import cv2
import numpy as np

from offline.sheet import BLACK, WHITE, Box, Sheet, shades


def inked(sheet: Sheet) -> tuple[slice, slice]:
    rows, columns = np.nonzero((sheet.image != WHITE).any(axis=2))
    return slice(int(rows.min()), int(rows.max()) + 1), slice(int(columns.min()), int(columns.max()) + 1)


def test_text_is_anchored() -> None:
    ends = []
    for anchor in ("start", "middle", "end"):
        sheet = Sheet(200, 40)
        sheet.text("wide", (100, 25), anchor=anchor)
        across = inked(sheet)[1]
        ends.append((across.start, across.stop))
    assert ends[0][0] >= 100
    assert ends[1][0] < 100 < ends[1][1]
    assert ends[2][1] <= 101


def test_sideways_words_stand_upright_and_are_cut_where_the_sheet_ends() -> None:
    sheet = Sheet(60, 80)
    sheet.sideways("a name that is much longer than the sheet is high", (30, 40))
    down, across = inked(sheet)
    assert down.stop - down.start > across.stop - across.start


def test_boxes_shades_and_png() -> None:
    sheet = Sheet(30, 20)
    sheet.fill(Box(2, 3, 4, 5), BLACK)
    sheet.ramp(Box(20, 0, 5, 20))
    assert inked(sheet) == (slice(0, 20), slice(2, 25))
    assert sheet.image[0, 20].sum() > sheet.image[19, 20].sum(), "bright on top"
    read = cv2.imdecode(np.frombuffer(sheet.png(), np.uint8), cv2.IMREAD_COLOR_RGB)
    assert np.array_equal(np.asarray(read), sheet.image)


def test_shades_grow_brighter() -> None:
    levels = shades(np.linspace(0, 1, 9)[None])[0].astype(int).sum(axis=1)
    assert (np.diff(levels) > 0).all()

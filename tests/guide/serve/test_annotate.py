"""The annotated picture: always a JPEG of a width that bears words."""

from __future__ import annotations

import numpy as np
import pytest

from guide.serve.annotate import NARROWEST_PX, WIDEST_PX, annotated
from guide.serve.picture import decode

ALERT = {"kind": "too_long", "name": "Schraube lösen ✓", "severity": "alarm", "snoozed": False}
STATE = {"step": {"name": "fit board"}, "next": [{"name": "close"}], "alerts": [ALERT, {**ALERT, "snoozed": True}]}


@pytest.mark.parametrize(("width", "height"), [(64, 48), (640, 480), (3840, 2160), (1, 1), (1, 3000), (3000, 1)])
@pytest.mark.parametrize("state", [STATE, {"step": None, "next": [], "alerts": []}])
def test_any_picture_can_be_annotated(width: int, height: int, state: dict[str, object]) -> None:
    shown = decode(annotated(np.full((height, width, 3), 90, np.uint8), state))
    assert NARROWEST_PX <= shown.shape[1] <= WIDEST_PX
    assert shown.shape[0] <= 4 * WIDEST_PX


def test_words_are_drawn_and_the_frame_itself_is_left_alone() -> None:
    image = np.full((480, 640, 3), 90, np.uint8)
    shown = decode(annotated(image, STATE))
    assert (image == 90).all()
    assert shown[:30].std() > 10
    assert shown[-30:, :, 0].mean() > 150  # the alarm's band is red
    assert abs(shown[200:260].mean() - 90) < 3

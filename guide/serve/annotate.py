"""The newest picture with what is known written on it, as JPEG."""

from __future__ import annotations

import unicodedata
from typing import Any

import cv2
import numpy as np

from guide.domain import Image

WIDEST_PX = 960
NARROWEST_PX = 480  # words need room
QUALITY = 80
BAND_PX = 30
MOST_ALERTS = 4
_COLOURS = {"alarm": (200, 40, 40), "warning": (200, 130, 0), "info": (60, 90, 160)}  # RGB
_PLAIN = (25, 40, 48)
_MARKS = {"alarm": "!!", "warning": "!", "info": "i"}  # colour is never the only sign


def annotated(image: Image, state: dict[str, Any]) -> bytes:
    """A JPEG of the picture, wide enough for words: step and next step above, standing alerts below."""
    shown = _fitting(image).copy()
    step, following = state.get("step"), state.get("next") or []
    words = step["name"] if step else "no step recognised"
    if following:
        words += f"   next: {following[0]['name']}"
    _band(shown, 0, words, _PLAIN)
    alerts = [alert for alert in state.get("alerts", []) if not alert["snoozed"]][-MOST_ALERTS:]
    for place, alert in enumerate(alerts):
        text = f"{_MARKS[alert['severity']]} {alert['kind'].replace('_', ' ')}: {alert['name']}"
        _band(shown, shown.shape[0] - BAND_PX * (len(alerts) - place), text, _COLOURS[alert["severity"]])
    return packed_jpeg(shown)


def packed_jpeg(image: Image) -> bytes:
    """A JPEG of the picture, no wider than pages show it."""
    shown = _fitting(image) if image.shape[1] > WIDEST_PX else image  # without words a small one may stay so
    done, packed = cv2.imencode(".jpg", cv2.cvtColor(shown, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    return packed.tobytes() if done else b""


def _fitting(image: Image) -> Image:
    height_px, width_px = image.shape[:2]
    wanted_px = min(max(width_px, NARROWEST_PX), WIDEST_PX)
    if wanted_px == width_px:
        return image
    # A sliver may be as high as it is long: no side grows beyond what the width allows.
    size = (wanted_px, min(max(1, round(height_px * wanted_px / width_px)), 4 * WIDEST_PX))
    return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8)


def _band(image: Image, top: int, text: str, colour: tuple[int, int, int]) -> None:
    """A bar across the picture with words in white; OpenCV writes ASCII only, so accents are left out."""
    cv2.rectangle(image, (0, top), (image.shape[1], top + BAND_PX), colour, -1)
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    cv2.putText(image, plain, (8, top + BAND_PX - 9), cv2.FONT_HERSHEY_SIMPLEX, 0.6, (255, 255, 255), 1, cv2.LINE_AA)

"""The track of a session in the browser: our own script, which draws plain values as text and moves the video."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import streamlit.components.v2 as components

from guide.ui.state.sessions import LEAD_S, ReplayView

NAME = "guide_session_track"
FOLDER = Path(__file__).parent / "track"
MOST_PICTURES = 40  # of alerts, which travel to the browser with the page


@cache
def _component() -> Any:
    script, style = ((FOLDER / name).read_text(encoding="utf-8") for name in ("track.js", "track.css"))
    return components.component(NAME, html="<div class='root'></div>", css=style, js=script)


def draw_track(view: ReplayView, part: int, key: str) -> float | None:
    """Steps and alerts in time under the video's part; gives a moment that lies in another part, if one is wanted."""
    data = {"kind": "track", **_shared(view, part), "blocks": list(view.blocks), "alerts": list(view.alerts)}
    return _wanted(_component()(data=data, key=key, on_wanted_change=_nothing))


def draw_alerts(view: ReplayView, part: int, key: str) -> float | None:
    """The alerts with picture and evidence; a click lands shortly before one."""
    alerts = [_with_picture(view, alert, place) for place, alert in enumerate(view.alerts)]
    data = {"kind": "alerts", **_shared(view, part), "blocks": [], "alerts": alerts}
    return _wanted(_component()(data=data, key=key, on_wanted_change=_nothing))


def draw_strip(blocks: Sequence[dict[str, Any]], length_s: float, key: str) -> None:
    """The steps of a session as a band, without a video, on a scale of `length_s`."""
    shared = {"length": max(length_s, 1e-3), "lead": LEAD_S, "clip": None, "has_video": False}
    _component()(data={"kind": "track", **shared, "blocks": list(blocks), "alerts": []}, key=key)


def _shared(view: ReplayView, part: int) -> dict[str, Any]:
    clip = {"start": view.clips[part].start, "end": view.clips[part].end} if view.clips else None
    length = max(view.report.length_s, 1e-3)
    return {"length": length, "lead": LEAD_S, "clip": clip, "has_video": bool(view.clips)}


def _with_picture(view: ReplayView, alert: dict[str, Any], place: int) -> dict[str, Any]:
    data = view.stills.get(alert["still"]) if place < MOST_PICTURES else None
    return {**alert, "picture": base64.b64encode(data).decode() if data else ""}


def _wanted(result: Any) -> float | None:
    wanted = getattr(result, "wanted", None)
    if isinstance(wanted, bool) or not isinstance(wanted, int | float) or not 0 <= wanted < 1e9:
        return None
    return float(wanted)


def _nothing() -> None:
    """What a component that triggers asks for; the page looks at the result instead."""

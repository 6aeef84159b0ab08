"""Sessions as a recording leaves them, made on the spot: four steps, an alert that stands, one withdrawn, a video."""

from __future__ import annotations

import json
from pathlib import Path

from guide.domain import Alert, KeyStep, Resolution, Segment, StepEvent
from guide.procedure.export import to_plain
from guide.procedure.learn import learn_procedure
from guide.record.clips import H264, Clip
from guide.record.shipping import find_address
from guide.record.snapshots import encode
from guide.record.store import Store
from guide.record.values import Row, SessionFacts, SessionState, StoredAction, StoredPicture
from tests.synth import COLOURS, plain

FIRST, SECOND = "20300102-030405-00ff", "20300103-030405-00aa"
NAMES = ("lay mat", "open case", "fit board", "close lid")
STEP_S, RATE = 5.0, 5.0
ALERT_AT, WITHDRAWN_AT = 12.0, 16.0
EVIDENCE = "not seen before fit board: came first in 6 of 6 demonstrations"


def keep_session(
    folder: Path,
    name: str = FIRST,
    order: tuple[int, ...] = (1, 3, 2, 4),
    names: tuple[str, ...] = NAMES,
    has_video: bool = True,
    state: SessionState = "finished",
    more: tuple[Row, ...] = (),
    **facts: object,
) -> str:
    """Stores a session in which the steps of `order` took STEP_S each; gives its name."""
    known = {"started": 1_893_500_000.0, "person": "shift 2", "bundle": "exported/box", "bundle_hash": "1f2e3d4c5b6a"}
    with Store(folder, records=find_address(None)) as store:
        store.begin(SessionFacts(name, **{**known, "procedure": _procedure(names), **facts}))  # type: ignore[arg-type]
        store.place(name).mkdir(parents=True)
        rows = [*_events(order), *_said(), StoredAction(1, 13.0, 1e9, 60, "acknowledge", 1, person="<b>boss</b>")]
        if has_video:
            rows += _pictures(store.place(name), order)
        rows += more
        store.write(name, rows, frames=100, at=len(order) * STEP_S, wall=known["started"] + 20)  # type: ignore[operator]
        if state != "open":
            store.end(name, state, known["started"] + 20)  # type: ignore[operator]
    return name


def _procedure(names: tuple[str, ...]) -> str:
    demonstrations = [[Segment(step, 5.0 * step, 5.0 * step + 4.0) for step in (1, 2, 3, 4)]] * 6
    steps = [KeyStep(number, name) for number, name in enumerate(names, start=1)]
    return json.dumps(to_plain(learn_procedure(demonstrations, steps)))


def _events(order: tuple[int, ...]) -> list[Row]:
    rows: list[Row] = []
    for place, step in enumerate(order):
        start, end = place * STEP_S, (place + 1) * STEP_S - 1.0
        rows += [
            StepEvent(start + 1.0, step, "confirmed", start, None, 0.8),
            StepEvent(end + 0.5, step, "ended", start, end, 0.9),
        ]
    return rows


def _said() -> list[Row]:
    return [
        Alert(1, ALERT_AT, "out_of_order", 2, 3, "warning", EVIDENCE),
        Alert(2, WITHDRAWN_AT, "missed", 4, None, "warning", "not seen"),
        Resolution(2, WITHDRAWN_AT + 1.0, is_withdrawn=True),
    ]


def _pictures(place: Path, order: tuple[int, ...]) -> list[Row]:
    count = int(len(order) * STEP_S * RATE)
    with Clip(place / "video-1", H264) as clip:
        for number in range(count):
            at = number / RATE
            clip.push(plain(COLOURS[order[int(at / STEP_S)]], 160, 120), at)
    (place / "still-1-alert-1.jpg").write_bytes(encode(plain(COLOURS[2], 160, 120)))
    return [StoredPicture(0.0, "video", 1, clip.path.name), StoredPicture(ALERT_AT, "alert", 1, "still-1-alert-1.jpg")]

"""A tiny task that is sure to be flagged: bundle, recordings and server as the Live page meets them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from guide.bundle import read_bundle, write_manifest
from guide.ingest.source import open_source
from guide.networks import start_networks
from guide.session import Session, follow
from guide.ui.server import ServerKeeper
from tests.server import QUICK, Served, running
from tests.tiny import STEP_S, Learned, altered, write_steps

SHOWN = (1, 4, 2)
"""The steps of the recording, each shown for STEP_S seconds."""


@dataclass(frozen=True, slots=True)
class LiveTask:
    """Where the bundles lie, where sessions go, where the demo's recordings are, and the step that will be missed."""

    exported: Path
    data: Path
    demo: Path
    video: Path
    missed: int
    names: tuple[str, ...]

    @property
    def environment(self) -> dict[str, str]:
        return {"CNC_EXPORTED": str(self.exported), "CNC_DATA": str(self.data), "CNC_DEMO": str(self.demo)}


def make_live_task(
    task: Learned, place: Path, names: Sequence[str] = ("lay mat", "open case", "fit board", "close lid"),
    repeats: int = 4, bundle: str = "demo", is_said: bool = False,
) -> LiveTask:  # fmt: skip
    """A bundle in which a step that the recording never shows must come before all others; a voice asks for each."""
    video = place / "demo" / "live" / "02_missed.mp4"
    video.parent.mkdir(parents=True)
    steps = SHOWN * repeats
    write_steps(video, steps, [number / 10 for number in range(int(len(steps) * STEP_S * 10))])
    folder = place / "exported" / bundle
    folder.parent.mkdir(parents=True)
    altered(task.bundle, folder)
    missed = min({1, 2, 3, 4} - _seen(task, video), default=4)
    plain = json.loads((folder / "procedure.json").read_text(encoding="utf-8"))
    others = [one["number"] for one in plain["steps"] if one["number"] != missed]
    plain["rules"] |= {"edges": [[missed, other] for other in others], "required": [missed], "asked_edges": [],
                       "asked_steps": [], "patience_s": None, "unknown": False, "longest_s": [], "shortest_s": [],
                       "single": [], "needs": [], "asked_needs": []}  # fmt: skip
    for step, name in zip(plain["steps"], names, strict=True):
        step["name"] = name
        if is_said:
            step["say"] = f"please {name}"
    (folder / "procedure.json").write_text(json.dumps(plain), encoding="utf-8")
    facts = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    write_manifest(folder, {key: value for key, value in facts.items() if key not in ("schema", "files")})
    data = place / "sessions"
    data.mkdir(mode=0o700)
    return LiveTask(folder.parent, data, place / "demo", video, missed, tuple(names))


def _seen(task: Learned, video: Path) -> set[int]:
    """The steps that the bundle recognises in the recording."""
    bundle = read_bundle(task.folder)
    session = Session(bundle, start_networks(bundle, "cpu", 1), QUICK)
    updates = follow(open_source(str(video)).frames(), session)
    return {event.step for update in updates for event in update.events}


@contextmanager
def serving_dashboard(task: LiveTask, bundle: str = "demo") -> Iterator[Served]:
    """A server that the dashboard of this task will find, as if it had started it."""
    note = ServerKeeper(task.exported, task.data).note
    with running(task.exported / bundle, task.data, note=note) as served:
        yield served

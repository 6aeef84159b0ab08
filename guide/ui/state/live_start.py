"""What can be started: the demo's recordings, and sessions that run, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from guide.ui.state.live import source_words
from guide.ui.state.live_words import clock

DEMO_VARIABLE = "CNC_DEMO"
DEFAULT_DEMO = ".cache/demo"
FAULTS: Mapping[str, str] = {
    "missed": "A step is left out",
    "out_of_order": "Two steps in the wrong order",
    "repeated": "A step is done twice",
    "unknown": "Something strange is done (seldom found)",
    "none": "Nothing goes wrong",
}


@dataclass(frozen=True, slots=True)
class DemoRecording:
    """A recording of the demo's task that nobody learned from, and what is wrong in it.

    >>> DemoRecording(Path("02_missed.mp4"), "A step is left out").words
    'A step is left out'
    """

    path: Path
    words: str


def demo_recordings(environment: Mapping[str, str]) -> tuple[DemoRecording, ...]:
    """The demo's live recordings, the one that shows most first.

    >>> demo_recordings({"CNC_DEMO": "no/such/folder"})
    ()
    """
    folder = Path(environment.get(DEMO_VARIABLE) or DEFAULT_DEMO) / "live"
    found = {path.stem.partition("_")[2]: path for path in sorted(folder.glob("*.mp4"))}
    return tuple(DemoRecording(found[fault], words) for fault, words in FAULTS.items() if fault in found)


def demo_stills(bundle: Path, most: int = 3) -> tuple[Path, ...]:
    """A few pictures of different steps, for people who want to know what the demo is about.

    >>> demo_stills(Path("no/such/bundle"))
    ()
    """
    return tuple(sorted(bundle.glob("stills/*_1.jpg"))[1 : most + 1])


def session_words(brief: Mapping[str, Any]) -> str:
    """A session that runs, in a line."""
    step = brief["step"]
    return f"{source_words(brief)} · {clock(brief['at'])}" + (f" · {step['name']}" if step else "")

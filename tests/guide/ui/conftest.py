"""A tiny bundle with pictures, made on the spot: what the pages read, without any network in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import cv2
import pytest

from guide.bundle import new_bundle, write_manifest
from guide.domain import KeyStep, Segment
from guide.procedure.export import to_plain
from guide.procedure.learn import learn_procedure
from tests.synth import COLOURS, plain

MakeBundle = Callable[..., Path]

NAMES = ("lay mat", "open case", "fit board", "close lid")
ORDERS = ((1, 2, 3, 4),) * 4 + ((2, 1, 3, 4),) * 2
FACTS: Mapping[str, Any] = {
    "program": "cnc-guide 0.1.0",
    "rate": 5.0,
    "input": {"kind": "frames", "backbone": "efficientnet_lite0", "width": 1280},
    "recipe": {"loss": "tc3i", "clusterer": "pcm"},
    "training": {"iterations": 240, "why_ended": "the held-out loss stopped falling", "seed": 0},
    "parity": {"head.onnx": {"cosine": 1.0}, "trunk.onnx": {"cosine": 0.99999}},
    "recordings": ["01", "02", "03", "04", "05", "06"],
    "notes": ["only 3 of the 4 steps asked for were found: ask for fewer"],
}


def still(step: int) -> bytes:
    """A JPEG of the step's own colour."""
    is_encoded, data = cv2.imencode(".jpg", plain(COLOURS[step % len(COLOURS)], 320, 240)[..., ::-1])
    assert is_encoded
    return bytes(data.tobytes())


def write_bundle(folder: Path, names: tuple[str, ...] = NAMES, facts: Mapping[str, Any] = FACTS) -> Path:
    """A bundle of `names` done in ORDERS, each step for 4 s, with two pictures of each."""
    recordings = [[Segment(step, 5.0 * place, 5.0 * place + 4.0) for place, step in enumerate(o)] for o in ORDERS]
    procedure = learn_procedure(recordings, [KeyStep(number, name) for number, name in enumerate(names, start=1)])
    with new_bundle(folder) as aside:
        (aside / "procedure.json").write_text(json.dumps(to_plain(procedure)), encoding="utf-8")
        (aside / "stills").mkdir()
        for number in range(1, len(names) + 1):
            for which in (1, 2):
                (aside / "stills" / f"{number:02d}_{which}.jpg").write_bytes(still(number))
        write_manifest(aside, facts)
    return folder


@pytest.fixture
def make_bundle() -> MakeBundle:
    return write_bundle

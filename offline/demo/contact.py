"""A contact sheet: one row per key-step, one column per person."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from guide.domain import Image
from guide.errors import OutputError

from .camera import HEIGHT_PX, WIDTH_PX
from .recording import Recording
from .task import TASK

PEOPLE = 6
CAPTION_PX = 20
PHASES = (0.5, 0.3, 0.75)  # the moment shown of a step differs from person to person


def write_contact_sheet(path: Path, seed: int, people: int = PEOPLE) -> None:
    """Write the sheet of the first demonstrations of a seed as a JPEG."""
    columns = [contact_column(Recording(seed, "train", number + 1), PHASES[number % 3]) for number in range(people)]
    sheet = cv2.resize(np.hstack(columns), None, fx=0.6, fy=0.6, interpolation=cv2.INTER_AREA)
    is_encoded, data = cv2.imencode(".jpg", sheet[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 82])
    assert is_encoded
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.tobytes())
    except OSError as error:
        raise OutputError(f"cannot write {path} ({error.strerror}): give another --contact-sheet file.") from error


def contact_column(recording: Recording, phase: float) -> Image:
    """Every step this person did, one below the other, captioned; steps left out stay grey."""
    script, pictures = recording.script, list(recording.pictures())
    cells = []
    for step in TASK.steps:
        cell = np.full((HEIGHT_PX + CAPTION_PX, WIDTH_PX, 3), 236, np.uint8)
        visits = [event.frames for event in script.steps if event.step == step.number]
        text = f"{step.label}, person {recording.number}"
        if visits:
            cell[CAPTION_PX:] = pictures[visits[0][int(phase * len(visits[0]))]]
        else:
            text += ": left out (optional)"
        cv2.putText(cell, text, (5, 15), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (20, 20, 20), 1, cv2.LINE_AA)
        cells.append(cell)
    return np.vstack(cells)

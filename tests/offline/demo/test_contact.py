"""The contact sheet's columns."""

from __future__ import annotations

from offline.demo.camera import HEIGHT_PX, WIDTH_PX
from offline.demo.contact import CAPTION_PX, contact_column
from offline.demo.recording import Recording
from offline.demo.task import TASK


def test_a_column_has_a_cell_per_step_and_greys_what_was_left_out() -> None:
    recording = Recording(seed=1, kind="train", number=1, scale=0.02)
    column = contact_column(recording, 0.5)
    height = HEIGHT_PX + CAPTION_PX
    assert column.shape == (height * len(TASK.steps), WIDTH_PX, 3)
    for step in TASK.steps:
        cell = column[height * (step.number - 1) + CAPTION_PX : height * step.number]
        assert (cell.std() > 5) == (step.number in recording.script.order)

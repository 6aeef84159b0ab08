"""What tests of the training command share: short videos to spoil."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.synth import grey_levels, steady, write_video


@pytest.fixture
def videos(tmp_path: Path) -> Path:
    """Three short videos; tests spoil one of them."""
    folder = tmp_path / "videos"
    folder.mkdir()
    for name in "abc":
        write_video(folder / f"{name}.mp4", grey_levels(20), steady(20, 5))
    return folder

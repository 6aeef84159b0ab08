"""The dashboard's benchmark: what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from guide.benchmarks.dashboard import DashboardBenchmarkOptions
from guide.errors import InputError


def test_a_missing_bundle_or_video_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="make demo"):
        DashboardBenchmarkOptions(bundle=tmp_path, video=tmp_path / "new.mp4")
    with pytest.raises(InputError, match="at least one"):
        DashboardBenchmarkOptions(rounds=0)

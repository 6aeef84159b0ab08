"""The dashboard's bench: what it refuses, and how it reads what the server says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from guide.benchmarks.dashboard import DashboardBenchmarkOptions, FrameCost, _processor_s, _ratio, _value
from guide.errors import InputError


def test_a_missing_bundle_or_video_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="make demo"):
        DashboardBenchmarkOptions(bundle=tmp_path, video=tmp_path / "new.mp4")
    with pytest.raises(InputError, match="at least one"):
        DashboardBenchmarkOptions(rounds=0)


def test_the_ratio_is_of_each_round_by_itself() -> None:
    closed = [FrameCost(10.0, 1.0), FrameCost(100.0, 1.0), FrameCost(50.0, 1.0)]
    open_ = [FrameCost(11.0, 2.0), FrameCost(110.0, 2.0), FrameCost(100.0, 2.0)]
    assert _ratio(closed, open_, "clock_ms") == pytest.approx(1.1)
    assert _ratio(closed, open_, "processor_ms") == 2.0


def test_metrics_and_processor_time_are_read() -> None:
    text = 'a 1\nguide_stage_seconds_sum{stage="see"} 2.5\n'
    assert _value(text, 'guide_stage_seconds_sum{stage="see"}') == 2.5
    assert _value(text, "nothing") == 0.0
    assert _processor_s(os.getpid()) > 0

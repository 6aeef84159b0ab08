"""Recorded traffic against the capacity model: headsets send as was recorded, at the rate asked for."""

from __future__ import annotations

from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np
import pytest

from guide.benchmarks.capacity import LEAST_ARRIVALS, CapacityOptions, _arrivals, _traffic
from guide.benchmarks.capacity_model import simulate
from guide.errors import InputError
from guide.record.percepts import PERCEPTS_FILE, PerceptWriter
from guide.record.values import StoredPercept

GAPS_S = (0.1, 0.7)


def record(folder: Path, frames: int) -> Path:
    """A session whose frames came in pairs, from its tenth second on."""
    folder.mkdir(parents=True)
    times = accumulate((GAPS_S[number % 2] for number in range(frames - 1)), initial=10.0)
    with PerceptWriter(folder / PERCEPTS_FILE) as writer:
        writer.append([StoredPercept(number, at, np.zeros(2, np.float32)) for number, at in enumerate(times)])
    return folder.parent


def test_headsets_send_in_the_rhythm_that_was_recorded(tmp_path: Path) -> None:
    record(tmp_path / "short", LEAST_ARRIVALS - 1)
    traffic = _traffic(CapacityOptions(sessions=record(tmp_path / "long", 2 * LEAST_ARRIVALS + 1)))
    assert [(len(times), times[0]) for times in traffic] == [(2 * LEAST_ARRIVALS + 1, 0.0)]
    arrivals = _arrivals(traffic, 6, rate=5.0, seconds=40.0)
    assert len({one[0] for one in arrivals}) == 6, "not all at once"
    for one in arrivals:
        assert len(one) == pytest.approx(5.0 * 40.0, rel=0.03)
        # Five a second are twice as many as were recorded.
        assert {round(later - earlier, 6) for earlier, later in pairwise(one)} == {gap / 2 for gap in GAPS_S}


def test_frames_that_come_in_pairs_wait_where_even_ones_do_not() -> None:
    paired = [[number * 0.4 + shift for number in range(100) for shift in (0.0, 0.05)]]
    even = [[number * 0.2 for number in range(200)]]
    (slow, _), (quick, _) = simulate(paired, 1, 0.1), simulate(even, 1, 0.1)
    assert max(slow) > 0.12 >= max(quick)


def test_a_folder_without_sessions_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"no session of {LEAST_ARRIVALS} frames"):
        _traffic(CapacityOptions(sessions=tmp_path))

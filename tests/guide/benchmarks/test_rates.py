"""A row for each network; what is not there is said."""

from __future__ import annotations

from guide.benchmarks.rates import measure_rates
from tests.tiny import Learned


def test_rows_and_what_is_lacking(frames_task: Learned, maps_task: Learned) -> None:
    part = measure_rates([frames_task.bundle, maps_task.bundle], None, 3, cores=1)
    names = [figure.name for figure in part.figures]
    assert len(names) == 6
    assert sum(name.endswith("float: rate") for name in names) == 2
    assert sum("frame to line, p95" in name for name in names) == 2
    assert sum("has no 8-bit network" in note for note in part.notes) == 2

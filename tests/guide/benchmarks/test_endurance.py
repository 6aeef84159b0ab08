"""The short form of the endurance of the server: memory is told, and does not pile up."""

from __future__ import annotations

from guide.benchmarks.endurance import SAMPLES, EnduranceOptions, measure_endurance
from tests.tiny import Learned


def test_memory_comes_back_after_headsets_that_stay_and_clients_that_come_and_go(frames_task: Learned) -> None:
    said = list[str]()
    part = measure_endurance(
        EnduranceOptions(frames_task.folder, None, 8.0, clients=4, reconnecting=12, threads=1, calm_s=2.0), said.append
    )
    growth, times = part.figures[2], part.figures[-1]
    assert (growth.name, growth.most, times.most) == ("grown since, at most", 20.0, 1.3)
    assert part.figures[0].value > 50
    assert (growth.verdict, times.verdict) == ("ok", "ok"), part.text()
    assert "0 refused" in part.notes[0]
    assert len(said) == 3 + 2 * SAMPLES

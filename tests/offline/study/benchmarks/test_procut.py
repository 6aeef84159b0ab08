"""The ProCut benchmark at a tiny size: costs from processes of their own, and both rows of the race."""

from __future__ import annotations

import pytest

from offline.study.benchmarks import procut
from offline.study.benchmarks.naive_procut import Cost
from offline.study.benchmarks.procut import ProCutSizes, measure_procut, own_process_cost


def test_the_cost_comes_from_a_process_of_its_own() -> None:
    cost = own_process_cost(1000, 8, 3)
    assert cost.frames == 1000
    assert cost.seconds > 0
    assert 10 < cost.peak_mb < 1000


def test_growth_and_both_rivals_are_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(procut, "own_process_cost", lambda frames, width, k: Cost(frames, frames * 1e-5, 100.0))
    costs, race = measure_procut(ProCutSizes(frames=2000, few=1000, many=4000, width=8, k=3, repeats=1))
    figures = {figure.name: figure.value for figure in costs.figures}
    assert figures["growth from fewest to most"] == pytest.approx(1.0)
    assert figures["2,000 frames"] == pytest.approx(0.02)
    names = [figure.name for figure in race.figures]
    assert any("its own random start" in name for name in names)
    assert any("from our start" in name for name in names)

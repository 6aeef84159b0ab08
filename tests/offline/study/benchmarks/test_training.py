"""The training benchmark at a tiny size gives the step, its network and its parts."""

from __future__ import annotations

from dataclasses import replace

from offline.config import PAPER
from offline.study.benchmarks.training import StepSizes, measure_training


def test_a_tiny_step_gives_all_figures() -> None:
    recipe = replace(PAPER, head_width=8, sampled_frames=4)
    (part,) = measure_training(StepSizes(2, 64, (4, 4, 4), recipe, steps=1))
    figures = {figure.name: figure.value for figure in part.figures}
    assert figures["steps"] > 0
    assert figures["a step"] > 0
    assert 0 <= figures["data, loss and optimiser in the step"] <= 100
    assert {"loss, alone", "optimiser, alone", "data drawn ahead, alone"} <= set(figures)

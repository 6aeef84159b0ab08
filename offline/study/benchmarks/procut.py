"""What the ProCut Module costs in time and memory, how that grows, and the race against the published way."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass

from guide.benchmarks.figures import Figure, Part, processor
from offline.study.benchmarks.naive_procut import Cost, race

MOST_S = 20.0
MOST_MB = 1500.0
MOST_GROWTH = 1.3
LEAST_TIMES_FASTER = 3.0
MOST_ENERGY = 1.01  # centres come from a sample of the frames
"""Ours over the rival's, each on its own memberships, whose centres agree to that much; on the same ones it is 1."""


@dataclass(frozen=True, slots=True)
class ProCutSizes:
    """How many frames are labelled."""

    frames: int = 100_000
    few: int = 10_000
    many: int = 1_000_000
    width: int = 128
    k: int = 10
    repeats: int = 5


def measure_procut(sizes: ProCutSizes) -> list[Part]:
    """The cost of labelling and the race."""
    return [_costs(sizes), _race(sizes)]


def own_process_cost(frames: int, width: int, k: int) -> Cost:
    """`pcm_cost` in a fresh process, so that its peak memory is its own."""
    command = [sys.executable, "-m", "offline.study.benchmarks.naive_procut", str(frames), str(width), str(k)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Cost(**json.loads(done.stdout))


def _costs(sizes: ProCutSizes) -> Part:
    few, usual, many = (own_process_cost(n, sizes.width, sizes.k) for n in (sizes.few, sizes.frames, sizes.many))
    figures = (
        Figure(f"{usual.frames:,} frames", usual.seconds, "s", most=MOST_S),
        Figure("peak memory, drawing the frames included", usual.peak_mb, "MB", most=MOST_MB),
        *(Figure(f"a frame of {cost.frames:,}", cost.per_frame_us, "us") for cost in (few, usual, many)),
        Figure("growth from fewest to most", many.per_frame_us / few.per_frame_us, most=MOST_GROWTH),
        Figure("growth from the middle to most", many.per_frame_us / usual.per_frame_us, most=MOST_GROWTH),
        Figure(f"peak memory of {many.frames:,}", many.peak_mb, "MB"),
    )
    return Part(f"ProCut, {sizes.width} dimensions, K = {sizes.k}", processor(), figures)


def _race(sizes: ProCutSizes) -> Part:
    run = race(sizes.frames, sizes.width, sizes.k, repeats=sizes.repeats)
    figures = [Figure("ours", run.seconds, "s")]
    for name, rival in (("its own random start", run.random_start), ("our start", run.our_start)):
        figures += [
            Figure(f"scikit-fuzzy from {name}, {rival.rounds} rounds", rival.seconds, "s"),
            Figure(f"times faster than from {name}", rival.seconds / run.seconds, least=LEAST_TIMES_FASTER),
            Figure(
                "energy, ours over its, each on its own memberships",
                run.energy / rival.energy,
                most=MOST_ENERGY,
                digits=6,
            ),
            Figure(
                "energy, our cut over its, on its memberships", rival.cut_energy / rival.energy, most=1 + 1e-9, digits=6
            ),
        ]
    title = f"ProCut with next-frame links against scikit-fuzzy and aexpansion_grid, {sizes.frames:,} frames"
    return Part(title, processor(), tuple(figures))

"""Several recordings at once: each is followed to its end, and batching threads are ended."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from guide.benchmarks.shared import measure_shared, replay_together
from guide.errors import InputError
from guide.networks import start_networks
from tests.tiny import Learned


def test_every_recording_is_followed(frames_task: Learned) -> None:
    replays = replay_together(frames_task.bundle, start_networks(frames_task.bundle, "cpu", 1), None, 3, 2)
    assert [len(each.took_s) for each in replays] == [3, 3]
    assert all(each.rate > 0 for each in replays)


def test_the_figures_of_both_ways(frames_task: Learned) -> None:
    before = set(threading.enumerate())
    part = measure_shared(frames_task.bundle, None, 3, streams=2, cores=1)
    names = [figure.name for figure in part.figures]
    assert "in batches: frame to line, p95" in names
    assert "one by one: rate of each" in names
    assert next(figure.value for figure in part.figures if figure.name == "pictures in a batch") >= 1
    assert set(threading.enumerate()) <= before


def test_an_error_in_one_is_raised(frames_task: Learned) -> None:
    networks = start_networks(frames_task.bundle, "cpu", 1)
    with pytest.raises(InputError, match="does not exist"):
        replay_together(frames_task.bundle, networks, Path("missing.mp4"), 2, 2)

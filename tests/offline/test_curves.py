"""The curves: lines and TensorBoard's events tell the same points, none lost and none twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from offline.curves import EVENTS, METRICS, Curves, Point, read_points


def point(iteration: int) -> Point:
    return Point(iteration, 1.0 / iteration, 2.0 / iteration, 30.0)


def board(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """What TensorBoard reads in a folder."""
    reader = EventAccumulator(str(folder))
    reader.Reload()
    return {tag: [(each.step, each.value) for each in reader.Scalars(tag)] for tag in reader.Tags()["scalars"]}


def write(folder: Path, start: int, *iterations: int) -> None:
    with Curves(folder) as made:
        made.go_on_from(start)
        for iteration in iterations:
            made.push(point(iteration))


def test_lines_and_events_tell_the_same(tmp_path: Path) -> None:
    write(tmp_path, 0, 10, 20)
    assert read_points(tmp_path) == [point(10), point(20)]
    told = board(tmp_path)
    assert [step for step, _ in told["loss/training"]] == [10, 20]
    assert [value for _, value in told["loss/training"]] == pytest.approx([0.1, 0.05])
    assert [step for step, _ in told["loss/held out, smoothed"]] == [10, 20]
    assert [value for _, value in told["iterations a second"]] == [30.0, 30.0]


@pytest.mark.parametrize(("start", "kept"), [(0, []), (10, [10]), (20, [10, 20])])
def test_a_run_that_goes_on_neither_loses_nor_repeats_a_point(tmp_path: Path, start: int, kept: list[int]) -> None:
    write(tmp_path, 0, 10, 20)
    with (tmp_path / METRICS).open("a") as stream:
        stream.write('{"iteration": 30, "lo')  # killed while it wrote
    write(tmp_path, start, start + 10)
    expected = [*kept, start + 10]
    assert [each.iteration for each in read_points(tmp_path)] == expected
    assert [step for step, _ in board(tmp_path)["loss/training"]] == expected
    assert len(list(tmp_path.glob(EVENTS))) == 1


def test_without_tensorboard_there_are_lines_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("offline.curves.has_tensorboard", lambda: False)
    write(tmp_path, 0, 10)
    assert [path.name for path in tmp_path.iterdir()] == [METRICS]

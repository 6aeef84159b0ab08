"""`python -m guide bench`: the parts that were asked for are printed and written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from guide.benchmarks.headsets import HeadsetFigures
from guide.commands.benchmark import LiveBenchmarkOptions, main
from guide.errors import InputError, OutputError
from guide.perceive import embedder
from tests.tiny import Learned


def test_all_parts_are_printed_and_written(
    frames_task: Learned, maps_task: Learned, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = LiveBenchmarkOptions(
        frames_task.folder, (maps_task.folder,), frames=4, streams=2, cores=1, json=tmp_path / "figures.json"
    )
    main(options)
    printed = capsys.readouterr().out
    written = json.loads((tmp_path / "figures.json").read_text())
    assert written["machine"] in printed
    titles = [part["title"] for part in written["parts"]]
    assert [title.split(",")[0] for title in titles] == [
        "The loop around the networks",
        "The loop around the networks",
        "Sustained rate and frame to line",
        "2 recordings at once on one set of networks in float precision",
    ]
    assert all({"name", "value", "unit", "verdict"} <= set(part["figures"][0]) for part in written["parts"])


def test_what_this_machine_takes_is_measured_too(
    mixed_task: Learned, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(embedder, "_has_half", lambda: True)
    main(LiveBenchmarkOptions(mixed_task.folder, frames=4, streams=2, cores=1))
    printed = capsys.readouterr().out
    for words in (
        "networks in float precision",
        "networks in mixed precision",
        ", mixed: rate",
        "has no 8-bit network",
    ):
        assert words in printed


def test_hours_measure_memory_alone(frames_task: Learned, capsys: pytest.CaptureFixture[str]) -> None:
    main(LiveBenchmarkOptions(frames_task.folder, hours=0.002))
    printed = capsys.readouterr().out
    assert "growth since, at most" in printed
    assert "Sustained rate" not in printed


def test_the_servers_measurements_get_the_options_and_are_written(
    frames_task: Learned, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    got: list[LiveBenchmarkOptions] = []

    def run(options: LiveBenchmarkOptions) -> list[HeadsetFigures]:
        got.append(options)
        return [HeadsetFigures(2, 5.0, 20.0, 200, 198, 2, (0.1, 0.2), (0.01, 0.01), (1e8, 1e8))]

    monkeypatch.setattr("guide.benchmarks.headsets.run", run)
    options = LiveBenchmarkOptions(frames_task.folder, serve=True, json=tmp_path / "figures.json")
    main(options)
    assert got == [options]
    [figures] = json.loads((tmp_path / "figures.json").read_text())["serve"]
    assert (figures["clients"], figures["is_steady"]) == (2, True)


@pytest.mark.parametrize(
    "wrong", [{"frames": 1}, {"streams": 0}, {"cores": 0}, {"hours": -1.0}, {"hours": float("nan")}, {"seconds": 5.0}]
)
def test_numbers_without_sense_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match="needs a number from"):
        LiveBenchmarkOptions(**wrong)  # type: ignore[arg-type]


def test_figures_that_cannot_be_written(frames_task: Learned, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot be written"):
        main(LiveBenchmarkOptions(frames_task.folder, hours=0.001, json=tmp_path / "no" / "figures.json"))

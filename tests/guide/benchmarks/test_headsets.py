"""The bench of the server: measures what it says, on a server of its own."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from guide.benchmarks import headsets as bench
from guide.benchmarks.headsets import HeadsetFigures, ServerBenchmarkOptions, measure, most_steady_clients, run
from guide.commands.benchmark import LiveBenchmarkOptions
from guide.errors import InputError, OutputError
from tests.tiny import Learned

GOOD = HeadsetFigures(4, 5.0, 20.0, 400, 398, 2, (0.1, 0.2, 0.3), (0.01, 0.02), (1e8, 1.01e8))


def test_a_short_run_answers_every_client(frames_task: Learned) -> None:
    told: list[str] = []
    [measured] = measure(
        ServerBenchmarkOptions(frames_task.folder, clients=3, fps=5.0, seconds=7.0, threads=1), told.append
    )
    assert (measured.clients, measured.silent) == (3, 0)
    assert measured.sent + measured.unsent == 3 * 35
    assert 0 < measured.seen <= measured.sent
    assert 0 < measured.p50_s <= measured.p95_s
    assert measured.memory_bytes[0] > 1e7
    assert told == [measured.line()]


@pytest.mark.parametrize(
    ("change", "is_steady"),
    [({}, True), ({"silent": 1}, False), ({"ages_s": (0.01, 0.5)}, False), ({"memory_bytes": (1e8, 2e8)}, False)],
)
def test_growth_is_seen(change: dict[str, Any], is_steady: bool) -> None:
    assert replace(GOOD, **change).is_steady is is_steady
    assert ("NOT steady" in replace(GOOD, **change).line()) is not is_steady


def test_the_limit_is_searched_by_doubling_and_halving(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []

    def pretend(_: object, clients: int, *__: object) -> HeadsetFigures:
        tried.append(clients)
        return replace(GOOD, clients=clients, replies_s=(0.1 if clients <= 11 else 0.9,))

    monkeypatch.setattr(bench, "_measure", pretend)
    assert most_steady_clients(measure(ServerBenchmarkOptions(most_clients=64))) == 11
    assert tried == [2, 4, 8, 16, 12, 10, 11]
    tried.clear()
    assert most_steady_clients(measure(ServerBenchmarkOptions(most_clients=5))) == 5
    assert tried == [2, 4, 5]


def test_the_command_measures_the_crowd_on_the_small_trunk_then_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[tuple[str, int, float, float]] = []

    def pretend(options: ServerBenchmarkOptions, clients: int, *_: object) -> HeadsetFigures:
        tried.append((options.bundle.name, clients, options.fps, options.seconds))
        return replace(GOOD, clients=clients, replies_s=(0.1 if clients <= 3 else 0.9,))

    monkeypatch.setattr(bench, "_measure", pretend)
    said = io.StringIO()
    run(LiveBenchmarkOptions(also=(Path("exported/small"),)), Console(file=said))
    assert tried[0] == ("small", 16, 5.0, 120.0)
    assert [(name, clients, fps) for name, clients, fps, _ in tried[1:]] == [
        ("demo", 2, 1.0), ("demo", 4, 1.0), ("demo", 3, 1.0),
    ]  # fmt: skip
    assert "every client answered: 16 of 16: met" in said.getvalue()
    assert "frame to reply: p95 900 ms" in said.getvalue()
    assert "held with p95 under 600 ms: 3\n" in said.getvalue()


def test_verdicts_say_what_was_missed() -> None:
    bad = replace(GOOD, silent=1, ages_s=(0.01, 0.5), memory_bytes=(1e8, 2e8))
    assert [line.rpartition(": ")[2] for line in bad.verdicts()[:3]] == ["MISSED"] * 3
    assert [line.rpartition(": ")[2] for line in GOOD.verdicts()[:3]] == ["met"] * 3
    assert json.loads(json.dumps(bad.as_json()))["is_steady"] is False


def test_a_server_that_does_not_start_is_told(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="did not start"):
        measure(ServerBenchmarkOptions(tmp_path / "nothing"))


@pytest.mark.parametrize("wrong", [{"clients": 0}, {"fps": 0.0}, {"fps": 99.0}, {"seconds": 1.0}])
def test_options_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        ServerBenchmarkOptions(**wrong)

"""Drawing with progress: once, and then never again."""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from pathlib import Path

import pytest
from rich.console import Console

from offline.demo import drawing
from offline.demo.drawing import draw_once
from offline.demo.world import Progress, World

WORLD = World(20, 2, 1)


def pretend(world: World, out: Path, jobs: int = 0, progress: Progress | None = None) -> None:
    """Writes empty files for every recording."""
    for one in world.all:
        (out / one.kind).mkdir(parents=True, exist_ok=True)
        for suffix in (".mp4", ".csv"):
            (out / one.kind / f"{one.name}{suffix}").touch()
        assert progress is not None
        progress(one)
    (out / "world.json").write_text(json.dumps(asdict(world)))


def test_a_world_is_drawn_with_progress_and_then_reused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = io.StringIO()
    monkeypatch.setattr(drawing, "draw_world", pretend)
    assert draw_once(WORLD, tmp_path, Console(file=said))
    assert said.getvalue() == "drawing: 100 % 3 of 3 recordings\n"
    monkeypatch.setattr(drawing, "draw_world", lambda *_, **__: pytest.fail("drew it again"))
    assert not draw_once(WORLD, tmp_path, Console(file=said))
    assert said.getvalue().endswith(f"{tmp_path} already holds the recordings\n")


def test_the_processes_asked_for_draw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(drawing, "draw_world", lambda world, out, jobs, progress: asked.append(jobs))
    draw_once(WORLD, tmp_path, Console(quiet=True), jobs=3)
    assert asked == [3]

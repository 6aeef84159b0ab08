"""Whole worlds: reuse, refusal, nothing half-written."""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from pathlib import Path

import pytest
from rich.console import Console

from guide.errors import InputError, OutputError
from offline.demo import world as module
from offline.demo.recording import Recording
from offline.demo.world import WORLD_VERSION, OnDrawn, World, draw_once, draw_world, is_drawn

TINY = World(seed=2, recordings=1, live=1, scale=0.02)


def test_a_recording_does_not_depend_on_how_many_there_are() -> None:
    small, large = World(5, 2, 2), World(5, 4, 7)
    assert small.train == large.train[:2]
    assert small.faulty == large.faulty[:2]
    assert [recording.script for recording in small.all] == [r.script for r in large.train[:2] + large.faulty[:2]]


def test_draws_everything_and_is_reused(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "world"
    drawn: list[Recording] = []
    draw_world(TINY, out, jobs=1, on_drawn=drawn.append)
    found = sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file())
    assert found == ["live/01_none.csv", "live/01_none.mp4", "train/01.csv", "train/01.mp4", "truth.json", "world.json"]
    assert drawn == TINY.all
    assert json.loads((out / "world.json").read_text())["version"] == WORLD_VERSION
    assert is_drawn(out, TINY)
    assert not is_drawn(out, World(3, 1, 1, 0.02))
    (out / "train" / "01.csv").unlink()
    assert not is_drawn(out, TINY)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_an_interrupted_drawing_leaves_the_old_world_or_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: BaseException
) -> None:
    def fail(recording: Recording, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "half.mp4").write_bytes(b"half")
        raise stop

    monkeypatch.setattr(module, "write_recording", fail)
    with pytest.raises((KeyboardInterrupt, OutputError)):
        draw_world(TINY, tmp_path / "world", jobs=1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("stands", [False, True], ids=["new", "replaced"])
@pytest.mark.parametrize("last", ["train", "live", "truth.json", "world.json"])
def test_a_run_killed_while_it_puts_the_world_in_place_can_be_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: str, stands: bool
) -> None:
    def pretend(recording: Recording, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        for suffix in (".mp4", ".csv"):
            (folder / f"{recording.name}{suffix}").touch()
        return folder

    def killed(path: Path, target: Path) -> Path:
        if path.name == last:
            raise KeyboardInterrupt
        return rename(path, target)

    monkeypatch.setattr(module, "write_recording", pretend)
    rename, out = Path.rename, tmp_path / "world"
    if stands:
        draw_world(TINY, out, jobs=1)
    monkeypatch.setattr(Path, "rename", killed)
    with pytest.raises(KeyboardInterrupt):
        draw_world(TINY, out, jobs=1)
    monkeypatch.setattr(Path, "rename", rename)
    assert not is_drawn(out, TINY)
    draw_world(TINY, out, jobs=1)
    assert is_drawn(out, TINY)


def test_a_folder_with_train_in_it_is_not_ours(tmp_path: Path) -> None:
    precious = tmp_path / "train" / "01.mp4"
    precious.parent.mkdir()
    precious.write_bytes(b"precious")
    with pytest.raises(InputError, match="holds other files"):
        draw_world(TINY, tmp_path)
    assert precious.read_bytes() == b"precious"


SMALL_WORLD = World(20, 2, 1)


def pretend(world: World, out: Path, jobs: int = 0, on_drawn: OnDrawn | None = None) -> None:
    """Writes empty files for every recording."""
    for one in world.all:
        (out / one.kind).mkdir(parents=True, exist_ok=True)
        for suffix in (".mp4", ".csv"):
            (out / one.kind / f"{one.name}{suffix}").touch()
        assert on_drawn is not None
        on_drawn(one)
    (out / "world.json").write_text(json.dumps(asdict(world)))


def test_a_world_is_drawn_with_progress_and_then_reused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = io.StringIO()
    monkeypatch.setattr(module, "draw_world", pretend)
    assert draw_once(SMALL_WORLD, tmp_path, Console(file=said))
    assert said.getvalue() == "drawing: 100 % 3 of 3 recordings\n"
    monkeypatch.setattr(module, "draw_world", lambda *_, **__: pytest.fail("drew it again"))
    assert not draw_once(SMALL_WORLD, tmp_path, Console(file=said))
    assert said.getvalue().endswith(f"{tmp_path} already holds the recordings\n")

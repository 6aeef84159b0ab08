"""Drawn recordings: seen once, kept, and the same when they are read."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import pytest
from rich.console import Console

from offline import backbones
from offline.demo.recording import Recording
from offline.demo.script import RATE_HZ
from offline.trial import worlds as room
from offline.trial.worlds import RATE, SOURCES, Worlds
from tests.imported import imported_by

LITTLE: Final = [Recording(5, "train", 1, scale=0.1), Recording(5, "live", 2, scale=0.1)]
QUIET: Final = Console(quiet=True)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "load_trunk", lambda name: backbones.load_trunk("random-tiny"))


@pytest.mark.usefixtures("tiny")
def test_what_was_drawn_is_kept_and_not_drawn_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worlds = Worlds(tmp_path)
    seen = worlds.look(LITTLE, QUIET)
    drawn = [worlds.read(one) for one in seen]
    assert [one.recording for one in seen] == LITTLE
    assert [one.features.id for one in drawn] == ["01", "02_missed"]
    monkeypatch.setattr(room, "_draw_all", lambda *_: pytest.fail("nothing is lacking"))
    again = Worlds(tmp_path)
    assert again.look(LITTLE, QUIET) == seen
    for one, before in zip(seen, drawn, strict=True):
        read = again.read(one)
        np.testing.assert_array_equal(read.features.pooled, before.features.pooled)
        np.testing.assert_array_equal(read.labels, before.labels)
        assert read.planted == before.planted


@pytest.mark.usefixtures("tiny")
def test_one_that_is_lacking_or_damaged_is_drawn_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worlds, asked = Worlds(tmp_path), list[list[str]]()
    first, second = worlds.look(LITTLE, QUIET)
    before = worlds.read(second)
    draw_all = room._draw_all

    def note(lacking: list[room.Seen], *rest: object) -> object:
        asked.append([one.recording.name for one in lacking])
        return draw_all(lacking, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(room, "_draw_all", note)
    (tmp_path / f"{second.key}.npz").write_bytes(b"half of it")
    assert worlds.look(LITTLE, QUIET) == [first, second]
    assert asked == [["02_missed"]]
    np.testing.assert_array_equal(worlds.read(second).features.pooled, before.features.pooled)


@pytest.mark.usefixtures("tiny")
def test_labels_and_what_is_planted_are_the_script_s(tmp_path: Path) -> None:
    worlds = Worlds(tmp_path)
    (seen,) = worlds.look(LITTLE[1:], QUIET)
    drawn, script = worlds.read(seen), LITTLE[1].script
    stride = round(RATE_HZ / RATE)
    step_of = {frame: event.step for event in script.events for frame in event.frames}
    assert drawn.labels.tolist() == [step_of.get(frame * stride, 0) for frame in range(len(drawn.labels))]
    assert (drawn.planted.kind, drawn.planted.step) == ("missed", script.fault.step)
    np.testing.assert_allclose(np.diff(drawn.features.times), 1 / RATE)


@pytest.mark.usefixtures("tiny")
def test_another_seed_trunk_or_code_is_another_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def keys() -> list[str]:
        return [one.key for one in worlds.look([*LITTLE, Recording(6, "train", 1, scale=0.1)], QUIET)]

    worlds = Worlds(tmp_path)
    before = keys()
    assert len(set(before)) == 3
    monkeypatch.setattr(room, "source_hash", lambda *names: "other code")
    after = keys()
    assert not set(before) & set(after)


def test_the_code_that_decides_is_named() -> None:
    used = imported_by("offline.demo.recording") - {"guide.domain", "guide.errors"}
    rest = [name for name in sorted(used) if not name.startswith("offline.demo") and name not in SOURCES]
    assert [name for name in rest if name.startswith(("guide.", "offline."))] == []

"""Drawn recordings: seen once, kept, and the same when they are read."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
import pytest
import torch
from rich.console import Console

from guide.errors import InputError
from guide.perceive.preprocess import to_network_input
from offline.backbones import Trunk, load_trunk
from offline.demo.recording import Recording
from offline.demo.script import RATE_HZ
from offline.demo.truth import known_at, named_at
from offline.study.flags import Planted
from offline.study.trial import worlds as room
from offline.study.trial.worlds import RATE, SOURCES, Entry, Worlds
from tests.imported import imported_by

LITTLE: Final = [Recording(5, "train", 1, scale=0.05), Recording(5, "live", 3, scale=0.05)]
QUIET: Final = Console(quiet=True)
MEANS: Final = 3


def tiny(name: str = "") -> Trunk:
    trunk = load_trunk("random-tiny")
    trunk.spec = replace(trunk.spec, mean_width=MEANS)
    return trunk


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What was kept of both recordings; nothing else is drawn here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "load_trunk", tiny)
        place = tmp_path_factory.mktemp("drawn")
        worlds = Worlds(place)
        worlds.draw(worlds.entries(LITTLE), QUIET)
        patch.setattr(room, "_draw_all", lambda *_: pytest.fail("nothing is lacking"))
        yield place


def test_what_was_drawn_is_kept_and_not_drawn_again(folder: Path) -> None:
    worlds = Worlds(folder)
    entries = worlds.entries(LITTLE)
    worlds.draw(entries, QUIET)
    drawn = [worlds.read(one) for one in entries]
    assert [one.recording for one in entries] == LITTLE
    assert [one.features.id for one in drawn] == ["01", "03_out_of_order"]
    assert {one.features.mean_width for one in drawn} == {MEANS}
    assert len(list(folder.iterdir())) == 2


def test_rows_are_what_the_trunk_sees_of_the_pictures(folder: Path) -> None:
    worlds, stride = Worlds(folder), round(RATE_HZ / RATE)
    entry = worlds.entries(LITTLE)[1]
    drawn = worlds.read(entry)
    pictures = [each for number, each in enumerate(entry.recording.pictures()) if number % stride == 0]
    inputs = np.stack([to_network_input(each, tiny().spec.preprocessing) for each in pictures])
    with torch.no_grad():
        pooled = tiny()(torch.from_numpy(inputs.astype(np.float32)))[1].numpy()
    np.testing.assert_allclose(drawn.features.pooled, pooled, atol=1e-3)
    np.testing.assert_allclose(np.diff(drawn.features.times), 1 / RATE)


def test_labels_and_what_is_planted_are_the_script_s(folder: Path) -> None:
    worlds, stride = Worlds(folder), round(RATE_HZ / RATE)
    drawn, script = worlds.read(worlds.entries(LITTLE)[1]), LITTLE[1].script
    step_of = {frame: event.step for event in script.events for frame in event.frames}
    assert drawn.labels.tolist() == [step_of.get(frame * stride, 0) for frame in range(len(drawn.labels))]
    fault = script.fault
    assert fault.before is not None
    assert drawn.planted == Planted("out_of_order", fault.step, fault.before, known_at(script), named_at(script))


@pytest.mark.parametrize("damage", [b"half of it", None])
def test_one_that_is_lacking_or_damaged_is_drawn_alone(
    damage: bytes | None, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worlds, asked = Worlds(shutil.copytree(folder, tmp_path / "drawn")), list[list[str]]()
    entries = worlds.entries(LITTLE)
    path = worlds.kept.folder / f"{entries[1].key}.npz"
    if damage is None:
        np.savez(path, rows=np.zeros((2, 3)))
    else:
        path.write_bytes(damage)
    with pytest.raises(InputError, match=r"recording 03_out_of_order of world 5 was expected in .*: run the command"):
        worlds.read(entries[1])
    before = Worlds(folder).read(entries[1])

    def draw_all(lacking: list[Entry], *_: object) -> Iterator[tuple[object, object, object]]:
        asked.append([one.recording.name for one in lacking])
        (one,) = lacking
        yield one, before.features.pooled, before.labels

    monkeypatch.setattr(room, "_draw_all", draw_all)
    worlds.draw(entries, QUIET)
    assert asked == [["03_out_of_order"]]
    np.testing.assert_array_equal(worlds.read(entries[1]).features.pooled, before.features.pooled)


def test_another_recording_trunk_device_or_code_is_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    def other_weights(name: str) -> Trunk:
        trunk = tiny()
        next(trunk.parameters()).data.add_(1.0)
        return trunk

    def keys() -> list[str]:
        more = [Recording(6, "train", 1, scale=0.05), Recording(5, "train", 2, scale=0.05), Recording(5, "train", 1)]
        return [one.key for one in Worlds(Path("nowhere")).entries([*LITTLE, *more])]

    monkeypatch.setattr(room, "load_trunk", tiny)
    found = keys()
    assert keys() == found
    changes = (
        (room, "load_trunk", other_weights),
        (room, "source_hash", lambda *names: "other code"),
        (torch.cuda, "is_available", lambda: not torch.cuda.device_count()),
    )
    for place, name, value in changes:
        monkeypatch.setattr(place, name, value)
        found += keys()
    assert len(set(found)) == len(found) == 20


def test_the_code_that_decides_is_named() -> None:
    # Values, messages, files, and what other rooms do with what was seen.
    harmless = (
        "guide.bundle", "guide.domain", "guide.errors", "guide.fading", "guide.ingest", "guide.label",
        "guide.perceive.appearance", "guide.perceive.pace", "guide.perceive.region", "guide.procedure", "guide.teach",
        "offline.config", "offline.executor", "offline.study.keep",
        "offline.features", "offline.study.flags", "offline.keysteps", "offline.losses", "offline.npy_file",
        "offline.progress", "offline.videos", "offline.views", "guide.words", "guide.whole_file",
    )  # fmt: skip
    used = imported_by("offline.study.trial.worlds") - {"offline"}
    assert {"offline.demo.painter", "offline.extraction", "offline.onnx_export", "offline.study.trial.worlds"} <= used
    rest = [one for one in used if not any(one == each or one.startswith(f"{each}.") for each in (*SOURCES, *harmless))]
    assert sorted(rest) == []

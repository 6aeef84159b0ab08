"""What `make demo` runs, on a world of a few seconds: all the way, with what it found, and again from its caches."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from guide.bundle import fingerprint, read_bundle
from offline.config import Recipe
from offline.demo.world import World
from offline.study import show
from offline.study.show import ShowOptions

TINY = replace(Recipe(), backbone="random-tiny", k=9, most_iterations=40)


def run_twice(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    options = ShowOptions(folder / "data", folder / "out", folder / "cache", recordings=3, live=2, seed=5)
    show.main(options)
    first = capsys.readouterr().out
    show.main(options)
    return first, capsys.readouterr().out


def test_without_labels_first_and_then_with_some(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(show, "World", partial(World, scale=0.08))
    monkeypatch.setattr(show, "resolve", lambda *_: TINY)
    options = ShowOptions(tmp_path / "data", tmp_path / "out", tmp_path / "cache", recordings=3, live=1, seed=5)
    show.main(replace(options, labelled=2, unlabelled=tmp_path / "found"))
    assert "review" not in read_bundle(tmp_path / "found").facts
    assert read_bundle(tmp_path / "out").facts["review"]["labelled"] == ["01", "02"]


def test_it_goes_all_the_way_and_the_second_run_reuses_its_caches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(show, "World", partial(World, scale=0.08))
    monkeypatch.setattr(show, "resolve", lambda *_: TINY)
    first, second = run_twice(tmp_path, capsys)
    for words in ("equal", "random", "ours", "01_none", "02_missed", "faults found", "next: make dashboard"):
        assert words in first
    assert "drawing: 100 %" in first
    assert "already holds" in second
    assert "training (tc3i)" not in second
    summary = first[first.index("what was learned") :]
    assert second[second.index("what was learned") :] == summary
    bundle = read_bundle(tmp_path / "out")
    assert bundle.facts["recipe"]["clusterer"] == "correspond"
    assert len(fingerprint(bundle)) == 16

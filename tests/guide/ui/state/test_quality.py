"""How good a bundle is, by leaving demonstrations out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guide.bundle import Bundle
from guide.commands.steps import write_list_bundle
from guide.errors import BundleError
from guide.procedure.written_list import read_list
from guide.ui.state.quality import Quality, StepQuality, confusion, find_quality, read_quality
from tests.tiny import Learned, altered

NUMBERS = np.array([0, 1, 2, 5])
labels = st.lists(st.sampled_from((0, 1, 2, 5)), min_size=1, max_size=40)
NAMES = {1: "1 lay mat", 2: "2 open case"}


def labelled(*recordings: str) -> Any:
    return lambda facts: facts.update(review={"labelled": list(recordings)})


def copy_of(task: Learned, place: Path, *recordings: str) -> Bundle:
    return altered(task.bundle, place, facts=labelled(*recordings))


@given(labels, st.randoms())
def test_every_moment_is_counted_once(truth: list[int], rng: Any) -> None:
    named = [rng.choice((-1, 0, 1, 2, 5)) for _ in truth]
    counts = confusion(np.array(truth), np.array(named), NUMBERS)
    assert counts.sum() == len(truth)
    assert counts[1:].diagonal(1).sum() == sum(a == b > 0 for a, b in zip(truth, named, strict=True))
    assert counts[:, 0].sum() == sum(name <= 0 for name in named)


def test_nothing_is_called_right_that_nobody_checked(features_task: Learned, tmp_path: Path) -> None:
    found = find_quality(copy_of(features_task, tmp_path / "box").folder)
    assert found.right is None
    assert found.alike > 0.8
    assert found.headline.startswith("Nobody has checked")
    assert "No recording is labelled yet" in found.rows({one.number: "" for one in found.steps})[-1][1]


def test_labelled_recordings_are_judged_by_their_labels(features_task: Learned, tmp_path: Path) -> None:
    ids = features_task.bundle.facts["recordings"]
    right = find_quality(copy_of(features_task, tmp_path / "right", *ids).folder)
    assert right.right is not None
    assert right.right > 0.8
    assert "With 1 labelled" in right.gain
    arrays = features_task.bundle.arrays("demonstrations.npz")
    steps = np.unique(arrays["labels_0"][arrays["labels_0"] > 0])
    wrong = np.where(arrays["labels_0"] > 0, steps[(np.searchsorted(steps, arrays["labels_0"]) + 1) % len(steps)], 0)
    changed = {"demonstrations.npz": {"labels_0": wrong}}
    misled = altered(features_task.bundle, tmp_path / "wrong", changed, labelled(*ids))
    assert (find_quality(misled.folder).right or 0.0) < right.right - 0.1


def test_an_answer_is_kept_until_the_labels_change(features_task: Learned, tmp_path: Path) -> None:
    bundle = copy_of(features_task, tmp_path / "box")
    assert read_quality(bundle.folder) is None
    found = find_quality(bundle.folder)
    assert read_quality(bundle.folder) == found
    kept = tmp_path / ".review" / "box" / "quality.json"
    copy_of(features_task, tmp_path / "box", bundle.facts["recordings"][0])
    assert read_quality(bundle.folder) is None
    copy_of(features_task, tmp_path / "box")
    kept.write_text(json.dumps({"of": json.loads(kept.read_text())["of"], "steps": 3}))
    assert read_quality(bundle.folder) is None


def test_a_list_that_was_written_has_no_quality(tmp_path: Path) -> None:
    write_list_bundle(read_list("cut\nfold", "a list"), tmp_path / "kite")
    with pytest.raises(BundleError, match="list"):
        find_quality(tmp_path / "kite")


def test_what_is_confused_is_named_worst_first() -> None:
    steps = (StepQuality(1, 3, 0.9, 2, 0.08), StepQuality(2, 2, 0.5, 1, 0.4))
    rows = dict(Quality(3, 2, 0.6, 0.8, 0.0, 1.0, steps, "").rows(NAMES))
    assert rows["Often confused"] == (
        "2 open case is called 1 lay mat for 40 % of its time; 1 lay mat is called 2 open case for 8 % of its time."
    )
    assert rows["Steps agree between recordings"].startswith("1 of 2 steps are in every recording")

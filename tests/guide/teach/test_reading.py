"""A bundle carries all it was taught from: taught anew by its own labels it is the same again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from guide.domain import KeyStep
from guide.errors import BundleError
from guide.label.prototypes import Prototypes
from guide.perceive.appearance import appearance
from guide.procedure.export import to_plain
from guide.procedure.reading import from_plain
from guide.teach.annotations import read_labels, segments_to_labels
from guide.teach.demonstrations import demonstrate
from guide.teach.describe import Learned as Taught
from guide.teach.describe import describe
from guide.teach.reading import read_demonstrations
from tests.tiny import Learned, altered


def taught_again(task: Learned) -> Taught:
    demonstrations, labels = read_demonstrations(task.bundle)
    steps = from_plain(task.bundle.json("procedure.json")).steps
    return describe(demonstrations, labels, [KeyStep(step.number, step.name) for step in steps])


def test_the_labels_are_those_of_the_segments(features_task: Learned) -> None:
    demonstrations, labels = read_demonstrations(features_task.bundle)
    for one, each in zip(demonstrations.items, labels, strict=True):
        written = read_labels(features_task.bundle.folder / "segments" / f"{one.id}.csv").segments
        np.testing.assert_array_equal(segments_to_labels(written, one.times), each)


@pytest.mark.parametrize("kind", ["features_task", "frames_task"])
def test_taught_again_it_is_the_same_up_to_half_precision(kind: str, request: pytest.FixtureRequest) -> None:
    task: Learned = request.getfixturevalue(kind)
    again = taught_again(task)
    assert to_plain(again.procedure) == task.bundle.json("procedure.json")
    before = Prototypes.from_arrays(task.bundle.arrays("prototypes.npz"))
    assert again.prototypes.numbers.tolist() == before.numbers.tolist()
    demonstrations, _ = read_demonstrations(task.bundle)
    for embedding in demonstrations.embeddings:
        was, now = (one.distances(embedding).argmin(1) for one in (before, again.prototypes))
        assert (was == now).mean() > 0.98
    scale = np.abs(before.centres).max()
    np.testing.assert_allclose(again.prototypes.centres, before.centres, atol=5e-3 * scale)
    assert again.prototypes.far == pytest.approx(before.far, rel=0.02)


@pytest.mark.parametrize("kind", ["features_task", "frames_task"])
def test_what_is_read_embeds_as_what_was_exported(kind: str, request: pytest.FixtureRequest) -> None:
    """The network in the bundle against embeddings made while it was learned, and any order of the same frames."""
    demonstrations, _ = read_demonstrations(request.getfixturevalue(kind).bundle)
    scale = max(float(np.abs(one.embedding).max()) for one in demonstrations.items)
    fitted = demonstrate(
        [one.id for one in demonstrations.items],
        demonstrations.times,
        [one.pooled for one in demonstrations.items],
        demonstrations.rate,
        demonstrations.settings,
    )
    for one in demonstrations.items:
        found = demonstrations.embed(one.pooled, one.times)
        assert found.shape == one.embedding.shape
        np.testing.assert_allclose(found, one.embedding, atol=0.01 * scale)
        seen = appearance(np.asarray(one.pooled[::-1], np.float32), one.times, demonstrations.settings)
        lengths = [
            np.square(each.embed(seen).astype(np.float64)).sum(1) for each in (demonstrations.embedder, fitted.embedder)
        ]
        np.testing.assert_allclose(lengths[0], lengths[1], rtol=0.05)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("times_0", np.zeros(3)),
        ("labels_0", np.zeros(2, np.int64)),
        ("labels_1", np.full(5, -3)),
        ("embeddings_0", np.zeros((2, 2), np.float16)),
        ("pooled_0", np.zeros((40, 3), np.float16)),
        ("view_1_0", np.zeros((40, 3), np.float16)),
    ],
)
def test_demonstrations_that_do_not_fit_are_refused(
    features_task: Learned, tmp_path: Path, name: str, array: Any
) -> None:
    arrays = {**features_task.bundle.arrays("demonstrations.npz"), name: array}
    bundle = altered(features_task.bundle, tmp_path, {"demonstrations.npz": arrays})
    with pytest.raises(BundleError, match=r"demonstrations|features a frame"):
        read_demonstrations(bundle)

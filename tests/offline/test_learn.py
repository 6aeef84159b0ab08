"""Key-steps found in embeddings by any finder."""

from __future__ import annotations

import numpy as np
import pytest

from guide.domain import Features, Labels
from guide.teach.annotations import LabelFile, labels_to_segments
from guide.teach.given import Given
from offline.config import resolve
from offline.embedding import Inputs, prepare_inputs
from offline.features import RecordingFeatures
from offline.learn import describe_found, find_labels

RATE = 2.0
TRUTH: list[Labels] = [np.repeat([1, 2, 0, 3], 20), np.repeat([1, 2, 3, 0], 20)]


@pytest.fixture
def inputs() -> Inputs:
    prototypes = np.random.default_rng(1).normal(0, 3, (4, 6))
    recordings = []
    for number, labels in enumerate(TRUTH):
        rng = np.random.default_rng(number)
        pooled = (prototypes[labels] + rng.normal(0, 0.3, (80, 6))).astype(np.float32)
        recordings.append(RecordingFeatures(str(number), RATE, np.arange(80) / RATE, pooled))
    return prepare_inputs(recordings, resolve("default", None, {"k": 3}))


@pytest.fixture
def embeddings(inputs: Inputs) -> list[Features]:
    return [np.asarray(recording.pooled[:, :4], np.float32) for recording in inputs.recordings]


@pytest.mark.parametrize("clusterer", ["pcm", "correspond", "equal"])
def test_steps_are_found_by_any_clusterer(inputs: Inputs, embeddings: list[Features], clusterer: str) -> None:
    recipe = resolve("default", None, {"k": 3, "clusterer": clusterer})
    demonstrations = inputs.demonstrations()
    found = find_labels(inputs, demonstrations, embeddings, recipe, seed=0)
    learned = describe_found(found, demonstrations, recipe)
    assert [step.label for step in learned.procedure.steps] == ["1 step 1", "2 step 2", "3 step 3"]
    assert all(set(labels.tolist()) <= {0, 1, 2, 3} for labels in learned.labels)
    assert set(learned.prototypes.numbers.tolist()) == set(np.concatenate(learned.labels).tolist())
    assert learned.prototypes.centres.shape[1] == demonstrations.embeddings[0].shape[1]
    shortest_step_s = inputs.recordings[0].duration_s / 3
    assert 0 < learned.links.weight <= shortest_step_s


@pytest.mark.parametrize(("labelled", "is_carried"), [(None, True), ([0], True), ([0, 1], False)])
def test_whether_labels_were_carried_is_told(
    inputs: Inputs,
    embeddings: list[Features],
    monkeypatch: pytest.MonkeyPatch,
    labelled: list[int] | None,
    is_carried: bool,
) -> None:
    heard = []

    def hear(demonstrations, labels, steps, notes, is_carried, each):  # type: ignore[no-untyped-def]
        heard.append(is_carried)

    monkeypatch.setattr("offline.learn.describe", hear)
    given = None
    if labelled is not None:
        segments = {str(n): labels_to_segments(TRUTH[n], inputs.recordings[n].times, RATE) for n in labelled}
        given = Given({id_: LabelFile(tuple(own), {}) for id_, own in segments.items()})
    recipe = resolve("default", None, {"k": 3, "clusterer": "equal"})
    demonstrations = inputs.demonstrations()
    found = find_labels(inputs, demonstrations, embeddings, recipe, seed=0, given=given)
    describe_found(found, demonstrations, recipe, given)
    assert heard == [is_carried]

"""From labels to all that the live side needs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from guide.domain import Features, KeyStep, Labels, Segment
from offline.config import resolve
from offline.embedding import Inputs, prepare_inputs
from offline.features import RecordingFeatures
from offline.learn import describe, find_steps

RATE = 2.0
TRUTH: list[Labels] = [np.repeat([1, 2, 0, 3], 20), np.repeat([1, 2, 3, 0], 20)]
STEPS = [KeyStep(number, f"step {number}") for number in (1, 2, 3)]


@pytest.fixture
def inputs(tmp_path: Path) -> Inputs:
    prototypes = np.random.default_rng(1).normal(0, 3, (4, 6))
    recordings = []
    for number, labels in enumerate(TRUTH):
        rng = np.random.default_rng(number)
        pooled = (prototypes[labels] + rng.normal(0, 0.3, (80, 6))).astype(np.float32)
        recordings.append(RecordingFeatures(str(number), RATE, np.arange(80) / RATE, pooled))
    return prepare_inputs(recordings, resolve("default", None, {"k": 3}), tmp_path)


@pytest.fixture
def embeddings(inputs: Inputs) -> list[Features]:
    return [np.asarray(recording.pooled[:, :4], np.float32) for recording in inputs.recordings]


def test_everything_follows_from_labels(inputs: Inputs, embeddings: list[Features]) -> None:
    learned = describe(inputs, embeddings, TRUTH, STEPS, ("a note",))
    assert learned.segments[0] == (Segment(1, 0.0, 10.0), Segment(2, 10.0, 20.0), Segment(3, 30.0, 40.0))
    assert learned.procedure.orderings[0].steps == (1, 2, 3)
    assert learned.procedure.orderings[0].count == 2
    assert learned.notes == ("a note",)
    rows, labels = np.concatenate(embeddings), np.concatenate(TRUTH)
    for number, centre in enumerate(learned.centres, start=1):
        np.testing.assert_allclose(centre, rows[labels == number].mean(0), rtol=1e-5)
    assert learned.recogniser.numbers.tolist() == [0, 1, 2, 3]


def test_the_recogniser_recognises_what_it_learned_from(inputs: Inputs, embeddings: list[Features]) -> None:
    learned = describe(inputs, embeddings, TRUTH, STEPS)
    for rows, labels in zip(inputs.appearance, TRUTH, strict=True):
        guess = learned.recogniser.numbers[learned.recogniser.log_posterior(rows).argmax(1)]
        assert (guess == labels).mean() > 0.9


def test_a_step_without_frames_lies_in_the_middle(inputs: Inputs, embeddings: list[Features]) -> None:
    learned = describe(inputs, embeddings, TRUTH, [*STEPS, KeyStep(4, "step 4")])
    assert learned.centres.shape == (4, 4)
    np.testing.assert_allclose(learned.centres[3], np.concatenate(embeddings).mean(0), rtol=1e-4)


@pytest.mark.parametrize("clusterer", ["pcm", "ours", "equal"])
def test_steps_are_found_by_any_clusterer(inputs: Inputs, embeddings: list[Features], clusterer: str) -> None:
    learned = find_steps(inputs, embeddings, resolve("default", None, {"k": 3, "clusterer": clusterer}), seed=0)
    assert [step.label for step in learned.procedure.steps] == ["1 step 1", "2 step 2", "3 step 3"]
    assert all(set(labels.tolist()) <= {0, 1, 2, 3} for labels in learned.labels)
    assert learned.centres.shape == (3, 4)
    shortest_step_s = inputs.recordings[0].duration_s / 3
    assert 0 < learned.links.weight <= shortest_step_s

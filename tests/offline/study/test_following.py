"""Following without networks says what a live session says."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from guide.bundle import Bundle
from guide.domain import Alert, Guidance, Question, Resolution
from guide.label.after_effects import AfterEffects
from guide.label.prototypes import Prototypes
from guide.manifest import link_settings
from guide.networks import start_networks
from guide.procedure.reading import from_plain
from guide.session import Session, follow_features
from guide.settings import LiveSettings
from guide.task_model import PRIORS, Prior
from guide.teach.describe import Learned as Taught
from guide.teach.reading import read_demonstrations
from offline.features import RecordingFeatures
from offline.study.evaluation.teaching import ALL, Way, teach
from offline.study.fault_trial.conditions import Conditions, learn
from offline.study.following import Lesson, follow_sight, see
from tests.faulty_task import make_recording, make_task
from tests.tiny import FEATURE_RATE, FEATURE_WIDTH, Learned, feature_rows, requiring_all

ON_COURSE = ("missed", "out_of_order", "repeated", "unknown")


def said_of_course(said: list[Guidance]) -> list[object]:
    """What is said on what was done and in which order, without numbers that other words may shift."""
    kinds = {word.id: word.kind for word in said if isinstance(word, Alert)}
    told: list[object] = []
    for word in said:
        match word:
            case Alert(kind=kind) if kind in ON_COURSE:
                told.append((kind, word.step, word.before, round(word.at, 6)))
            case Resolution() if kinds.get(word.id) in ON_COURSE:
                told.append(("resolve", kinds[word.id], word.is_withdrawn, round(word.at, 6)))
            case Question():
                told.append(("question", word.step, round(word.at, 6)))
    return told


def from_bundle(bundle: Bundle) -> Lesson:
    arrays, procedure = bundle.arrays("prototypes.npz"), from_plain(bundle.json("procedure.json"))
    prototypes = Prototypes.from_arrays(arrays)
    effects = AfterEffects.from_arrays(arrays, prototypes.centres.shape[1], procedure.numbers)
    taught = Taught((), (), procedure, prototypes, link_settings(bundle), (), effects)
    return Lesson(taught, read_demonstrations(bundle)[0])


def unseen() -> RecordingFeatures:
    prototypes = np.random.default_rng(7).normal(0, 3, (5, FEATURE_WIDTH))
    rows = feature_rows((2, 4, 1, 4), prototypes, seed=9)
    return RecordingFeatures("unseen", FEATURE_RATE, np.arange(len(rows)) / FEATURE_RATE, rows)


def said_by_both(bundle: Bundle, priors: tuple[Prior, ...]) -> list[object]:
    """What a live session says of a recording, which is what following it without networks says."""
    recording = unseen()
    session = Session(bundle, start_networks(bundle, "cpu", 1), LiveSettings(priors=priors))
    live = [word for update in follow_features(recording.pooled, FEATURE_RATE, session) for word in update.guidance]
    lesson = from_bundle(bundle)
    followed = follow_sight(see(lesson, recording), lesson, priors)
    assert said_of_course(live)
    assert said_of_course(list(followed.said)) == said_of_course(live)
    return said_of_course(live)


@pytest.mark.parametrize("priors", [PRIORS, ()])
def test_a_session_says_the_same(features_task: Learned, priors: tuple[Prior, ...]) -> None:
    said_by_both(features_task.bundle, priors)


def test_a_session_says_the_same_of_after_effects(features_task: Learned, tmp_path: Path) -> None:
    """An after-effect that never appears, of a step that is done: both go by it."""
    width = features_task.bundle.facts["head"]["embedding_width"]
    never = {
        "effects_numbers": np.array([4]),
        "effects_directions": np.zeros((width, 1)),
        "effects_levels": np.array([[0.0, 1e-5, 100.0, 1.0]]),
        "effects_span_s": np.array([1.0]),
    }
    bundle = requiring_all(features_task.bundle, tmp_path, {"prototypes.npz": never})
    said_by_both(bundle, PRIORS)
    lesson = from_bundle(bundle)
    sight, without = see(lesson, unseen()), tuple(prior for prior in PRIORS if prior != "after_effects")
    assert follow_sight(sight, lesson).belief != follow_sight(sight, lesson, without).belief


def test_the_last_look_back_holds_all_that_was_done(tmp_path: Path) -> None:
    task = make_task()
    lesson = learn(task, Way(ALL), teach(task, Way(ALL), Conditions(tmp_path).search))
    followed = follow_sight(see(lesson, make_recording((1, 3, 4), seed=60)[0]), lesson)
    assert followed.belief is not None
    assert [visit.step for visit in followed.belief.visits] == [1, 3, 4]
    assert followed.belief.chance_lacking(2) > 0.9 > 0.1 > followed.belief.chance_lacking(3)
    assert all(earlier.at <= later.at for earlier, later in pairwise(followed.said))

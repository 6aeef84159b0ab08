"""Following without networks says what a live session says."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from guide.bundle import Bundle
from guide.domain import Alert, Guidance, Question, Resolution
from guide.label.after_effects import Traces
from guide.label.limits import Judgement
from guide.label.recogniser import Recogniser
from guide.perceive.appearance import appearance
from guide.procedure.reading import from_plain
from guide.session import Session, _links, follow_features, perception_settings, start_networks
from guide.settings import LiveSettings, RecogniserKind
from guide.task_model import PRIORS, Prior
from guide.teach.describe import Learned as Taught
from offline.study.evaluation.teaching import ALL, Way, teach
from offline.study.fault_trial.conditions import Bench, learn
from offline.study.following import Lesson, follow_sight, see
from tests.faulty_task import make_recording, make_task
from tests.tiny import FEATURE_RATE, FEATURE_WIDTH, Learned, altered, feature_rows

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
    prototypes, arrays = bundle.arrays("prototypes.npz"), bundle.arrays("recogniser.npz")
    recogniser, procedure = Recogniser.from_arrays(arrays), from_plain(bundle.json("procedure.json"))
    judgement = Judgement.from_arrays(arrays, recogniser)
    centres = np.asarray(prototypes["centres"])
    traces = Traces.from_arrays(arrays, FEATURE_WIDTH, procedure.numbers)
    taught = Taught((), (), procedure, centres, recogniser, _links(bundle), (), judgement, traces)
    rate, fuzzifier = float(bundle.facts["rate"]), float(prototypes["fuzzifier"])
    return Lesson(taught, perception_settings(bundle).appearance, rate, fuzzifier)


def said_by_both(bundle: Bundle, recogniser: RecogniserKind, priors: tuple[Prior, ...]) -> list[object]:
    """What a live session says of a recording, which is what following it without networks says."""
    prototypes = np.random.default_rng(7).normal(0, 3, (5, FEATURE_WIDTH))
    rows = feature_rows((2, 4, 1, 4), prototypes, seed=9)
    networks = start_networks(bundle, "cpu")
    session = Session(bundle, networks, LiveSettings(recogniser=recogniser, priors=priors))
    live = [word for update in follow_features(rows, FEATURE_RATE, session) for word in update.guidance]
    lesson = from_bundle(bundle)
    times = np.arange(len(rows)) / FEATURE_RATE
    perceiver = Session(bundle, networks, LiveSettings()).perceiver
    embeddings = np.stack([perceiver.take(row, float(at)).embedding for row, at in zip(rows, times, strict=True)])
    sight = see(lesson, recogniser, appearance(rows, times, lesson.settings), embeddings, times)
    followed = follow_sight(sight, lesson, priors)
    assert said_of_course(live)
    assert said_of_course(list(followed.said)) == said_of_course(live)
    return said_of_course(live)


@pytest.mark.parametrize("recogniser", ["appearance", "embedding", "both"])
@pytest.mark.parametrize("priors", [PRIORS, ()])
def test_a_session_says_the_same(features_task: Learned, recogniser: RecogniserKind, priors: tuple[Prior, ...]) -> None:
    said_by_both(features_task.bundle, recogniser, priors)


def test_a_session_says_the_same_of_traces(features_task: Learned, tmp_path: Path) -> None:
    """A trace that never appears, of a step that is done: both go by it."""
    never = {
        "traces_numbers": np.array([1]),
        "traces_directions": np.zeros((FEATURE_WIDTH, 1)),
        "traces_levels": np.array([[0.0, 1e-5, 100.0, 1.0]]),
        "traces_span_s": np.array([1.0]),
    }
    bundle = altered(features_task.bundle, tmp_path, {"recogniser.npz": never})
    without = tuple(prior for prior in PRIORS if prior != "traces")
    assert said_by_both(bundle, "appearance", PRIORS) != said_by_both(bundle, "appearance", without)
    assert said_by_both(bundle, "embedding", PRIORS) == said_by_both(bundle, "embedding", without)


def test_the_last_look_back_holds_all_that_was_done(tmp_path: object) -> None:
    task = make_task()
    bench = Bench(cache=tmp_path)  # type: ignore[arg-type]
    lesson = learn(task, Way(ALL), teach(task, Way(ALL), bench.search), None)
    one, _ = make_recording((1, 3, 4), seed=60)
    seen = appearance(np.asarray(one.pooled), one.times, lesson.settings)
    sight = see(lesson, "appearance", seen, np.zeros((len(one), 1), np.float32), one.times)
    followed = follow_sight(sight, lesson)
    assert followed.belief is not None
    assert [visit.step for visit in followed.belief.visits] == [1, 3, 4]
    assert followed.belief.chance_lacking(2) > 0.9 > 0.1 > followed.belief.chance_lacking(3)
    assert all(earlier.at <= later.at for earlier, later in pairwise(followed.said))

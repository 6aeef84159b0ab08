"""Long work made short: the whole chain learns from made features and follows what nobody showed it."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import numpy as np

from guide.domain import BACKGROUND
from offline.study.long import LongOptions, study
from offline.study.long_work import LongWork

SMALL = LongWork(steps=14, minutes=2.0, width=40)


def test_a_small_version_is_learned_and_followed(tmp_path: Path) -> None:
    options = LongOptions(steps=14, minutes=2.0, demonstrations=6, width=40)
    figures = {figure.name: figure.value for figure in study(options, tmp_path).figures}
    assert figures["right on frames of steps"] > 70
    assert 1 <= figures["faults found, of 6"] <= min(figures["flags in that recording"], 6)
    assert 0 < figures["a frame, p50"] <= figures["a frame, p95"]
    assert figures["peak memory of learning"] > 0 < figures["learning"]


def test_steps_take_half_of_the_time() -> None:
    usual_s = LongWork().usual_s
    assert (usual_s.min(), usual_s.max()) == (2.0, 178.0)
    assert usual_s.sum() == 120 * 60 / 2


def test_the_same_seed_makes_the_same(tmp_path: Path) -> None:
    one, same, other = (LongWork(14, 2.0, 40, seed=seed).make(1, tmp_path) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.labels, same.labels)
    assert len(one.seen) == len(one.labels) == len(one.seen.pooled)
    assert not np.array_equal(one.labels, other.labels)


def test_a_clean_recording_has_every_step_once_and_a_faulty_one_what_was_planted(tmp_path: Path) -> None:
    clean, faulty = SMALL.make(0, tmp_path), SMALL.make(1, tmp_path, faults=True)
    done = [step for step, _ in groupby(clean.labels[clean.labels > BACKGROUND].tolist())]
    assert (sorted(done), clean.planted) == (list(range(1, 15)), [])
    done = [step for step, _ in groupby(faulty.labels[faulty.labels > BACKGROUND].tolist())]
    assert [planted.kind for planted in faulty.planted] == ["missed", "out_of_order", "repeated"] * 2
    for planted in faulty.planted:
        assert planted.step is not None
        assert planted.at is not None
        at = round(planted.at * SMALL.rate)
        if planted.kind == "missed":
            assert planted.step not in done
            assert faulty.labels[at] > planted.step
        elif planted.kind == "repeated":
            assert done.count(planted.step) == 2
            assert (faulty.labels[:at] == planted.step).any()
            assert faulty.labels[at] == planted.step
        else:
            assert planted.before is not None
            assert done.index(planted.step) < done.index(planted.before)
            assert faulty.labels[at] == planted.step

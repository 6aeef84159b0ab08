"""The trial of looks: pictures sorted by step are read, looks are kept, and what can be told is told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from guide.domain import Image, Segment
from guide.errors import InputError
from guide.perceive.preprocess import to_network_input
from guide.perceive.region import MovingRegion, crop
from offline.backbones import load_trunk
from offline.extraction import Extractor
from offline.features import RecordingFeatures
from offline.study.datasets.step_folders import read_step_folders
from offline.study.evaluation.task import LabelledTask
from offline.study.looks.__main__ import Options, judge, main, measure_ratio, score
from offline.study.looks.seeing import LOOKS, SeenSet, Seer
from offline.study.looks.sources import Labelled, LabelledSet, from_stills


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two people; the picture's level is the step's number times ten plus the picture's."""
    for person in ("anna", "ben"):
        for step, count in ((2, 3), (1, 2), (10, 1)):
            place = tmp_path / "task" / person / f"step{step:02d}"
            place.mkdir(parents=True)
            for number in range(count):
                cv2.imwrite(str(place / f"frame_{number}.png"), np.full((20, 30, 3), 10 * step + number, np.uint8))
    return tmp_path / "task"


def test_pictures_sorted_by_step_are_one_recording(folder: Path) -> None:
    anna, ben = read_step_folders(folder, rate=2.0)
    assert (anna.id, ben.id) == ("anna", "ben")
    assert anna.segments == (Segment(1, 0.0, 1.0), Segment(2, 1.0, 2.5), Segment(10, 2.5, 3.0))
    assert [(at, int(image[0, 0, 0])) for at, image in anna.pictures()] == [
        (0.0, 10), (0.5, 11), (1.0, 20), (1.5, 21), (2.0, 22), (2.5, 100),
    ]  # fmt: skip


def test_one_recording_is_too_few(folder: Path) -> None:
    with pytest.raises(InputError, match="two recordings or more"):
        read_step_folders(folder / "anna", 5.0)


class Counted:
    """A recording of a moving thing that counts how often it was looked through."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> Iterator[tuple[float, Image]]:
        self.times += 1
        for n in range(6):
            picture = np.full((60, 80, 3), 90, np.uint8)
            cv2.circle(picture, (10 + 10 * n, 20), 8, (240, 240, 240), -1)
            yield n / 5, picture


def test_a_look_is_taken_once_and_by_the_trunk_alone(tmp_path: Path) -> None:
    extractor = Extractor(load_trunk("random-tiny"), tmp_path, "cpu", threads=1)
    counted = Counted()
    recording = Labelled("a", "key", counted, ())
    seer = Seer(extractor, tmp_path / "looks")
    first = seer.see(recording, 5.0, ["whole", "crop"])
    again = seer.see(recording, 5.0, ["crop", "whole"])
    assert counted.times == 1
    np.testing.assert_array_equal(first["crop"], again["crop"])
    region = MovingRegion(LOOKS["crop"])
    parts = [crop(picture, region.push(picture, at)) for at, picture in Counted()()]
    inputs = np.stack([to_network_input(part, extractor.preprocessing) for part in parts])
    np.testing.assert_allclose(first["crop"], extractor.runner.pool(inputs), atol=1e-5)


def test_two_looks_take_longer_than_one(tmp_path: Path) -> None:
    assert measure_ratio(Seer(Extractor(load_trunk("random-tiny"), tmp_path, "cpu", threads=1), tmp_path)) > 1.0


def test_looks_stand_side_by_side_and_count_the_same() -> None:
    arrays = {"times": np.arange(3.0), "whole": np.full((3, 2), 5.0), "crop": np.eye(3)}
    recording = Labelled("a", "key", lambda: iter(()), (Segment(1, 0.0, 2.0),))
    task = SeenSet(LabelledSet("task", 1.0, (recording,)), (arrays,)).task(["whole", "crop"])
    assert task.truth[0].tolist() == [1, 1, 0]
    np.testing.assert_allclose(task.recordings[0].pooled[1], [0.5**0.5, 0.5**0.5, 0, 1, 0], atol=1e-6)


def made_task(noise: float) -> LabelledTask:
    rng = np.random.default_rng(0)
    truth = np.repeat([1, 2, 3], 20)
    seen = [
        RecordingFeatures(str(n), 5.0, np.arange(60) / 5, np.eye(3)[truth - 1] + noise * rng.normal(size=(60, 3)))
        for n in range(3)
    ]
    return LabelledTask("made", "made", {1: "a", 2: "b", 3: "c"}, tuple(seen), (truth,) * 3)


def test_what_can_be_told_is_told_in_any_order() -> None:
    plain, shuffled = score(made_task(noise=0.01))
    assert plain.accuracy > 0.9
    assert shuffled.accuracy > 0.9
    lost = replace(made_task(0.01), truth=tuple(np.random.default_rng(n).integers(1, 4, 60) for n in range(3)))
    assert score(lost)[0].accuracy < 0.6


def test_it_says_what_learning_would_make_of_two_looks() -> None:
    clear, lost = made_task(noise=0.01), made_task(noise=100.0)
    both = [
        replace(one, pooled=np.concatenate([noisy.pooled, one.pooled], 1))
        for one, noisy in zip(clear.recordings, lost.recordings, strict=True)
    ]
    assert "helps and is used" in judge(replace(clear, recordings=tuple(both)))
    two = replace(clear, recordings=tuple(both[:2]), truth=clear.truth[:2])
    assert "too few recordings" in judge(two)


def test_stills_are_keyed_by_their_content(folder: Path, tmp_path: Path) -> None:
    before = [one.key for one in from_stills(folder, 5.0, tmp_path).recordings]
    cv2.imwrite(str(folder / "ben" / "step01" / "frame_0.png"), np.zeros((20, 30, 3), np.uint8))
    after = [one.key for one in from_stills(folder, 5.0, tmp_path).recordings]
    assert before[0] == after[0]
    assert before[1] != after[1]


@pytest.mark.parametrize(
    ("options", "words"), [(Options(looks="hole"), "--looks takes whole"), (Options(), "none were named")]
)
def test_what_makes_no_sense_is_refused(options: Options, words: str) -> None:
    with pytest.raises(InputError, match=words):
        main(options)

"""Labels that people gave: read, laid on frames, carried over, and kept as they are in the bundle."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from guide.errors import InputError
from guide.networks import start_networks
from guide.session import Session, follow_features
from guide.settings import LiveSettings
from guide.teach.annotations import read_labels
from offline.train import TrainOptions
from tests.tiny import FEATURE_RATE, ORDERS, STEP_S, Learned, learn_again

NAMES = {1: "open box", 2: "fit board", 3: "turn screw", 4: "close lid"}


def write_order(path: Path, order: tuple[int, ...], shift: int = 10) -> None:
    """The steps of a tiny recording as a person would label them, under numbers of their own."""
    rows = [
        f'{place * 2 * STEP_S},{(place + 1) * 2 * STEP_S},"{step + shift} {NAMES[step]}"'
        for place, step in enumerate(order)
        if step > 0
    ]
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def options_with(task: Learned, labels: Path, out: Path) -> TrainOptions:
    return replace(task.options, out=out, labels=labels)


@pytest.fixture
def first_id(features_task: Learned) -> str:
    return str(features_task.bundle.facts["recordings"][0])


def test_numbers_and_names_stay_as_given(features_task: Learned, first_id: str, tmp_path: Path) -> None:
    write_order(tmp_path / "labels" / f"{first_id}.csv", ORDERS[0])
    learned = learn_again(options_with(features_task, tmp_path / "labels", tmp_path / "out"))
    plain = learned.bundle.json("procedure.json")
    assert {step["number"]: step["name"] for step in plain["steps"]} == {n + 10: name for n, name in NAMES.items()}
    kept = read_labels(learned.bundle.folder / "segments" / f"{first_id}.csv")
    assert [segment.step for segment in kept.segments] == [step + 10 for step in ORDERS[0] if step > 0]
    assert "labels of 1 recording name 4 key-steps" in learned.said
    others = [str(name) for name in learned.bundle.facts["recordings"]][1:]
    for name in others:
        found = {segment.step for segment in read_labels(learned.bundle.folder / "segments" / f"{name}.csv").segments}
        assert found <= {11, 12, 13, 14}
        assert len(found) >= 3


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("5,3,1 open box\n", "line 1"),
        ("0,2,1 open box\n1,3,2 fit board\n", "line 2"),
        ("0,999,1 open box\n", "line 1"),
    ],
)
def test_wrong_labels_are_named_with_file_and_line(
    features_task: Learned, first_id: str, tmp_path: Path, content: str, words: str
) -> None:
    (tmp_path / "labels").mkdir()
    (tmp_path / "labels" / f"{first_id}.csv").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=words) as caught:
        learn_again(options_with(features_task, tmp_path / "labels", tmp_path / "out"))
    assert f"{first_id}.csv" in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_folder_without_labels_of_these_recordings_is_refused(features_task: Learned, tmp_path: Path) -> None:
    write_order(tmp_path / "labels" / "somebody else.csv", ORDERS[0])
    with pytest.raises(InputError, match="at least one"):
        learn_again(options_with(features_task, tmp_path / "labels", tmp_path / "out"))


def test_another_number_of_steps_than_the_labels_name_is_refused(
    features_task: Learned, first_id: str, tmp_path: Path
) -> None:
    write_order(tmp_path / "labels" / f"{first_id}.csv", ORDERS[0])
    options = replace(options_with(features_task, tmp_path / "labels", tmp_path / "out"), k=6)
    with pytest.raises(InputError, match="the labels name 4 key-steps, but --k asks for 6"):
        learn_again(options)


def test_a_step_without_a_frame_is_named(features_task: Learned, first_id: str, tmp_path: Path) -> None:
    (tmp_path / "labels").mkdir()
    text = '0,8,"1 open box"\n8.01,8.02,"2 fit board"\n'
    (tmp_path / "labels" / f"{first_id}.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="none falls into 2 fit board"):
        learn_again(options_with(features_task, tmp_path / "labels", tmp_path / "out"))


def test_lenient_reading_says_what_it_changed(features_task: Learned, first_id: str, tmp_path: Path) -> None:
    (tmp_path / "labels").mkdir()
    text = '0,6,"1 open box"\n5,12,"2 fit board"\n'
    (tmp_path / "labels" / f"{first_id}.csv").write_text(text, encoding="utf-8")
    options = replace(options_with(features_task, tmp_path / "labels", tmp_path / "out"), lenient=True)
    assert "changed: " in learn_again(options).said


def test_steps_with_gaps_in_their_numbers_are_followed_live(
    features_task: Learned, first_id: str, tmp_path: Path
) -> None:
    write_order(tmp_path / "labels" / f"{first_id}.csv", ORDERS[0])
    bundle = learn_again(options_with(features_task, tmp_path / "labels", tmp_path / "out")).bundle
    session = Session(bundle, start_networks(bundle, "cpu"), LiveSettings())
    rows = np.load(Path(features_task.options.inputs[0]) / f"{first_id}.npy")
    updates = list(follow_features(rows, FEATURE_RATE, session))
    assert {update.label.step for update in updates} <= {-1, 0, 11, 12, 13, 14}
    assert {11, 12} <= {update.label.step for update in updates}

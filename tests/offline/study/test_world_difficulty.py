"""The calibration's figures on made features, its probe by hand, and how the command ends."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from guide.benchmarks.figures import Figure
from guide.domain import Labels
from guide.errors import InputError
from offline.features import RecordingFeatures
from offline.study import world_difficulty as calibrate
from offline.study.evaluation.task import LabelledTask
from offline.study.world_difficulty import CalibrateOptions, Probe, Share, main, measure

ORDERS = ((1, 2, 3), (1, 2, 3), (2, 1, 3))


def recording(name: str, order: tuple[int, ...], seed: int) -> tuple[RecordingFeatures, Labels]:
    """Background, then the steps of `order`, five frames each, their features far apart."""
    labels = np.repeat([0, *order], 5)
    rows = 10 * np.eye(4)[labels] + np.random.default_rng(seed).normal(size=(20, 4))
    return RecordingFeatures(name, 2.0, np.arange(20) / 2, rows.astype(np.float32)), labels


def labelled(seed: int) -> LabelledTask:
    made = [recording(str(number), order, seed + number) for number, order in enumerate(ORDERS)]
    return LabelledTask("x", "x", {}, tuple(one for one, _ in made), tuple(labels for _, labels in made))


def test_measure_on_separable_features() -> None:
    figures = {figure.name: figure for figure in measure(labelled(0), labelled(10), k=3)}
    assert figures["linear probe, frames right"].value == 100.0
    assert figures["linear probe, step frames right"].value == 100.0
    assert figures["linear probe, frames right"].verdict == "MISSED"  # too easy a world
    assert figures["random, F1"].value < figures["equal time split, F1"].value < 100.0
    assert measure(labelled(0), labelled(10), k=3) == list(figures.values())


def test_unknown_activity_is_marked(tmp_path: Path) -> None:
    features, _ = recording("05_unknown", (1, 2, 3), 0)
    (tmp_path / "05_unknown.csv").write_text('2.5,5.0,"1 lay mat"\n')
    truth = calibrate._truth(features, tmp_path, [[6.0, 7.0]])
    assert truth.tolist() == [0] * 5 + [1] * 5 + [0] * 2 + [-1] * 2 + [0] * 6


@pytest.mark.parametrize(("value", "code"), [(80.0, None), (95.0, 1)])
def test_a_broken_limit_is_exit_code_1(
    value: float, code: int | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(calibrate, "draw_once", lambda *_: None)
    monkeypatch.setattr(calibrate, "_look", lambda *_: (labelled(0), labelled(10)))
    monkeypatch.setattr(calibrate, "measure", lambda *_: [Figure("linear probe", value, "%", 75.0, 92.0)])
    ended = None
    try:
        main(CalibrateOptions(seed=20, data=tmp_path))
    except SystemExit as leave:
        ended = leave.code
    assert ended == code
    said = capsys.readouterr().out
    assert f"{value:g} %" in said
    assert ("MISSED" in said) == (code == 1)


@pytest.mark.parametrize(("options", "answer"), [({"live": 0}, "at least 1, got 0"), ({"fps": 0.0}, "--fps needs")])
def test_bad_options_are_one_sentence(options: dict[str, float], answer: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=answer):
        main(CalibrateOptions(seed=20, data=tmp_path, **options))  # type: ignore[arg-type]


def test_one_feature_worked_by_hand() -> None:
    # Rows -1, -1, 1, 1 are standardised as they are. With one-hot targets (bias 1/2 each) the weight of class 5 is
    # sum(x (y - 1/2)) / (sum(x^2) + strength n) = 2 / (4 + 4) = 1/4, that of class 0 the opposite.
    probe = Probe.fit(np.array([[-1.0], [-1.0], [1.0], [1.0]]), np.array([0, 0, 5, 5]), strength=1.0)
    assert probe.classes.tolist() == [0, 5]
    assert probe.bias == pytest.approx([0.5, 0.5])
    assert probe.weights[0] == pytest.approx([-0.25, 0.25])
    assert probe.tell(np.array([[-0.1], [0.1]])).tolist() == [0, 5]


def test_separable_classes_are_told_apart_for_unseen_rows() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), 30)
    corners = 10 * np.eye(4, 6)
    fit = corners[labels] + rng.normal(size=(120, 6))
    unseen = corners[labels] + rng.normal(size=(120, 6))
    assert (Probe.fit(fit, labels).tell(unseen) == labels).all()


def test_noise_is_told_no_better_than_by_chance() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 400)
    found = Probe.fit(rng.normal(size=(400, 8)), labels).tell(rng.normal(size=(400, 8)))
    assert (found == labels).mean() < 0.35


def test_unknown_activity_teaches_nothing() -> None:
    rows, labels = np.array([[-1.0], [1.0], [900.0]]), np.array([1, 2, -1])
    with_it, without = Probe.fit(rows, labels), Probe.fit(rows[:2], labels[:2])
    assert with_it.classes.tolist() == [1, 2]
    assert with_it.weights == pytest.approx(without.weights)


def test_a_constant_feature_does_no_harm() -> None:
    rows = np.array([[-1.0, 7.0], [1.0, 7.0]])
    probe = Probe.fit(rows, np.array([0, 1]))
    assert np.isfinite(probe.weights).all()
    assert probe.tell(np.array([[-1.0, 7.0], [1.0, 7.0]])).tolist() == [0, 1]


def test_shares_leave_unknown_activity_out() -> None:
    truth, found = np.array([0, 0, 1, 2, 2, -1]), np.array([0, 3, 1, 2, 0, 0])
    assert Share.of(truth, found) == Share(of_all=3 / 5, of_steps=2 / 3)


def test_shares_need_steps() -> None:
    with pytest.raises(ValueError, match="with a step among them"):
        Share.of(np.array([0, -1]), np.array([0, 0]))

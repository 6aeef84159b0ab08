"""The calibration's figures on made features, and how the command ends."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from guide.domain import Labels
from guide.errors import InputError
from offline.features import RecordingFeatures
from offline.study import world_difficulty as calibrate
from offline.study.world_difficulty import CalibrateOptions, Figure, Labelled, main, measure

ORDERS = ((1, 2, 3), (1, 2, 3), (2, 1, 3))


def recording(name: str, order: tuple[int, ...], seed: int) -> tuple[RecordingFeatures, Labels]:
    """Background, then the steps of `order`, five frames each, their features far apart."""
    labels = np.repeat([0, *order], 5)
    rows = 10 * np.eye(4)[labels] + np.random.default_rng(seed).normal(size=(20, 4))
    return RecordingFeatures(name, 2.0, np.arange(20) / 2, rows.astype(np.float32)), labels


def labelled(seed: int) -> Labelled:
    made = [recording(str(number), order, seed + number) for number, order in enumerate(ORDERS)]
    return Labelled(tuple(one for one, _ in made), tuple(labels for _, labels in made))


def test_measure_on_separable_features() -> None:
    figures = {figure.name: figure for figure in measure(labelled(0), labelled(10), k=3)}
    assert figures["linear probe, frames right"].value == 1.0
    assert figures["linear probe, step frames right"].value == 1.0
    assert not figures["linear probe, frames right"].holds  # too easy a world
    assert figures["random, F1"].value < figures["equal time split, F1"].value < 1.0
    assert measure(labelled(0), labelled(10), k=3) == list(figures.values())


@pytest.mark.parametrize(
    ("figure", "limit", "verdict"),
    [
        (Figure("free", 0.1), "", ""),
        (Figure("low enough", 0.55, most=0.55), "at most 55", "holds"),
        (Figure("too high", 0.56, most=0.55), "at most 55", "BROKEN"),
        (Figure("between", 0.75, 0.75, 0.92), "75 to 92", "holds"),
        (Figure("too low", 0.7, 0.75, 0.92), "75 to 92", "BROKEN"),
    ],
)
def test_limits(figure: Figure, limit: str, verdict: str) -> None:
    assert (figure.limit, figure.verdict) == (limit, verdict)


def test_unknown_activity_is_marked(tmp_path: Path) -> None:
    features, _ = recording("05_unknown", (1, 2, 3), 0)
    (tmp_path / "05_unknown.csv").write_text('2.5,5.0,"1 lay mat"\n')
    truth = calibrate._truth(features, tmp_path, [[6.0, 7.0]])
    assert truth.tolist() == [0] * 5 + [1] * 5 + [0] * 2 + [-1] * 2 + [0] * 6


@pytest.mark.parametrize(("value", "code"), [(0.8, None), (0.95, 1)])
def test_a_broken_limit_is_exit_code_1(
    value: float, code: int | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(calibrate, "draw_once", lambda *_: None)
    monkeypatch.setattr(calibrate, "_look", lambda *_: (labelled(0), labelled(10)))
    monkeypatch.setattr(calibrate, "measure", lambda *_: [Figure("linear probe", value, 0.75, 0.92)])
    ended = None
    try:
        main(CalibrateOptions(seed=20, data=tmp_path))
    except SystemExit as leave:
        ended = leave.code
    assert ended == code
    said = capsys.readouterr().out
    assert f"{100 * value:.1f}" in said
    assert ("BROKEN" in said) == (code == 1)


@pytest.mark.parametrize(("options", "answer"), [({"live": 0}, "at least 1, got 0"), ({"fps": 0.0}, "--fps needs")])
def test_bad_options_are_one_sentence(options: dict[str, float], answer: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=answer):
        main(CalibrateOptions(seed=20, data=tmp_path, **options))  # type: ignore[arg-type]

"""The command on tiny videos and on features: files, labels and truth fit together."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from guide.errors import InputError
from guide.ingest.files import VideoFile
from guide.teach.annotations import read_labels
from offline.study.counterfactual.__main__ import Options, main
from tests.synth import write_task_video

ORDERS = ((1, 0, 2, 3), (1, 0, 2, 3), (1, 2, 0, 3))
NAMES = {1: "open", 2: "fit", 3: "close"}


def write_csv(path: Path, steps: tuple[int, ...], each_s: float) -> None:
    rows = [f'{n * each_s:.3f},{(n + 1) * each_s:.3f},"{s} {NAMES[s]}"\n' for n, s in enumerate(steps) if s]
    path.write_text("".join(rows))


@pytest.fixture
def videos(tmp_path: Path) -> Path:
    folder = tmp_path / "videos"
    folder.mkdir()
    for number, order in enumerate(ORDERS):
        write_task_video(folder / f"{number}.mp4", order, step_s=0.6, rate=5.0)
        write_csv(folder / f"{number}.csv", order, 0.6)
    return folder


@pytest.fixture
def features(tmp_path: Path) -> Path:
    folder = tmp_path / "features"
    folder.mkdir()
    for number, order in enumerate(ORDERS):
        np.save(folder / f"{number}.npy", np.repeat(np.array(order, np.float32), 4)[:, None] * [[1.0, 2.0]])
        write_csv(folder / f"{number}.csv", order, 2.0)
    return folder


def test_videos(videos: Path, tmp_path: Path) -> None:
    main(Options(videos, tmp_path / "out", missed=2, out_of_order=1, repeated=1, clean=1, shuffled=1))
    told = json.loads((tmp_path / "out" / "truth.json").read_text())
    assert list(told) == ["01_none", "02_missed", "03_missed", "04_out_of_order", "05_repeated", "06_shuffled"]
    for name, truth in told.items():
        video = tmp_path / "out" / "live" / f"{name}.mp4"
        frames = list(VideoFile(video))
        labels = read_labels(video.with_suffix(".csv"))
        rows = [[part.start, part.end, f"{part.step} {labels.names[part.step]}"] for part in labels.segments]
        assert rows == truth["segments"]
        assert truth["at"] is None or 0 <= truth["at"] <= frames[-1].at + 0.2
    assert told["02_missed"]["step"] not in [row[2] for row in told["02_missed"]["segments"]]


def test_features_of_the_frames_they_are_labelled_with(features: Path, tmp_path: Path) -> None:
    main(Options(features, tmp_path / "out", rate=2.0, missed=3, out_of_order=2, clean=1))
    told = json.loads((tmp_path / "out" / "truth.json").read_text())
    for name, truth in told.items():
        with np.load(tmp_path / "out" / "live" / f"{name}.npz") as file:
            rows, rate = file["features"], float(file["rate"])
        assert rate == 2.0
        for start, end, label in truth["segments"]:
            assert (rows[round(start * rate) : round(end * rate), 0] == int(label.split()[0])).all()


def test_the_same_seed_gives_the_same_files(features: Path, tmp_path: Path) -> None:
    for out in ("one", "two"):
        main(Options(features, tmp_path / out, rate=2.0, missed=2, out_of_order=2, clean=1, shuffled=1, seed=7))
    files = [sorted((tmp_path / out).rglob("*.*")) for out in ("one", "two")]
    assert [path.name for path in files[0]] == [path.name for path in files[1]]
    assert (tmp_path / "one" / "truth.json").read_text() == (tmp_path / "two" / "truth.json").read_text()


def test_fewer_than_asked_for_is_said(features: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(Options(features, tmp_path / "out", rate=2.0, missed=0, out_of_order=0, clean=9))
    assert "none: 3 of 9 asked for" in capsys.readouterr().out


def test_an_earlier_result_is_replaced_and_nothing_else(features: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for clean in (2, 1):
        main(Options(features, out, rate=2.0, missed=0, out_of_order=0, clean=clean))
    assert sorted(path.name for path in (out / "live").iterdir()) == ["01_none.csv", "01_none.npz"]
    with pytest.raises(InputError, match="holds something else"):
        main(Options(features, features, rate=2.0))


@pytest.mark.parametrize("counts", [{"clean": 0, "missed": 0, "out_of_order": 0}, {"clean": -1}])
def test_nothing_to_make_and_numbers_below_zero(counts: dict[str, int], features: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        main(Options(features, tmp_path / "out", rate=2.0, **counts))  # type: ignore[arg-type]

"""`python -m offline.study.benchmark`: the chosen parts run and are written down."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from guide.errors import InputError
from offline.backbones import load_trunk
from offline.extraction import Extractor, TorchTrunk
from offline.study.benchmark import StudyBenchmarkOptions, main
from offline.study.benchmarks import extraction


def test_one_part_is_printed_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(StudyBenchmarkOptions("losses", json=tmp_path / "figures.json", quick=True))
    printed = capsys.readouterr().out
    assert "times faster than the literal loop" in printed
    assert "ProCut" not in printed
    written = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    assert written["machine"] in printed
    assert written["parts"][0]["title"].startswith("TC3I")


def test_a_drawn_recording_is_extracted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    extractor = Extractor(load_trunk("random-tiny"), tmp_path, "cpu")
    extractor.__dict__["runner"] = TorchTrunk(extractor.trunk, torch.device("cpu"))  # exporting takes seconds
    monkeypatch.setattr(extraction, "open_extractor", lambda *_: extractor)
    main(StudyBenchmarkOptions("extraction", quick=True))
    assert "a drawn recording" in capsys.readouterr().out


def test_a_video_that_is_not_there() -> None:
    with pytest.raises(InputError, match="does not exist"):
        main(StudyBenchmarkOptions("extraction", video=Path("missing.mp4")))

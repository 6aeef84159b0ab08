"""The extraction benchmark at a tiny size: three rates, and the right rule for what is possible."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from guide.domain import Frame
from offline.backbones import load_trunk
from offline.extraction import Extractor, TorchTrunk
from offline.study.benchmarks.extraction import Rates, measure_rates, part_of


def test_what_is_possible_depends_on_who_works_beside_whom() -> None:
    assert Rates(100.0, 50.0, 30.0, uses_gpu=False).possible == pytest.approx(100 / 3)
    assert Rates(100.0, 50.0, 30.0, uses_gpu=True).possible == 50.0
    assert Rates(100.0, 50.0, 45.0, uses_gpu=True).share == pytest.approx(0.9)


@pytest.mark.parametrize("uses_gpu", [False, True])
def test_all_three_rates_are_measured(tmp_path: Path, uses_gpu: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def frames() -> Iterator[Frame]:
        for number in range(9):
            yield Frame(number, number / 5, np.full((20, 30, 3), number, np.uint8))

    extractor = Extractor(load_trunk("random-tiny"), tmp_path, "cpu")
    extractor.__dict__["runner"] = TorchTrunk(extractor.trunk, torch.device("cpu"))
    extractor.uses_gpu = uses_gpu
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "a GPU")
    rates = measure_rates(frames, extractor, repeats=1)
    assert min(rates.decode, rates.trunk, rates.extract) > 0
    part = part_of(rates, "Feature extraction")
    assert [figure.name for figure in part.figures][-1] == "share of what is possible"
    assert ("a GPU" in part.where) == uses_gpu

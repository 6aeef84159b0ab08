"""What `serve` refuses to be told."""

from __future__ import annotations

import pytest

from guide.errors import InputError
from guide.serve.options import ScaleOptions


@pytest.mark.parametrize("gpus", [-0.5, 1.5, 100.0, float("nan")])
def test_gpus_that_ray_could_not_place_are_refused_in_a_sentence_of_their_own(gpus: float) -> None:
    with pytest.raises(InputError, match="--gpus is a fraction of one GPU or a whole number up to 64"):
        ScaleOptions(gpus=gpus)


@pytest.mark.parametrize("gpus", [0.0, 0.25, 1.0, 2.0, 64.0])
def test_a_share_of_a_gpu_or_whole_ones_can_be_taken(gpus: float) -> None:
    assert ScaleOptions(gpus=gpus).gpus == gpus

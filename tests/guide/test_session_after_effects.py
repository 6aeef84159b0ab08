"""What steps leave behind, in a live session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from guide.bundle import Bundle
from guide.errors import BundleError
from guide.networks import start_networks
from guide.perceive.perceiver import Percept
from guide.procedure.actions import Action
from guide.session import Session
from guide.settings import LiveSettings
from tests.tiny import FEATURE_RATE, FEATURE_WIDTH, Learned, altered

QUICK = LiveSettings(confirm_s=0.3, bridge_s=0.3)


def session(bundle: Bundle, settings: LiveSettings = QUICK) -> Session:
    return Session(bundle, start_networks(bundle, "cpu", threads=1), settings)


def effect_of(bundle: Bundle, step: int) -> dict[str, Any]:
    """Arrays of the after-effect of a step, which is there where the first number of an embedding is above 0."""
    width = bundle.arrays("prototypes.npz")["centres"].shape[1]
    return {
        "effects_numbers": np.array([step]),
        "effects_directions": np.eye(width, 1),
        "effects_levels": np.array([[-1.0, 0.3, 1.0, 0.3]]),
        "effects_span_s": np.array([0.1]),
        "scalars": np.array([1e5, 1e5, 1.0, 0.0]),  # all steps look alike
    }


@pytest.mark.parametrize(
    ("name", "spoilt"),
    [
        ("numbers", np.array([99])),
        ("directions", np.zeros((FEATURE_WIDTH, 1))),
        ("levels", np.array([[1.0, 0.1, 0.0, 0.1]])),
        ("span_s", np.array([0.0])),
    ],
)
def test_after_effects_that_do_not_fit_are_refused(
    features_task: Learned, tmp_path: Path, name: str, spoilt: NDArray[Any]
) -> None:
    arrays = effect_of(features_task.bundle, 1) | {f"effects_{name}": spoilt}
    with pytest.raises(BundleError, match=r"the after-effects of steps are spoilt .* again\.$"):
        session(altered(features_task.bundle, tmp_path, {"prototypes.npz": arrays}))


def chances_of_done(bundle: Bundle, firsts: Sequence[float], settings: LiveSettings, restart_s: float = -1.0) -> float:
    """How probably step 1 was done, in ten seconds with embeddings of such a first number."""
    live = session(bundle, settings)
    width = bundle.arrays("prototypes.npz")["centres"].shape[1]
    for number in range(int(10 * FEATURE_RATE)):
        at = number / FEATURE_RATE
        embedding = np.zeros(width, np.float32)
        embedding[0] = firsts[int(at / 10 * len(firsts))]
        if restart_s <= at < restart_s + 1 / FEATURE_RATE:
            live.act(Action("restart", at))
        live.perceived(Percept(at, embedding))
    return 1 - live._recogniser.belief().chance_lacking(1)


def test_an_after_effect_on_the_bench_speaks_for_the_step(features_task: Learned, tmp_path: Path) -> None:
    bundle = altered(features_task.bundle, tmp_path, {"prototypes.npz": effect_of(features_task.bundle, 1)})
    without = replace(QUICK, priors=tuple(prior for prior in QUICK.priors if prior != "after_effects"))
    laid, bare = (-1.0, 1.0, 1.0, 1.0), (-1.0,) * 4
    assert chances_of_done(bundle, laid, QUICK) > chances_of_done(bundle, laid, without)
    assert chances_of_done(bundle, bare, QUICK) < chances_of_done(bundle, bare, without)
    # What lay there from the beginning, or since a restart, is nobody's.
    assert chances_of_done(bundle, (1.0,) * 4, QUICK) == chances_of_done(bundle, (1.0,) * 4, without)
    again = [chances_of_done(bundle, laid, settings, restart_s=5.0) for settings in (QUICK, without)]
    assert again[0] == again[1]

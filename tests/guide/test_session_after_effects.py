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
from guide.procedure.actions import Action
from guide.session import Session, start_networks
from guide.settings import LiveSettings
from tests.tiny import FEATURE_RATE, FEATURE_WIDTH, Learned, altered

QUICK = LiveSettings(confirm_s=0.3, bridge_s=0.3)


def session(bundle: Bundle, settings: LiveSettings = QUICK) -> Session:
    return Session(bundle, start_networks(bundle, "cpu", threads=1), settings)


def trace_of(step: int, level: float) -> dict[str, Any]:
    """Arrays of the trace of a step, which is there where the first feature is far above a level."""
    return {
        "traces_numbers": np.array([step]),
        "traces_directions": np.eye(FEATURE_WIDTH, 1),
        "traces_levels": np.array([[level - 0.3, 0.1, level + 0.3, 0.1]]),
        "traces_span_s": np.array([0.1]),
        "scalars": np.array([1e5, 1e5]),  # all steps look alike
    }


@pytest.mark.parametrize(
    ("name", "spoilt"),
    [
        ("numbers", np.array([99])),
        ("directions", np.zeros((FEATURE_WIDTH + 1, 1))),
        ("levels", np.array([[1.0, 0.1, 0.0, 0.1]])),
        ("span_s", np.array([0.0])),
    ],
)
def test_traces_that_do_not_fit_are_refused(
    features_task: Learned, tmp_path: Path, name: str, spoilt: NDArray[Any]
) -> None:
    arrays = trace_of(1, 0.5) | {f"traces_{name}": spoilt}
    with pytest.raises(BundleError, match=r"the traces of steps are spoilt .* again\.$"):
        session(altered(features_task.bundle, tmp_path, {"recogniser.npz": arrays}))


def chances_of_done(bundle: Bundle, firsts: Sequence[float], settings: LiveSettings, restart_s: float = -1.0) -> float:
    """How probably step 1 was done, in ten seconds with such a first feature."""
    live = session(bundle, settings)
    for number in range(int(10 * FEATURE_RATE)):
        at = number / FEATURE_RATE
        row = np.full(FEATURE_WIDTH, 0.01, np.float32)
        row[0] = firsts[int(at / 10 * len(firsts))]
        row[1] = np.sqrt(1 - row[0] ** 2)
        if restart_s <= at < restart_s + 1 / FEATURE_RATE:
            live.act(Action("restart", at))
        live.perceived(live.perceiver.take(row, at))
    return 1 - live._labeller.belief().chance_lacking(1)


def test_a_trace_on_the_bench_speaks_for_the_step(features_task: Learned, tmp_path: Path) -> None:
    bundle = altered(features_task.bundle, tmp_path, {"recogniser.npz": trace_of(1, 0.5)})
    without = replace(QUICK, priors=tuple(prior for prior in QUICK.priors if prior != "traces"))
    laid, bare = (0.2, 0.8, 0.8, 0.8), (0.2,) * 4
    assert chances_of_done(bundle, laid, QUICK) > chances_of_done(bundle, laid, without)
    assert chances_of_done(bundle, bare, QUICK) < chances_of_done(bundle, bare, without)
    # What lay there from the beginning, or since a restart, is nobody's.
    assert chances_of_done(bundle, (0.8,) * 4, QUICK) == chances_of_done(bundle, (0.8,) * 4, without)
    again = [chances_of_done(bundle, laid, settings, restart_s=5.0) for settings in (QUICK, without)]
    assert again[0] == again[1]
    embedding = [replace(settings, recogniser="embedding") for settings in (QUICK, without)]
    assert len({chances_of_done(bundle, laid, settings) for settings in embedding}) == 1

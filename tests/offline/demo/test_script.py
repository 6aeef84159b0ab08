"""Scripts: times, background, durations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.domain import BACKGROUND
from offline.demo.orders import FAULTS, FaultKind
from offline.demo.recording import random_stream
from offline.demo.script import RATE_HZ, sample_script


@settings(derandomize=True, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(FAULTS))
def test_events_follow_one_another_on_the_frame_grid(seed: int, fault: FaultKind) -> None:
    script = sample_script(np.random.default_rng(seed), fault)
    assert script.events[0].start == 0
    for one, other in zip(script.events, script.events[1:], strict=False):
        assert one.end == other.start > one.start
    for event in script.events:
        assert event.end * RATE_HZ == pytest.approx(round(event.end * RATE_HZ), abs=1e-9)
    idle_s = sum(event.end - event.start for event in script.events if event.step == BACKGROUND)
    assert 0.2 <= idle_s / script.duration <= 0.4
    assert bool(script.unknowns) == (fault == "unknown")


def test_durations_spread_by_a_factor_of_three() -> None:
    scripts = [sample_script(random_stream(1, "train", number, "script")) for number in range(1, 41)]
    durations = [event.end - event.start for script in scripts for event in script.steps]
    assert min(durations) >= 2.9
    assert max(durations) <= 9.1
    assert np.quantile(durations, 0.95) / np.quantile(durations, 0.05) > 2.4
    assert 60 < np.mean([script.duration for script in scripts]) < 80


def test_demonstrations_show_all_kinds_of_background_but_nothing_unknown() -> None:
    scripts = [sample_script(random_stream(1, "train", number, "script")) for number in range(1, 21)]
    seen = {event.activity for script in scripts for event in script.events}
    assert seen == {"step", "rest", "fiddle", "look", "cup", "tidy"}


def test_scale_shortens_everything() -> None:
    whole, short = (sample_script(np.random.default_rng(4), scale=scale) for scale in (1.0, 0.1))
    assert short.order == whole.order
    assert short.duration < 0.25 * whole.duration

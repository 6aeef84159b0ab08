"""Acting: what was done stays done, in whatever order."""

from __future__ import annotations

import numpy as np
import pytest

from offline.demo.acting import FASTEST_CM, act
from offline.demo.orders import FAULTS, FaultKind
from offline.demo.person import sample_person
from offline.demo.scene import Place, Workplace
from offline.demo.script import sample_script


@pytest.mark.parametrize("fault", FAULTS)
def test_one_moment_per_frame_and_a_true_end_state(fault: FaultKind) -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        script, workplace = sample_script(rng, fault, scale=0.3), Workplace(sample_person(rng))
        moments = list(act(script, workplace))
        assert len(moments) == sum(len(event.frames) for event in script.events)
        last, done = moments[-1].state, set(script.order)
        assert (last.mat == 1) == (1 in done)
        assert (last.lid == 0) == (8 in done)
        assert (last.screws == 4) == (4 in done)
        for step, name in ((3, "board"), (5, "battery"), (6, "plug"), (9, "label")):
            assert (_close(last.places.get(name), workplace.seats[name])) == (step in done)


def _close(place: Place | None, seat: Place) -> bool:
    return place is not None and abs(place.x - seat.x) + abs(place.y - seat.y) < 4


def test_hands_do_not_jump() -> None:
    rng = np.random.default_rng(5)
    moments = list(act(sample_script(rng), Workplace(sample_person(rng))))
    for hand in ("main", "helper"):
        places = np.array([getattr(moment, hand).values[:3] for moment in moments])
        assert np.linalg.norm(np.diff(places, axis=0), axis=1).max() <= FASTEST_CM + 1e-9

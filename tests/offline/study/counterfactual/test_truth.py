"""What truth.json tells, worked by hand, and the same fields as the drawn world's."""

from __future__ import annotations

import numpy as np

from offline.demo.recording import Recording
from offline.demo.truth import truth_of as truth_of_drawn
from offline.study.counterfactual.faults import Variant, unchanged
from offline.study.counterfactual.pieces import Layout
from offline.study.counterfactual.truth import segments_of, tell

LABELS = np.array([0, 1, 1, 0, 0, 2, 2, 3, 0])
TIMES = np.arange(9) / 2
NAMES = {1: "open", 2: "fit", 3: "close"}


def test_an_exchange() -> None:
    told = tell(Variant("out_of_order", (0, 2, 1), 3, 2, known=1), "helmet", LABELS, TIMES, 2.0, NAMES)
    assert told == {
        "fault": "out_of_order",
        "step": "3 close",
        "before": "2 fit",
        "at": 2.0,
        "segments": [[0.5, 1.5, "1 open"], [2.0, 2.5, "3 close"], [3.0, 4.0, "2 fit"]],
        "source": "helmet",
        "splices": [2.0, 2.5, 4.0],
        "spans": [[0.0, 2.0, 0.0], [2.0, 2.5, 3.5], [2.5, 4.0, 2.0], [4.0, 4.5, 4.0]],
    }


def test_a_last_step_left_out_is_known_at_the_end() -> None:
    told = tell(Variant("missed", (0, 1), 3), "helmet", LABELS, TIMES, 2.0, NAMES)
    assert told["at"] == 4.0
    assert told["segments"] == [[0.5, 1.5, "1 open"], [2.5, 3.5, "2 fit"]]


def test_a_clean_recording_has_no_moment_and_no_splice() -> None:
    told = tell(unchanged(Layout.of(LABELS)), "helmet", LABELS, TIMES, 2.0, NAMES)
    assert (told["fault"], told["step"], told["at"], told["splices"]) == ("none", None, None, [])


def test_the_drawn_worlds_fields_come_first() -> None:
    drawn = truth_of_drawn(Recording(1, "live", 2, 0.05).script)
    told = tell(unchanged(Layout.of(LABELS)), "helmet", LABELS, TIMES, 2.0, NAMES)
    assert list(told)[: len(drawn)] == list(drawn)


def test_a_frame_that_lasted_long_does_so_in_its_new_place() -> None:
    times = np.array([0.0, 1.0, 5.0, 6.0])
    segments = segments_of(Variant("shuffled", (1, 0)), np.array([1, 1, 2, 2]), times, 1.0)
    assert [(segment.step, segment.start, segment.end) for segment in segments] == [(2, 0.0, 2.0), (1, 2.0, 7.0)]

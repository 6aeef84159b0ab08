"""truth.json says what was planted and when it can be known."""

from __future__ import annotations

import json

import pytest

from offline.demo.recording import Recording
from offline.demo.script import Script, label_of
from offline.demo.truth import known_at, named_at, truth_of, truth_of_all


def test_form_is_plain_json_by_name() -> None:
    recordings = [Recording(3, "live", number) for number in range(1, 7)]
    truth = json.loads(json.dumps(truth_of_all(recordings)))
    assert list(truth) == ["01_none", "02_missed", "03_out_of_order", "04_repeated", "05_unknown", "06_none"]
    assert all(list(entry)[:5] == ["fault", "step", "before", "at", "segments"] for entry in truth.values())
    assert [truth["01_none"][key] for key in ("fault", "step", "before", "at")] == ["none", None, None, None]
    assert all(len(segment) == 3 for entry in truth.values() for segment in entry["segments"])


@pytest.mark.parametrize("seed", range(1, 12))
def test_the_moment_is_when_the_fault_can_be_known(seed: int) -> None:
    missed, early, again, strange = (Recording(seed, "live", number).script for number in (2, 3, 4, 5))
    for script in (early, again):
        assert _started_at(script, truth_of(script)["at"]) == truth_of(script)["step"]
    assert truth_of(strange)["at"] == strange.unknowns[0].start
    assert truth_of(strange)["unknown"] == [[event.start, event.end] for event in strange.unknowns]
    at = truth_of(missed)["at"]
    assert at == missed.duration or _started_at(missed, at) is not None
    assert truth_of(missed)["step"] not in [label_of(step) for step in missed.order]


@pytest.mark.parametrize("seed", range(1, 12))
def test_an_exchange_can_be_named_when_the_other_step_begins(seed: int) -> None:
    clean, missed, early, again = (Recording(seed, "live", number).script for number in (1, 2, 3, 4))
    assert [named_at(script) for script in (clean, missed, again)] == [
        known_at(script) for script in (clean, missed, again)
    ]
    at, named = known_at(early), named_at(early)
    assert at is not None
    assert named is not None
    assert named > at
    assert _started_at(early, named) == truth_of(early)["before"]
    between = [event.step for event in early.steps if at <= event.start < named]
    assert early.fault.before not in between, "the first time it is done after"


def _started_at(script: Script, at: object) -> str | None:
    return next((label_of(event.step) for event in script.steps if event.start == at), None)

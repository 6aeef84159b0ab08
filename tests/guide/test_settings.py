"""What an operator may tune: senseless values are refused in one sentence."""

from __future__ import annotations

from typing import Any

import pytest

from guide.errors import InputError
from guide.settings import LiveSettings


@pytest.mark.parametrize(
    "values",
    [{"lag_s": -0.1}, {"lag_s": float("nan")}, {"confirm_s": -1.0}, {"bridge_s": float("inf")}, {"window_frames": 0}],
    ids=str,
)
def test_senseless_values_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(
        InputError, match=rf"^--{next(iter(values)).replace('_', '-')} is .* or more, got .*: give another.$"
    ):
        LiveSettings(**values)


def test_no_lag_is_allowed() -> None:
    assert LiveSettings(lag_s=0.0, confirm_s=0.0, bridge_s=0.0).lag_s == 0.0

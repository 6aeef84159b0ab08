"""The line about the pace: every ten seconds, with a word when the machine is too slow."""

from __future__ import annotations

from guide.ingest.mailbox import Health
from guide.ingest.pulse import Pulse


def lines(processed_rate: float, camera_rate: float, seconds: int = 31) -> list[str]:
    pulse = Pulse(rate=5.0)
    told = []
    for number in range(round(seconds * processed_rate)):
        at = number / processed_rate
        told.append(pulse.push(at, Health(received=1 + round(at * camera_rate), dropped=number, age_s=0.05)))
    return [line for line in told if line is not None]


def test_a_line_every_ten_seconds() -> None:
    told = lines(5.0, 30.0)
    assert len(told) == 3
    assert told[0] == "5.0 of 30.0 frames a second processed, 50 dropped so far, the last one 50 ms old"


def test_too_slow_is_said() -> None:
    assert all(line.endswith("; too slow for 5 a second") for line in lines(2.0, 30.0))


def test_a_slow_camera_is_no_slow_machine() -> None:
    assert not any("too slow" in line for line in lines(2.0, 2.0))

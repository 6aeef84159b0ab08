"""What simulated headsets found out about the server: replies, age of frames, memory, and whether that is enough."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

AGE_NOISE_S = 0.1
MEMORY_NOISE_BYTES = 16 * 2**20


@dataclass(frozen=True, slots=True)
class HeadsetFigures:
    """What a run of the simulated headsets showed; seconds and bytes.

    >>> HeadsetFigures(2, 5.0, 20.0, 200, 198, 2, (0.1, 0.2), (0.01, 0.01), (1e8, 1e8)).is_steady
    True
    """

    clients: int
    fps: float
    seconds: float
    sent: int
    seen: int
    unsent: int
    """Frames that could not be sent in time, because two were in flight."""
    replies_s: tuple[float, ...]
    ages_s: tuple[float, float]
    """The mean age of frames when they are taken, in the first and the last third."""
    memory_bytes: tuple[float, float]
    """The server's memory at the end of the first third and at the end."""
    silent: int = 0
    """Clients that got no reply."""

    @property
    def p50_s(self) -> float:
        return float(np.quantile(self.replies_s, 0.5)) if self.replies_s else float("inf")

    @property
    def p95_s(self) -> float:
        return float(np.quantile(self.replies_s, 0.95)) if self.replies_s else float("inf")

    @property
    def has_steady_age(self) -> bool:
        """Whether frames were not older at the end than at the beginning, but for noise."""
        return self.ages_s[1] <= self.ages_s[0] + AGE_NOISE_S

    @property
    def has_steady_memory(self) -> bool:
        return self.memory_bytes[1] <= 1.1 * self.memory_bytes[0] + MEMORY_NOISE_BYTES

    @property
    def is_steady(self) -> bool:
        """Neither age nor memory grew by more than noise, and every client was answered."""
        return not self.silent and self.has_steady_age and self.has_steady_memory

    def verdicts(self) -> list[str]:
        """What was wanted of the crowd, a line each, and whether it was so."""
        answered = self.clients - self.silent
        grown_ms = 1e3 * (self.ages_s[1] - self.ages_s[0])
        grown_mb = (self.memory_bytes[1] - self.memory_bytes[0]) / 1e6
        return [
            f"  every client answered: {answered} of {self.clients}: {_met(not self.silent)}",
            f"  age of frames does not grow: {grown_ms:+.0f} ms from the first third to the last: "
            f"{_met(self.has_steady_age)}",
            f"  memory does not grow: {grown_mb:+.1f} MB since the first third: {_met(self.has_steady_memory)}",
            f"  frame to reply: p95 {1e3 * self.p95_s:.0f} ms",
        ]

    def as_json(self) -> dict[str, object]:
        """The figures without the single replies."""
        plain = {name: getattr(self, name) for name in self.__slots__ if name != "replies_s"}
        return {**plain, "p50_s": self.p50_s, "p95_s": self.p95_s, "is_steady": self.is_steady}

    def line(self) -> str:
        """One line for people."""
        ages, memory = self.ages_s, self.memory_bytes
        return (
            f"{self.clients} clients at {self.fps:g} a second for {self.seconds:.0f} s: {self.seen} of {self.sent} "
            f"frames seen, {self.unsent} not sent in time, {self.silent} clients without a reply; reply after "
            f"{1e3 * self.p50_s:.0f} ms (half), {1e3 * self.p95_s:.0f} ms (95 %); age {1e3 * ages[0]:.0f} -> "
            f"{1e3 * ages[1]:.0f} ms, memory {memory[0] / 1e6:.0f} -> {memory[1] / 1e6:.0f} MB: "
            f"{'steady' if self.is_steady else 'NOT steady'}"
        )


def _met(is_so: bool) -> str:
    return "met" if is_so else "MISSED"

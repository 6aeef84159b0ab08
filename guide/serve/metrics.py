"""Counts and times of the whole server, in the text that Prometheus reads."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

# Seconds: guidance under 0.6 s feels prompt, 2.7 s is the limit of what people bear.
BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 1.0, 2.7, 5.0)
HELP = {
    "guide_frames_received_total": "Frames that came in.",
    "guide_frames_processed_total": "Frames that were looked at.",
    "guide_frames_dropped_total": "Frames that were not looked at, and why.",
    "guide_stage_seconds": "Seconds a frame spent in a stage.",
    "guide_alerts_total": "Alerts that were raised.",
    "guide_questions_total": "Questions that were asked.",
    "guide_actions_total": "Actions of operators.",
    "guide_refusals_total": "Clients and requests that were refused, and why.",
    "guide_notices_total": "What happened to sources.",
}
Labels = tuple[tuple[str, str], ...]


class Metrics:
    """What the server counts; any thread may add.

    >>> metrics = Metrics()
    >>> metrics.count("guide_alerts_total", kind="missed")
    >>> print(metrics.text().splitlines()[-1])
    guide_alerts_total{kind="missed"} 1
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, Labels]] = Counter()
        self._buckets: dict[str, list[int]] = {}
        self._sums: Counter[str] = Counter()
        self._seconds: dict[str, float] = {}

    def count(self, name: str, by: int = 1, **labels: str) -> None:
        with self._lock:
            self._counts[name, tuple(sorted(labels.items()))] += by

    def time(self, stage: str, seconds: float) -> None:
        """A frame spent this long in a stage."""
        with self._lock:
            buckets = self._buckets.setdefault(stage, [0] * len(BOUNDS_S))
            for place, bound in enumerate(BOUNDS_S):
                buckets[place] += seconds <= bound
            self._sums[stage] += 1
            self._seconds[stage] = self._seconds.get(stage, 0.0) + seconds

    def value(self, name: str, **labels: str) -> int:
        """A count so far."""
        with self._lock:
            return self._counts[name, tuple(sorted(labels.items()))]

    def text(self, gauges: Iterable[tuple[str, Mapping[str, str], float]] = ()) -> str:
        """Everything in Prometheus' text format; `gauges` are name, labels and value of what stands just now."""
        with self._lock:
            lines = [*self._stage_lines(), *self._count_lines()]
        return "\n".join([*lines, *_gauge_lines(gauges)]) + "\n"

    def _count_lines(self) -> Iterator[str]:
        told = ""
        for (name, labels), count in sorted(self._counts.items()):
            if name != told:
                yield from _head(name, "counter")
            told = name
            yield f"{name}{_shown(labels)} {count}"

    def _stage_lines(self) -> Iterator[str]:
        name = "guide_stage_seconds"
        if self._buckets:
            yield from _head(name, "histogram")
        for stage, buckets in sorted(self._buckets.items()):
            for bound, count in zip(BOUNDS_S, buckets, strict=True):
                yield f'{name}_bucket{{stage="{stage}",le="{bound:g}"}} {count}'
            yield f'{name}_bucket{{stage="{stage}",le="+Inf"}} {self._sums[stage]}'
            yield f'{name}_sum{{stage="{stage}"}} {self._seconds[stage]:.6f}'
            yield f'{name}_count{{stage="{stage}"}} {self._sums[stage]}'


def _gauge_lines(gauges: Iterable[tuple[str, Mapping[str, str], float]]) -> Iterator[str]:
    told = ""
    for name, labels, value in sorted(gauges, key=lambda gauge: (gauge[0], sorted(gauge[1].items()))):
        if name != told:
            yield f"# TYPE {name} gauge"
        told = name
        yield f"{name}{_shown(tuple(sorted(labels.items())))} {value:g}"


def _head(name: str, kind: str) -> Iterator[str]:
    if name in HELP:
        yield f"# HELP {name} {HELP[name]}"
    yield f"# TYPE {name} {kind}"


def _shown(labels: Labels) -> str:
    """Labels between braces, what people wrote in them made harmless."""
    words = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels)
    return f"{{{words}}}" if words else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

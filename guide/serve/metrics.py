"""Counts and times of the whole server, in the text that Prometheus reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric, ProcessCollector, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

# Seconds: guidance under 0.6 s feels prompt, 2.7 s is the limit of what people bear.
BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 1.0, 2.7, 5.0)
COUNTS = {  # what is counted, in words, and its labels
    "guide_frames_received_total": ("Frames that came in.", ()),
    "guide_frames_processed_total": ("Frames that were processed.", ()),
    "guide_frames_dropped_total": ("Frames that were not processed, and why.", ("why",)),
    "guide_alerts_total": ("Alerts that were raised.", ("kind",)),
    "guide_questions_total": ("Questions that were asked.", ()),
    "guide_actions_total": ("Actions that operators took.", ("kind",)),
    "guide_refusals_total": ("Clients and requests that were refused, and why.", ("why",)),
    "guide_notices_total": ("Notices about sources, such as a lost camera.", ("kind",)),
}
GAUGES = {  # what stands just now
    "guide_clients": ("Headsets and phones that are connected.", ()),
    "guide_viewers": ("Viewers of live pictures.", ()),
    "guide_sessions": ("Sessions that run.", ()),
    "guide_frame_age_seconds": ("Age of the newest frame that was processed, in seconds.", ("session", "source")),
    "guide_standing_alerts": ("Alerts that are open.", ("session", "source")),
    "guide_network_rows": ("Frames that a network has computed.", ("network",)),
    "guide_network_runs": ("Batches in which it computed them.", ("network",)),
    "guide_network_busy_seconds": ("Seconds in which it was busy.", ("network",)),
    "guide_replicas": ("Replicas of a fleet.", ("state",)),
}
STAGES = (
    "guide_stage_seconds",
    "Seconds a frame spent in a stage: decode, wait (in the mailbox), trunk and head (with the wait for their batch), "
    "see (the whole loop), reply (from arrival to acknowledgement).",
    ("stage",),
)


class _Registry(CollectorRegistry):
    """Metrics without the time at which each was made, which nobody here asks for."""

    def collect(self) -> Iterator[Metric]:
        for metric in super().collect():
            metric.samples = [one for one in metric.samples if not one.name.endswith("_created")]
            yield metric


class Metrics:
    """What the server counts, and what the system says of its process; any thread may add.

    >>> metrics = Metrics()
    >>> metrics.count("guide_alerts_total", kind="missed")
    >>> 'guide_alerts_total{kind="missed"} 1.0' in metrics.text().splitlines()
    True
    """

    def __init__(self) -> None:
        self._registry = _Registry()
        self._counts = {name: Counter(name, *about, registry=self._registry) for name, about in COUNTS.items()}
        self._stages = Histogram(*STAGES, buckets=BOUNDS_S, registry=self._registry)
        ProcessCollector(registry=self._registry)

    def count(self, name: str, by: int = 1, **labels: str) -> None:
        counter = self._counts[name]
        (counter.labels(**labels) if labels else counter).inc(by)

    def time(self, stage: str, seconds: float) -> None:
        """A frame spent this long in a stage."""
        self._stages.labels(stage).observe(seconds)

    def text(self, gauges: Iterable[tuple[str, Mapping[str, str], float]] = ()) -> str:
        """Everything in Prometheus' text format; `gauges` are name, labels and value of what stands just now."""
        registry, found = CollectorRegistry(), dict[str, Gauge]()
        for name, labels, value in gauges:
            if name not in found:
                found[name] = Gauge(name, *GAUGES[name], registry=registry)
            (found[name].labels(**labels) if labels else found[name]).set(value)
        return (generate_latest(self._registry) + generate_latest(registry)).decode()


class _Kept(Collector):
    """Metrics as they were told."""

    def __init__(self, metrics: list[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> list[Metric]:
        return self._metrics


def merged(texts: Mapping[str, str]) -> str:
    """The metrics of many replicas in one text, each with the name of its replica.

    >>> metrics = Metrics()
    >>> metrics.count("guide_questions_total")
    >>> 'guide_questions_total{replica="replica-1"} 1.0' in merged({"replica-1": metrics.text()}).splitlines()
    True
    """
    found: dict[str, Metric] = {}
    for replica, text in texts.items():
        for metric in text_string_to_metric_families(text):
            kept = found.setdefault(metric.name, Metric(metric.name, metric.documentation, metric.type))
            for sample in metric.samples:
                kept.samples.append(sample._replace(labels={**sample.labels, "replica": replica}))
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Kept(list(found.values())))
    return generate_latest(registry).decode()

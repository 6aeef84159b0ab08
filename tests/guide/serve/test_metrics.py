"""Counts and times in Prometheus' text, worked out by hand."""

from __future__ import annotations

from guide.serve.metrics import BOUNDS_S, Metrics


def test_counts_are_grouped_under_one_head() -> None:
    metrics = Metrics()
    metrics.count("guide_alerts_total", kind="missed")
    metrics.count("guide_alerts_total", 2, kind="repeated")
    assert [line for line in metrics.text().splitlines() if "alerts" in line] == [
        "# HELP guide_alerts_total Alerts that were raised.",
        "# TYPE guide_alerts_total counter",
        'guide_alerts_total{kind="missed"} 1.0',
        'guide_alerts_total{kind="repeated"} 2.0',
    ]


def test_times_fall_into_buckets_that_add_up() -> None:
    metrics = Metrics()
    for seconds in (0.004, 0.3, 99.0):
        metrics.time("see", seconds)
    lines = metrics.text().splitlines()
    assert 'guide_stage_seconds_bucket{le="0.005",stage="see"} 1.0' in lines
    assert 'guide_stage_seconds_bucket{le="0.4",stage="see"} 2.0' in lines
    assert 'guide_stage_seconds_bucket{le="+Inf",stage="see"} 3.0' in lines
    assert 'guide_stage_seconds_sum{stage="see"} 99.304' in lines
    assert sum("bucket" in line for line in lines) == len(BOUNDS_S) + 1


def test_what_people_wrote_cannot_break_a_line() -> None:
    text = Metrics().text([("guide_frame_age_seconds", {"session": "s", "source": 'a"b\\c\nd'}, 0.5)])
    assert text.splitlines()[-1] == 'guide_frame_age_seconds{session="s",source="a\\"b\\\\c\\nd"} 0.5'

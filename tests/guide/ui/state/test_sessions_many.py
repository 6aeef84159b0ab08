"""Two sessions compared and many counted, against what was put in."""

from __future__ import annotations

from pathlib import Path

import pytest

from guide.record.session_report import SessionReport
from guide.ui.state import sessions_many as many
from guide.ui.state.sessions import STATES, SessionRow, read_reports
from tests.kept_sessions import FIRST, SECOND, keep_session


@pytest.fixture
def reports(tmp_path: Path) -> tuple[SessionReport, ...]:
    """Two sessions: the second leaves step 2 out and does step 1 twice."""
    keep_session(tmp_path, FIRST, (1, 3, 2, 4), has_video=False)
    keep_session(tmp_path, SECOND, (1, 3, 4, 1), has_video=False, person="", bundle_hash="99")
    return read_reports(tmp_path, (FIRST, SECOND, "20300104-030405-dead"))


def test_time_per_step(reports: tuple[SessionReport, ...]) -> None:
    rows = many.compare_steps(*reports)
    assert [(one.name, one.first_s, one.second_s, one.usual_s) for one in rows] == [
        ("lay mat", 4.0, 8.0, 4.0),
        ("open case", 4.0, None, 4.0),
        ("fit board", 4.0, 4.0, 4.0),
        ("close lid", 4.0, 4.0, 4.0),
    ]
    assert [one.difference_s for one in rows] == [4.0, None, 0.0, 0.0]


def test_two_versions_and_two_procedures_are_told_apart(reports: tuple[SessionReport, ...], tmp_path: Path) -> None:
    first, second = reports
    assert many.why_not_alike(first, first) == ""
    assert "called box, but in two versions (1f2e3d4c and 99)" in many.why_not_alike(first, second)
    other = keep_session(tmp_path, "20300105-030405-00ff", has_video=False, bundle="exported/lamp")
    assert "two procedures, box and lamp" in many.why_not_alike(first, read_reports(tmp_path, (other,))[0])


def test_orders_part_where_they_differ(reports: tuple[SessionReport, ...]) -> None:
    first, second = (many.order_of(report) for report in reports)
    assert first == ("lay mat", "fit board", "open case", "close lid")
    assert many.first_difference(first, second) == 3
    assert many.first_difference(first, first[:2]) == 3


def test_times_over_many_stand_beside_the_demonstrations(reports: tuple[SessionReport, ...]) -> None:
    times = many.step_times(reports)
    assert [(one.label, one.seconds) for one in times] == [
        ("1 lay mat", (4.0, 4.0, 4.0)),
        ("2 open case", (4.0,)),
        ("3 fit board", (4.0, 4.0)),
        ("4 close lid", (4.0, 4.0)),
    ]
    assert times[0].usual_s == (4.0, 4.0, 4.0)
    assert len(many.duration_rows(times)) == 8 + 4


@pytest.mark.parametrize(
    ("by", "bars"),
    [
        ("step", [("open case", 2, 1.0)]),
        ("kind", [("Out of order", 2, 1.0)]),
        ("person", [("not given", 1, 0.5), ("shift 2", 1, 1.0)]),
        ("version", [("box 1f2e3d4c", 1, 0.5), ("box 99", 1, 1.0)]),
    ],
)
def test_deviations_by_what_they_share(
    reports: tuple[SessionReport, ...], by: many.DeviationBy, bars: list[tuple[str, int, float]]
) -> None:
    assert [(one.name, one.count, one.cumulative) for one in many.pareto(reports, by)] == bars


def test_withdrawn_alerts_count_only_where_asked_for(reports: tuple[SessionReport, ...]) -> None:
    assert sum(one.count for one in many.pareto(reports, "step", with_withdrawn=True)) == 4
    assert many.pareto((), "step") == ()


def test_what_was_cut_off_is_not_counted() -> None:
    rows = [SessionRow(FIRST, 0.0, "", "", "", 1.0, 0, how) for how in STATES]
    assert [row.state for row in many.whole(rows)] == ["open", "finished"]

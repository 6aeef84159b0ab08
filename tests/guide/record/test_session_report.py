"""Reports from hand-made sessions: what happened is told once, in every form, and no text can harm its reader."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from guide.domain import Alert, Question, Resolution, SettledLabel, StepEvent
from guide.record.elan import read_elan, write_elan
from guide.record.page import about, to_html
from guide.record.session_report import SessionReport, StepFacts, make_report, to_plain
from guide.record.snapshots import encode
from guide.record.tables import to_csv, to_tiers, to_vtt
from guide.record.values import (
    Contents,
    HealthSample,
    SessionFacts,
    StoredAction,
    StoredOutcome,
    StoredPicture,
    StoredSession,
)

EVIL = '"><script src=https://evil.example/x.js></script><img src=x onerror=alert(1)>=cmd|calc --> & <b>'
STEPS = (StepFacts(1, "cut", (2.0, 2.5, 3.0, 4.0, 5.0)), StepFacts(2, "fold", (1.0, 1.0, 1.0, 1.0, 1.0)))
SESSION = StoredSession(
    SessionFacts("20300102-030405-00ff", 1e9, "shift 2", "demo"), "finished", 1e9 + 20, 100, 19.8, 1
)
CONTENTS = Contents(
    labels=(SettledLabel(0.0, 1, 0.9), SettledLabel(19.8, 2, 0.8)),
    steps=(
        StepEvent(0.0, 1, "started", 0.0, None, 0.9),
        StepEvent(1.0, 1, "confirmed", 0.0, None, 0.9),
        StepEvent(5.0, 1, "ended", 0.0, 4.0, 0.9),
        StepEvent(5.0, 2, "started", 4.6, None, 0.9),  # never confirmed: too brief to be told of
        StepEvent(5.4, 2, "ended", 4.6, 5.0, 0.9),
        StepEvent(8.0, -1, "confirmed", 7.0, None, 0.6),
        StepEvent(10.0, -1, "ended", 7.0, 9.0, 0.6),
        StepEvent(12.0, 1, "confirmed", 11.0, None, 0.7),
    ),
    alerts=(
        Alert(1, 8.0, "missed", 2, None, "warning", "not seen"),
        Alert(2, 12.0, "repeated", 1, None, "warning", "twice"),
        Alert(1, 19.8, "missed", 2, None, "alarm", "never seen"),
    ),
    resolutions=(Resolution(2, 14.0, is_withdrawn=True),),
    questions=(Question(3, 9.0, 2, "Did you fold?"),),
    actions=(
        StoredAction(1, 13.0, 1e9, 60, "mark_done", step=2, person="lead", comment="saw it"),
        StoredAction(2, 13.5, 1e9, 62, "undo", target=1, person="lead"),
        StoredAction(3, 14.0, 1e9, 65, "answer", target=3, answer=False),
    ),
    health=(HealthSample(3.0, 1e9, "the disk is full"), HealthSample(10.0, 1e9, "", '{"frames": 50}')),
    pictures=(
        StoredPicture(1.0, "step", 1, "a.jpg"), StoredPicture(8.0, "step", -1, "b.jpg"),
        StoredPicture(12.0, "step", 1, "c.jpg"),
        StoredPicture(8.0, "alert", 1, "d.jpg"), StoredPicture(0.0, "video", 1, "video-1.mp4"),
    ),
    final=(Resolution(2, 14.0, is_withdrawn=True),),
)  # fmt: skip
STILL = encode(np.full((30, 40, 3), 128, np.uint8))


@pytest.fixture
def report() -> SessionReport:
    return make_report(SESSION, CONTENTS, STEPS)


@pytest.fixture
def hostile() -> SessionReport:
    facts = replace(SESSION.facts, person=EVIL, bundle=EVIL, source=EVIL, bundle_hash=EVIL)
    contents = replace(
        CONTENTS,
        alerts=(Alert(1, 8.0, EVIL, 2, None, EVIL, EVIL),),  # type: ignore[arg-type]
        questions=(Question(3, 9.0, 2, EVIL),),
        actions=(StoredAction(1, 13.0, 1e9, 60, EVIL, person=EVIL, comment=EVIL),),
        health=(HealthSample(3.0, 1e9, EVIL),),
        pictures=(StoredPicture(1.0, "step", 1, EVIL), StoredPicture(1.0, "video", 1, EVIL)),
    )
    steps = [replace(step, name=EVIL) for step in STEPS]
    return make_report(replace(SESSION, facts=facts, state=EVIL), contents, steps)  # type: ignore[arg-type]


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.sources: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.sources += [str(value) for name, value in attrs if name in ("src", "href", "srcset", "action")]
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_visits_are_the_confirmed_steps_with_their_stills(report: SessionReport) -> None:
    assert [(visit.name, visit.start, visit.end, visit.still) for visit in report.visits] == [
        ("cut", 0.0, 4.0, "a.jpg"),
        ("unknown activity", 7.0, 9.0, "b.jpg"),
        ("cut", 11.0, 19.8, "c.jpg"),  # still being done when the session ended
    ]


def test_an_alert_is_told_once_as_grave_as_it_grew(report: SessionReport) -> None:
    first, second = report.alerts
    assert (first.raised_at, first.alert.severity, first.outcome, first.still) == (8.0, "alarm", "stands", "d.jpg")
    assert (second.raised_at, second.outcome, second.still) == (12.0, "withdrawn", None)


def test_the_page_shows_all_of_it_in_one_file(report: SessionReport) -> None:
    page = Tags(to_html(report, dict.fromkeys(("a.jpg", "b.jpg", "c.jpg", "d.jpg"), STILL)))
    assert page.tags.count("img") == 4
    assert page.tags.count("svg") == 1 + len(STEPS)
    assert all(source.startswith("data:image/jpeg;base64,") for source in page.sources)
    assert not {"script", "link", "iframe", "object"} & set(page.tags)
    for words in ("cut", "never seen", "mark done, taken back by 2", "saw it", "Did you fold? no", "the disk is full",
                  "not seen", "1 alert stands", "shift 2", "video-1.mp4"):  # fmt: skip
        assert words in page.text


def test_what_people_did_about_an_alert_stands_with_it_in_words(report: SessionReport) -> None:
    deeds = (
        StoredAction(1, 13.0, 1e9, 60, "acknowledge", target=1, person="lead", comment="on it"),
        StoredAction(2, 13.5, 1e9, 62, "false_alarm", target=1),
        StoredAction(3, 14.0, 1e9, 65, "undo", target=2),
    )
    told = replace(report, actions=deeds)
    page = Tags(to_html(told, {})).text
    assert "0:13 acknowledge, lead: on it" in page
    assert "0:14 false alarm (taken back)" in page
    assert [about(told, one) for one in deeds] == ["missed: fold", "missed: fold", "false alarm, 0:14"]
    assert "alert 1" not in page.replace("1 alert stands", "")
    rows = [row for row in csv.DictReader(to_csv(told).splitlines()) if row["what"] == "action"]
    assert [row["step"] for row in rows] == ["fold", "fold", ""]


def test_an_empty_session_has_a_page_too() -> None:
    report = make_report(replace(SESSION, at=0.0), Contents(), [])
    for words in ("No step was confirmed", "No alert was raised", "Nobody intervened", "No trouble"):
        assert words in to_html(report, {})
    assert to_vtt(report).startswith("WEBVTT")
    assert to_csv(report).count("\n") == 1
    assert [tier.annotations for tier in to_tiers(report)] == [(), (), ()]


def test_no_text_harms_the_reader_of_the_page(hostile: SessionReport) -> None:
    page = Tags(to_html(hostile, {}))
    assert set(page.tags) <= {
        "html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "div", "b", "br", "span", "svg", "line",
        "rect", "text", "circle", "path", "table", "tr", "th", "td", "footer",
    }  # fmt: skip
    assert EVIL in page.text
    assert page.sources == []


def test_no_text_harms_a_spreadsheet_or_the_subtitles(hostile: SessionReport, tmp_path: Path) -> None:
    formula = replace(hostile, actions=(StoredAction(1, 13.0, 1e9, 60, "next", person="=1+1", comment="@SUM(A1)"),))
    rows = list(csv.reader(to_csv(formula).splitlines()))
    assert all(len(row) == 8 for row in rows)
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "@"))]
    cues = to_vtt(hostile).split("\n\n")[1:]
    assert all(block.count("-->") == 1 and "<" not in block for block in cues if block.strip())
    write_elan(tmp_path / "a.eaf", to_tiers(hostile))
    assert read_elan(tmp_path / "a.eaf").tiers[0].annotations[0].value == EVIL


def test_the_other_forms_agree(report: SessionReport) -> None:
    rows = list(csv.DictReader(to_csv(report).splitlines()))
    assert [row["what"] for row in rows] == ["step", "step", "alert", "question", "step", "alert", "action", "action",
                                             "action"]  # fmt: skip
    assert rows[2]["outcome_or_confidence"] == "stands"
    vtt = to_vtt(report)
    assert "00:00:00.000 --> 00:00:04.000\ncut\n" in vtt
    assert "00:00:08.000 --> 00:00:18.000\nmissed: fold\n" in vtt
    assert "00:00:12.000 --> 00:00:14.000\nrepeated: cut\n" in vtt
    plain = json.loads(json.dumps(to_plain(report), allow_nan=False))
    assert [alert["outcome"] for alert in plain["alerts"]] == ["stands", "withdrawn"]
    assert [step["name"] for step in plain["steps"]] == ["cut", "unknown activity", "cut"]
    assert plain["health"][1]["values"] == {"frames": 50}
    tiers = {tier.name: tier.annotations for tier in to_tiers(report)}
    assert [one.value for one in tiers["actions"]] == ["mark_done: saw it", "undo", "answer"]
    assert [(one.start, one.end) for one in tiers["actions"]] == [(13.0, 13.5), (13.5, 14.0), (14.0, 15.0)]


CUE = re.compile(
    r"(\d{2,}:[0-5]\d:[0-5]\d\.\d{3}) --> (\d{2,}:[0-5]\d:[0-5]\d\.\d{3})\n((?:[^\n<&>]|&(?:amp|lt|gt);)+)"
)


@pytest.mark.parametrize("kind", ["report", "hostile"])
def test_subtitles_are_of_webvtts_form(kind: str, request: pytest.FixtureRequest) -> None:
    """A head, then cues with an empty line between: times that go forward, one line of plain text."""
    head, *cues = to_vtt(request.getfixturevalue(kind)).removesuffix("\n").split("\n\n")
    assert head == "WEBVTT"
    found = [CUE.fullmatch(cue) for cue in cues]
    assert found
    assert all(found), cues
    times = [(one[1], one[2]) for one in found if one]
    assert all(start < end for start, end in times)
    assert times == sorted(times)


def test_alerts_at_the_same_time_get_tiers_of_their_own() -> None:
    ended = [Alert(number, 19.8, "missed", 2, None, "alarm", "never seen") for number in (4, 5)]
    contents = replace(CONTENTS, alerts=(*CONTENTS.alerts, *ended), final=(Resolution(1, 13.0, is_withdrawn=False),))
    tiers = to_tiers(make_report(SESSION, contents, STEPS))
    assert [tier.name for tier in tiers] == ["steps", "alerts", "alerts 2", "actions"]
    assert [(one.start, one.end) for one in tiers[1].annotations] == [(8.0, 13.0), (19.8, 20.8)]
    assert [(one.start, one.end) for one in tiers[2].annotations] == [(12.0, 13.0), (19.8, 20.8)]


def test_a_comment_that_xml_cannot_hold_does_not_spoil_the_report(report: SessionReport, tmp_path: Path) -> None:
    odd = replace(report, actions=(StoredAction(1, 13.0, 1e9, 60, "next", comment="a\ufffeb\x00"),))
    write_elan(tmp_path / "a.eaf", to_tiers(odd))
    assert read_elan(tmp_path / "a.eaf").tiers[2].annotations[0].value == "next: a\ufffdb\ufffd"


def test_a_pause_does_not_count_into_a_step() -> None:
    """Step 1 lasts from 0 to 4 s and from 11 s to the end at 19.8 s."""
    pauses = [
        StoredAction(1, 3.0, 1e9, 5, "pause"), StoredAction(2, 11.5, 1e9, 6, "resume"),
        StoredAction(3, 12.0, 1e9, 7, "pause"), StoredAction(4, 12.1, 1e9, 8, "undo", target=3),
        StoredAction(5, 18.8, 1e9, 9, "pause"),
    ]  # fmt: skip
    report = make_report(SESSION, replace(CONTENTS, actions=tuple(pauses)), STEPS)
    assert [(visit.step, round(visit.seconds, 3)) for visit in report.visits] == [(1, 3.0), (-1, 0.0), (1, 7.3)]


JUDGED = replace(CONTENTS, outcomes=(StoredOutcome(19.8, "[1, 2]", "[[1, 0.2, 6.0, 4.8], [2, 9.2, 15.0, 5.8]]"),))


def test_what_was_held_to_be_done_at_the_end_is_told_and_not_what_labels_said_on_the_way() -> None:
    """The labels said step 1 twice; looking back the second turn was at step 2."""
    report = make_report(SESSION, JUDGED, STEPS)
    assert [(one.step, one.start, one.end, round(one.seconds, 3), one.still) for one in report.visits] == [
        (1, 0.2, 6.0, 4.8, "a.jpg"),
        (-1, 7.0, 9.0, 2.0, "b.jpg"),  # a look back knows nothing of what is unknown
        (2, 9.2, 15.0, 5.8, None),
    ]
    assert [one.confidence for one in report.visits] == [0.9, 0.6, 0.0]
    steps = [row for row in csv.DictReader(to_csv(report).splitlines()) if row["what"] == "step"]
    assert [(row["step"], row["start_s"]) for row in steps] == [
        ("cut", "0.2"), ("unknown activity", "7.0"), ("fold", "9.2"),
    ]  # fmt: skip


def test_a_report_counts_each_step_that_was_done_once() -> None:
    assert "1 step done" in to_html(make_report(SESSION, CONTENTS, STEPS), {})
    assert "2 steps done" in to_html(make_report(SESSION, JUDGED, STEPS), {})


def test_a_report_begins_with_the_verdict_where_there_is_one() -> None:
    assert 'class="verdict' not in to_html(make_report(SESSION, JUDGED, STEPS), {})
    words = "Not complete: <fold> missed"
    ended = StoredOutcome(19.8, "[1]", "[]", "not_complete", words)
    report = make_report(replace(SESSION, verdict=words), replace(CONTENTS, outcomes=(ended,)), STEPS)
    page = to_html(report, {})
    assert '<p class="verdict not_complete">Not complete: &lt;fold&gt; missed</p>' in page
    assert page.index('class="verdict') < page.index("<h2>")
    assert to_plain(report)["verdict"] == words


def test_what_came_before_somebody_began_anew_stays_as_it_was_confirmed() -> None:
    restart = StoredAction(4, 3.0, 1e9, 15, "restart")
    report = make_report(SESSION, replace(JUDGED, actions=(restart,)), STEPS)
    first = report.visits[0]
    assert (first.step, first.start, first.end) == (1, 0.0, 3.0)
    undone = replace(JUDGED, actions=(restart, StoredAction(5, 4.0, 1e9, 20, "undo", target=4)))
    assert make_report(SESSION, undone, STEPS).visits[0].start == 0.2

"""The page: whole, self-contained, every name escaped, one colour a step."""

from __future__ import annotations

import re
from base64 import b64decode
from html.parser import HTMLParser
from pathlib import Path

import cv2
import numpy as np
import pytest

from offline.features import RecordingFeatures
from offline.metrics import Score
from offline.study.evaluation.bars import MOST_COLUMNS, coloured, draw, step_colours, stretches
from offline.study.evaluation.evaluation_report import make_report_tables
from offline.study.evaluation.methods import Method
from offline.study.evaluation.page import draw_table, make_page, preselected_methods
from offline.study.evaluation.plan import EvaluateOptions, make_plan
from offline.study.evaluation.run import MethodOutcome, TaskResult
from offline.study.evaluation.scoring import expectation, score
from offline.study.evaluation.task import LabelledTask
from offline.study.tables import ResultTable, Row

HOSTILE = '<script>alert("x")</script>'
TRUTH = np.array([0, 1, 1, 2, 2, 2])
VOID = {"meta", "input", "br", "img"}


class Balanced(HTMLParser):
    """Fails on an element that is closed wrongly or not at all."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def make_results() -> list[TaskResult]:
    seen = RecordingFeatures(HOSTILE, 2.0, np.arange(6) / 2, np.zeros((6, 2), np.float32))
    task = LabelledTask("1", HOSTILE, {1: HOSTILE, 2: 'cut "it"'}, (seen,), (TRUTH,), (HOSTILE,))
    found = {"random": 3 - TRUTH, "equal": TRUTH, "hc": np.array([4, 4, 4, 9, 9, 0])}
    outcomes = tuple(
        MethodOutcome(
            Method(name, "tc3i" if name == "hc" else None), (score([TRUTH], [labels], ("A", "D")),), (labels,)
        )
        for name, labels in found.items()
    )
    return [TaskResult(task, "true", 2, outcomes, expectation([TRUTH], 2, ("A", "D")))]


@pytest.fixture(scope="module")
def page() -> str:
    results = make_results()
    plan = make_plan(EvaluateOptions(features=Path("data"), cluster="hc", seeds=1, protocols="A,D"))
    return make_page(results, make_report_tables(results, plan), f"python -m offline.study.evaluate {HOSTILE}")


def test_the_page_is_whole(page: str) -> None:
    parser = Balanced()
    parser.feed(page)
    parser.close()
    assert parser.open == []


def test_names_are_escaped(page: str) -> None:
    assert HOSTILE not in page
    assert page.count("<script>") == 1
    assert 'cut "it"' not in page
    assert "&lt;script&gt;" in page


def test_nothing_is_fetched_from_anywhere(page: str) -> None:
    assert not re.search(r'https?:|src="(?!data:image/png;base64,)|@import|url\(', page)


def test_truth_and_every_method_have_a_bar(page: str) -> None:
    assert re.findall(r'<div class="row[^>]*data-method="([^"]*)"', page) == ["truth", "random", "equal", "tc3i + hc"]
    assert page.count('class="bar"') == 4


def test_found_steps_take_the_colours_of_the_true_ones_they_match() -> None:
    (labels,) = coloured([TRUTH], [np.array([4, 4, 4, 9, 9, 0])])
    assert labels.tolist() == [1, 1, 1, 2, 2, 0]
    bar = draw(labels, {1: "a", 2: "b"}, "x")
    assert re.findall(r'style="left:([\d.]+)%;width:([\d.]+)%">(.)</b>', bar) == [
        ("0.0", "50.0", "1"),
        ("50.0", "33.3", "2"),
    ]
    assert shown(bar) == [colour(1), colour(1), colour(1), colour(2), colour(2), (0, 0, 0, 0)]


def colour(step: int) -> tuple[int, ...]:
    text = step_colours([1, 2])[step][0]
    return (*(int(text[place : place + 2], 16) for place in (1, 3, 5)), 255)


def shown(bar: str) -> list[tuple[int, ...]]:
    """The colours of a bar's picture, column by column, as another program reads them."""
    found = re.search(r'src="data:image/png;base64,([^"]*)"', bar)
    assert found is not None
    read = cv2.imdecode(np.frombuffer(b64decode(found[1]), np.uint8), cv2.IMREAD_UNCHANGED)
    assert read is not None
    return [(red, green, blue, opaque) for blue, green, red, opaque in read[0].tolist()]


def test_numbers_without_room_on_a_narrow_screen_are_marked_as_small(page: str) -> None:
    bar = draw(np.repeat([1, 2, 1], [50, 45, 5]), {1: "a", 2: "b"}, "x")
    assert re.findall(r"<b(?: class=\"([^\"]*)\")? style[^>]*>(\d?)</b>", bar) == [
        ("", "1"),
        ("dark", "2"),
        ("small", "1"),
    ]
    assert ".bar b.small{font-size:0}" in page
    assert ".bar b.dark{" in page


def test_a_step_without_a_partner_has_the_colour_of_none() -> None:
    (labels,) = coloured([TRUTH], [np.array([1, 1, 3, 2, 2, 2])])
    assert [stretch.mark for stretch in stretches(labels, {1: "a", 2: "b"})] == ["1", "+", "2"]
    assert shown(draw(labels, {1: "a", 2: "b"}, "x"))[2] == (0x4A, 0x4A, 0x52, 255)


def test_bars_of_random_labels_make_no_heavy_page() -> None:
    labels = np.random.default_rng(0).integers(1, 8, 7200)
    assert len(draw(labels, dict.fromkeys(range(1, 8), "a step"), "random on an hour")) < 1600


@pytest.mark.parametrize("count", [1, 40, 256, 257, 700, 60_000])
def test_every_column_of_a_bar_has_the_colour_of_its_label(count: int) -> None:
    """Of more colours than a palette holds too; of more frames than columns, each column that amid it."""
    labels = np.arange(count) % 700
    colours = step_colours(range(1, 700))
    middle = (
        (2 * np.arange(MOST_COLUMNS) + 1) * count // (2 * MOST_COLUMNS) if count > MOST_COLUMNS else np.arange(count)
    )
    text = [colours.get(label, ("",))[0] for label in labels[middle].tolist()]
    wanted = [(*bytes.fromhex(one[1:]), 255) if one else (0, 0, 0, 0) for one in text]
    assert shown(draw(labels, dict.fromkeys(range(1, 700), "a step"), "x")) == wanted


def test_a_recording_without_frames_has_no_stretches() -> None:
    assert stretches(np.zeros(0, np.int64), {}) == []
    assert "<img" not in draw(np.zeros(0, np.int64), {}, "x")


@pytest.mark.parametrize("count", [1, 2, 7, 12, 30])
def test_every_step_has_a_colour_of_its_own_and_ink_that_can_be_read(count: int) -> None:
    colours = step_colours(range(1, count + 1))
    assert len(set(colours.values())) == count
    for colour, ink in colours.values():
        lighter, darker = sorted((luminance(colour), luminance({"#fff": "#ffffff", "#111": "#111111"}[ink])))[::-1]
        assert (lighter + 0.05) / (darker + 0.05) > 3


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_best_of_ours_is_marked_and_published_and_labelled_rows_never() -> None:
    def scores(f1: float) -> dict[str, list[Score]]:
        return {"D": [Score.of(f1, f1, f1)]}

    rows = (
        Row("4 labelled", scores(0.8)),
        Row("random", scores(0.1)),
        Row("equal", scores(0.4)),
        Row("hc", scores(0.5)),
        Row("x", scores(0.9), "paper"),
    )
    drawn = draw_table(ResultTable("t", rows, ("D",), ("f1",)))
    assert re.findall(r'class="first best">([\d.]+)', drawn) == ["50.0"]


def test_the_bars_shown_first_are_the_equal_split_and_the_best_of_each_finder() -> None:
    outcomes = make_results()[0].outcomes
    assert preselected_methods(outcomes) == {"equal", "tc3i + hc"}

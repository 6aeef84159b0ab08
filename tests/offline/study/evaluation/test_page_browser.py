"""The results page in a real browser: a pointer on a bar is told what is done there, ticks show and hide bars."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page

from offline.features import RecordingFeatures
from offline.study.evaluation.evaluation_report import make_report_tables
from offline.study.evaluation.methods import Method
from offline.study.evaluation.page import make_page
from offline.study.evaluation.plan import EvaluateOptions, make_plan
from offline.study.evaluation.run import MethodOutcome, TaskResult
from offline.study.evaluation.scoring import expectation, score
from offline.study.evaluation.task import LabelledTask
from tests.dashboard import browse

pytestmark = pytest.mark.browser

TRUTH = np.repeat([0, 1, 2], [20, 50, 30])
FOUND = {
    "random": np.tile([1, 2], 50),
    "equal": np.repeat([5, 6], 50),
    "correspond": np.repeat([4, 9, 7], [60, 30, 10]),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    seen = RecordingFeatures("one", 2.0, np.arange(100) / 2, np.zeros((100, 2), np.float32))
    task = LabelledTask("tea", "tea", {1: "boil water", 2: "pour <it>"}, (seen,), (TRUTH,))
    outcomes = tuple(
        MethodOutcome(
            Method(name, "tc3i" if name == "correspond" else None), (score([TRUTH], [labels], ("D",)),), (labels,)
        )
        for name, labels in FOUND.items()
    )
    results = [TaskResult(task, "true", 2, outcomes, expectation([TRUTH], 2, ("D",)))]
    plan = make_plan(EvaluateOptions(features=Path("data"), cluster="correspond", seeds=1, protocols="D"))
    path = tmp_path_factory.mktemp("page") / "results.html"
    path.write_text(make_page(results, make_report_tables(results, plan), "a command"), encoding="utf-8")
    return path


def told(page: Page, method: str, share: float) -> str:
    """What the page says with the pointer at this share of a bar."""
    bar = page.locator(f'.row[data-method="{method}"] .bar')
    bar.scroll_into_view_if_needed()
    box = bar.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
    return page.locator("#said").inner_text()


@pytest.mark.parametrize("width_px", [1280, 390])
def test_bars_can_be_read_with_a_pointer_and_chosen(place: Path, width_px: int) -> None:
    with browse(width_px) as page:
        page.goto(place.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width_px
        assert told(page, "truth", 0.1) == "truth of one: background, 0.0 to 10.0 s"
        assert told(page, "truth", 0.5) == "truth of one: 1 boil water, 10.0 to 35.0 s"
        assert told(page, "truth", 0.9) == "truth of one: 2 pour <it>, 35.0 to 50.0 s"
        assert told(page, "tc3i + correspond", 0.95) == (
            "tc3i + correspond on one: + a found step without a true partner, 45.0 to 50.0 s"
        )
        page.mouse.move(1, 1)
        assert page.locator("#said").is_hidden()
        assert page.locator('.row[data-method="random"]').is_hidden()
        page.get_by_role("button", name="all").click()
        assert page.locator('.row[data-method="random"]').is_visible()

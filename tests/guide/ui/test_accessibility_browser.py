"""Every page in a real browser for people who see, hear or move otherwise: axe finds nothing serious, keys suffice."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard import require_axe, serious_findings, settle
from tests.live_app import App, live_app, new_page
from tests.tiny import Learned

pytestmark = pytest.mark.browser

PAGES = ("", "learn", "review", "sessions", "bundles")


@pytest.fixture(scope="module")
def app(frames_task: Learned, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    require_axe()
    with live_app(frames_task, tmp_path_factory.mktemp("access")) as made:
        yield made


def open_page(app: App, path: str, is_dark: bool, width_px: int = 1280) -> Page:
    page = new_page(app.browser, width_px, 800, is_dark)
    page.goto(f"{app.address}/{path}")
    expect(page.locator(".stMain :is(h2, h3)").first).to_be_visible()
    settle(page)
    return page


@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
def test_nothing_serious_is_found_on_any_page(app: App, is_dark: bool) -> None:
    found = {}
    for path in PAGES:
        page = open_page(app, path, is_dark)
        found[path] = serious_findings(page)
        if path == "review":
            page.get_by_text("Label a recording").first.click()
            expect(page.frame_locator("iframe[title*='guide_timeline']").locator(".part").first).to_be_visible()
            settle(page)
            found["labelling"] = serious_findings(page)
        page.context.close()
    assert {path: each for path, each in found.items() if each} == {}


def test_nothing_serious_is_found_while_somebody_is_guided(app: App) -> None:
    page = open_page(app, "", is_dark=False, width_px=390)
    page.get_by_role("button", name="Play the demo").click()
    expect(page.locator(".guide-visits li").first).to_be_visible()
    assert serious_findings(page) == []
    page.set_viewport_size({"width": 1280, "height": 800})
    assert serious_findings(page) == []
    page.get_by_role("button", name="Acknowledge").first.click()
    expect(page.locator(".guide-alert", has_text="seen").first).to_be_visible()
    settle(page)
    assert serious_findings(page) == []  # what was answered stands back, but can be read
    page.context.close()


def test_the_demo_is_started_and_an_alert_answered_with_the_keyboard_alone(app: App) -> None:
    page = open_page(app, "?new=1", is_dark=False)
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.st-key-play_demo button:focus-visible')"):
            break
    page.keyboard.press("Enter")
    expect(page.locator(".guide-now").first).to_be_visible()
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Go on")).to_be_visible()
    page.context.close()

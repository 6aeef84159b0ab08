"""The password in a real browser: asked for once, kept over a reload, asked of everybody else."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from guide.ui.password import PasswordHash
from tests.dashboard import browse, require_chromium, serve

pytestmark = pytest.mark.browser


def give(page: Page, password: str) -> None:
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()


def test_a_password_is_asked_for_once_in_each_browser(tmp_path: Path) -> None:
    require_chromium()
    with serve(tmp_path, CNC_PASSWORD=PasswordHash.of("correct horse").line()) as address, browse() as page:
        page.goto(address)
        give(page, "wrong horse")
        expect(page.get_by_text("Wrong password.")).to_be_visible()
        assert page.get_by_text("no procedure in").count() == 0
        give(page, "correct horse")
        expect(page.get_by_text("no procedure in")).to_be_visible()
        assert "guide_pass" not in page.evaluate("document.cookie")  # no script reads it
        page.reload()
        expect(page.get_by_text("no procedure in")).to_be_visible()
        page.context.clear_cookies()
        page.reload()
        expect(page.get_by_role("button", name="Log in")).to_be_visible()


def test_on_a_phone_the_list_of_pages_goes_away_once_one_was_chosen(tmp_path: Path) -> None:
    require_chromium()
    with serve(tmp_path) as address, browse(390, 844) as page:
        page.goto(address)
        expect(page.get_by_text("no procedure in")).to_be_visible()
        page.mouse.click(195, 800)  # on empty space
        page.keyboard.press("k")
        frame = "getComputedStyle(document.querySelector('.stMain:focus-visible'), '::before').boxShadow"
        page.wait_for_function(f"{frame} === 'none'")  # once the page's own style has come
        page.get_by_test_id("stExpandSidebarButton").click()
        page.get_by_test_id("stSidebar").get_by_text("Sessions").click()
        expect(page.get_by_test_id("stSidebar").get_by_text("Sessions")).not_to_be_in_viewport()
        expect(page.get_by_test_id("stExpandSidebarButton")).to_be_visible()
        page.reload()
        expect(page.get_by_test_id("stExpandSidebarButton")).to_be_visible()


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_dashboard_that_was_stopped_is_told_in_plain_words(tmp_path: Path, host: str) -> None:
    require_chromium()
    with browse() as page:
        with serve(tmp_path) as address:
            page.goto(address.replace("127.0.0.1", host))
            expect(page.get_by_text("no procedure in")).to_be_visible()
        expect(page.get_by_text("The dashboard was stopped")).to_be_visible(timeout=30_000)
        expect(page.get_by_text("yourscript.py")).not_to_be_visible()

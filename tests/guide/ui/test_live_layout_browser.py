"""How the Live page stands in a real browser: nothing jumps, nothing is left over, a camera that went away is told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from guide.ui.server import ServerKeeper
from tests.dashboard import settle
from tests.live_app import App, first_page, live_app, new_page, play, quiet_headset
from tests.tiny import Learned

pytestmark = pytest.mark.browser

LONG = "fit the long green board with its eleven screws into the case and press it down"


@pytest.fixture(scope="module")
def app(frames_task: Learned, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    with live_app(frames_task, tmp_path_factory.mktemp("layout")) as made:
        yield made


@pytest.fixture
def page(app: App) -> Iterator[Page]:
    with first_page(app) as opened:
        yield opened


def top(page: Page, part: str) -> float:
    """Where a part begins, once it has stood still for ten frames: a page just drawn may settle by a few pixels."""
    return float(
        page.locator(part).first.evaluate(
            """async (each) => {
              let at = NaN;
              for (let still = 0, seen = 0; still < 10; seen++) {
                await new Promise(requestAnimationFrame);
                if (seen > 600 || !each.isConnected) throw new Error("it does not come to rest");
                const now = each.getBoundingClientRect().top;
                still = now === at ? still + 1 : 0;
                at = now;
              }
              return at;
            }"""
        )
    )


def test_the_form_goes_away_at_once_when_something_is_started(page: Page) -> None:
    expect(page.locator(".st-key-guide")).to_be_visible()
    page.evaluate(
        """() => {
          window.isBoth = false;
          const has = (part) => document.querySelector(part) !== null;
          const look = () => {
            if (has(".st-key-guide") && has(".st-key-head")) window.isBoth = true;
            requestAnimationFrame(look);
          };
          look();
        }"""
    )
    page.get_by_role("button", name="Play the demo").click()
    expect(page.get_by_text("Starting")).to_be_visible()
    expect(page.locator(".guide-now")).to_be_visible()
    assert not page.evaluate("window.isBoth")
    expect(page.locator(".st-key-guide")).to_have_count(0)


def test_what_cannot_be_started_is_said_beside_what_was_typed(page: Page) -> None:
    path = page.get_by_label("Path of a video on this machine")
    path.fill("no/such/film.mp4")
    path.press("Enter")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.locator(".st-key-guide [data-testid=stAlert]")).to_contain_text("film.mp4")
    expect(path).to_have_value("no/such/film.mp4")


def test_long_names_move_nothing(app: App, page: Page) -> None:
    play(page)
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".guide-now.paused")).to_be_visible()
    page.get_by_role("button", name="Acknowledge").first.click()
    expect(page.locator(".guide-next strong")).to_be_visible()  # the next step has its place again
    settle(page)
    before = top(page, ".st-key-body")
    page.evaluate(
        """(words) => {
          const box = document.querySelector(".guide-next");
          box.querySelector("strong").textContent = words;
          box.querySelector(".guide-why").textContent = words;
          box.querySelector("ul").innerHTML = `<li>${words}</li><li>${words}</li>`;
        }""",
        LONG,
    )
    assert abs(top(page, ".st-key-body") - before) < 2
    expect(page.locator(".guide-next strong")).to_have_text(LONG)
    phone = new_page(app.browser, 390, 844)
    phone.goto(app.address)
    expect(phone.locator(".guide-now.paused")).to_be_visible()
    before = top(phone, ".st-key-top")
    phone.locator(".guide-head").evaluate("(each, words) => { each.textContent = words }", LONG)
    assert top(phone, ".st-key-top") == before
    expect(phone.locator(".guide-head")).to_have_text(LONG)
    phone.context.close()


def test_a_phone_that_went_away_is_told_where_the_step_stood(app: App, page: Page) -> None:
    client = ServerKeeper(app.task.exported, app.task.data).connect()
    age = page.locator(".guide-health b[data-number=age_s]")
    with quiet_headset(client) as (session, stop):
        page.goto(f"{app.address}/?session={session}")
        page.wait_for_function("Number(document.querySelector('.guide-health b')?.innerText) > 5")
        stop()
        expect(page.locator(".guide-now.lost")).to_contain_text("No pictures come")
        expect(page.locator(".guide-now.lost")).to_contain_text("sends nothing any more")
        old = float(age.inner_text().split()[0])
        assert old > 3
        page.wait_for_function(
            f"parseFloat(document.querySelector('.guide-health b[data-number=age_s]').innerText) > {old}"
        )

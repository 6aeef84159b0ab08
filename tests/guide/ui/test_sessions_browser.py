"""Sessions in a real browser: replay from an alert, a hostile name that stays text, exports that arrive."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from guide.record.values import StoredPicture
from guide.ui.state.sessions import LEAD_S
from tests.dashboard import ROOT, browse, keep_screenshot, require_chromium, serve, settle
from tests.kept_sessions import ALERT_AT, FIRST, NAMES, SECOND, keep_session
from tests.synth import grey_levels, steady, write_video

HOSTILE = "<img src=x onerror=alert(1)>"
CURRENT_TIME = "document.querySelector('video').currentTime"
# Playing on would make the moment depend on how quick the machine is.
STAND_STILL = "HTMLMediaElement.prototype.play = function () { return Promise.resolve() }"

pytestmark = pytest.mark.browser


@pytest.fixture(autouse=True)
def chromium() -> None:
    require_chromium()


def open_replay(page: Page, address: str) -> None:
    page.add_init_script(STAND_STILL)
    page.goto(f"{address}/sessions")
    settle(page)
    page.get_by_text("Replay", exact=True).click()
    page.wait_for_function("document.querySelector('video')?.readyState >= 2")
    settle(page)


def test_a_click_on_an_alert_lands_three_seconds_before_it(tmp_path: Path) -> None:
    keep_session(tmp_path / "sessions", names=(NAMES[0], HOSTILE, *NAMES[2:]), person=HOSTILE)
    with serve(tmp_path) as address, browse() as page:
        open_replay(page, address)
        expect(page.get_by_text(f"▲ out of order: {HOSTILE}")).to_be_visible()
        blocks = page.locator(".block")
        expect(blocks.first).to_have_text(NAMES[0])  # its name where there is room, else nothing
        assert not any(words.isdigit() for words in blocks.all_inner_texts())
        page.get_by_role("button", name=f"Show the moment of: out of order: {HOSTILE}").click()
        assert page.evaluate(CURRENT_TIME) == pytest.approx(ALERT_AT - LEAD_S, abs=0.01)
        expect(page.get_by_text("0:09 between steps")).to_be_visible()
        page.get_by_role("button", name=f"{HOSTILE}, 0:10 to 0:14").click()  # its block on the track
        assert page.evaluate(CURRENT_TIME) == pytest.approx(10.0, abs=0.01)
        expect(page.get_by_text(f"0:10 {HOSTILE}")).to_be_visible()
        assert page.locator("img[src='x']").count() == 0
        with page.expect_download() as coming:
            page.get_by_role("button", name="JSON").click()
        plain = json.loads(Path(coming.value.path()).read_text())
        assert coming.value.suggested_filename == f"{FIRST}-session.json"
        assert plain["person"] == HOSTILE


@pytest.mark.parametrize("across_px", [16, 300])  # the row's box, and a cell
def test_a_session_clicked_in_the_list_is_replayed(tmp_path: Path, across_px: int) -> None:
    keep_session(tmp_path / "sessions", FIRST)
    keep_session(tmp_path / "sessions", SECOND, started=1_893_600_000.0, has_video=False)  # it would be shown unasked
    with serve(tmp_path) as address, browse() as page:
        page.goto(f"{address}/sessions")
        expect(page.get_by_text("2 of 2 sessions")).to_be_visible()
        settle(page)
        page.locator(".dvn-scroller").click(position={"x": across_px, "y": 119})  # in the second row, on a canvas
        expect(page.locator("video")).to_be_visible()
        settle(page)
        page.get_by_text("List", exact=True).click()
        expect(page.get_by_text("Click a session to replay it.")).to_be_visible()
        expect(page.locator("video")).to_have_count(0)


def test_an_alert_in_another_part_of_the_video_is_reached(tmp_path: Path) -> None:
    """The disk refused in the middle, so the video has two parts; the second begins at 5 s."""
    data = tmp_path / "sessions"
    keep_session(data, more=(StoredPicture(5.0, "video", 2, "video-2.mp4"),))
    write_video(data / FIRST / "video-2.mp4", grey_levels(75), steady(75, 5))
    with serve(tmp_path) as address, browse() as page:
        open_replay(page, address)
        expect(page.get_by_text("Part 2")).to_be_visible()
        first = page.evaluate("document.querySelector('video').src")
        page.get_by_role("button", name="Show the moment of: out of order: open case").click()
        page.wait_for_function(f"document.querySelector('video').src !== {first!r} && {CURRENT_TIME} > 0")
        assert ALERT_AT - LEAD_S <= page.evaluate(CURRENT_TIME) + 5.0 + 0.01 < ALERT_AT + LEAD_S, (
            "it may play on by itself"
        )


@pytest.mark.skipif(os.environ.get("CNC_SCREENSHOTS") != "1", reason="CNC_SCREENSHOTS=1 takes the screenshots")
def test_screenshot(tmp_path: Path) -> None:
    """Leaves docs/dashboard-sessions.png: a session of the demo in which a step is missed, recorded for it."""
    video = ROOT / ".cache" / "demo" / "live" / "02_missed.mp4"
    if not video.is_file() or not (ROOT / "exported" / "demo").is_dir():
        pytest.skip("the screenshot shows the demo, which is not built: run make demo first.")
    options = ["--bundle", "exported/demo", "--record", "--data", str(tmp_path / "sessions"), "--person", "shift 2"]
    subprocess.run([sys.executable, "-m", "guide", "watch", str(video), *options], cwd=ROOT, check=True)
    with serve(tmp_path) as address, browse() as page:
        open_replay(page, address)
        page.get_by_role("button", name="Show the moment of").first.click()
        page.wait_for_function("!document.querySelector('video').seeking")
        expect(page.get_by_text("insert battery", exact=False).first).to_be_visible()
        # Without its controls: a video that is to play and is kept from it shows a ring.
        page.evaluate("document.querySelector('video').controls = false")
        settle(page)
        keep_screenshot(page, "dashboard-sessions")

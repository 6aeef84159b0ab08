"""The page of the fleet in a real browser, before a real gateway and two real replicas."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from guide.serve.options import ScaleOptions
from tests.dashboard import browse, serve, settle
from tests.fleet import fleet
from tests.live_task import SHOWN, make_live_task
from tests.tiny import Learned

HOSTILE = "<img src=x onerror=alert(1)>"

pytestmark = pytest.mark.browser


def test_sessions_of_all_replicas_and_an_alert_to_acknowledge(frames_task: Learned, tmp_path: Path) -> None:
    task, note = make_live_task(frames_task, tmp_path), tmp_path / "fleet.json"
    with (
        fleet(task.exported / "demo", task.data, ScaleOptions(), note) as (served, _),
        served.connect(HOSTILE) as headset,
        served.connect("quiet") as other,
    ):
        for one in (headset, other):
            one.wait_for("hello", 20.0)
        headset.show(SHOWN, 2.0)
        alert = next(iter(headset.said("alert")), None) or headset.wait_for("alert")
        with serve(tmp_path, CNC_FLEET=str(note)) as address, browse() as page:
            page.goto(address)
            settle(page)
            page.goto(f"{address}/fleet")
            expect(page.get_by_role("heading", name="Fleet", exact=True)).to_be_visible()
            expect(page.get_by_text("2 sessions, ", exact=False)).to_be_visible()
            expect(page.get_by_text("2 of 2 replicas answer", exact=False)).to_be_visible()
            expect(page.get_by_text(f"{alert['title']}, {HOSTILE}", exact=False).first).to_be_visible()
            assert page.locator("img[src='x']").count() == 0
            page.get_by_role("button", name="Acknowledge").first.click()
            taken = headset.wait_for("action", 20.0)
            assert (taken["kind"], taken["target"]) == ("acknowledge", alert["id"])
            expect(page.get_by_text("acknowledged", exact=True).first).to_be_visible()
            page.get_by_role("textbox", name="Search").fill("nobody")
            page.get_by_role("textbox", name="Search").press("Enter")
            expect(page.get_by_text("No session matches", exact=False)).to_be_visible()
        headset.finish()
    with serve(tmp_path) as address, browse() as page:  # who has no fleet sees nothing of it
        page.goto(address)
        settle(page)
        assert page.get_by_role("link", name="Fleet").count() == 0

"""The dashboard in a real browser: the app as `make dashboard` starts it, and Debian's Chromium."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import cv2
import numpy as np
import pytest
from playwright.sync_api import Dialog, Page, expect, sync_playwright

ROOT = Path(__file__).parents[3]
SCREENSHOT = ROOT / "docs" / "dashboard.png"
LARGEST_SCREENSHOT_BYTES = 300_000
SHADES = 32  # of each colour; more cannot be told apart in a document, and take up room
ARGUMENTS = ["--no-sandbox", "--disable-background-networking", "--disable-gpu"]
PATIENCE_S = 60.0
HOSTILE = "<img src=x onerror=alert(1)>"

MakeBundle = Callable[..., Path]

pytestmark = pytest.mark.browser


@pytest.fixture
def chromium() -> str:
    """Where Chromium is; without one the test is left out, or fails where REQUIRE_BROWSER=1 asks for it."""
    found = shutil.which("chromium")
    if found is None:
        reason = "no Chromium was found: install the package chromium."
        if os.environ.get("REQUIRE_BROWSER") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@contextmanager
def serve(exported: Path) -> Iterator[str]:
    """The app on a free port, showing the bundles in `exported`; gives its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "streamlit_app.py"]
    options = ["--server.headless", "true", "--server.address", "127.0.0.1", "--server.port", str(port)]
    environment = {**os.environ, "CNC_EXPORTED": str(exported), "CNC_DATA": str(exported / ".data")}
    with subprocess.Popen(command + options, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL) as server:
        try:
            wait_until_up(f"http://127.0.0.1:{port}/_stcore/health", server)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(10)


def wait_until_up(address: str, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until and server.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail("the dashboard did not start")


@contextmanager
def browse(chromium: str) -> Iterator[Page]:
    """An empty page as large as a small laptop's."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.set_default_timeout(1000 * PATIENCE_S)
        expect.set_options(timeout=1000 * PATIENCE_S)
        yield page
        browser.close()


def test_a_newcomer_sees_the_steps_and_a_hostile_name_stays_text(
    chromium: str, make_bundle: MakeBundle, tmp_path: Path
) -> None:
    make_bundle(tmp_path / "box", names=(HOSTILE, "open case", "fit board", "close lid"))
    dialogs: list[str] = []

    def note(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    with serve(tmp_path) as address, browse(chromium) as page:
        page.on("dialog", note)
        page.goto(f"{address}/bundles")
        expect(page.get_by_role("heading", name="box")).to_be_visible()
        for name in (HOSTILE, "open case", "fit board", "close lid"):
            expect(page.get_by_text(name, exact=False).first).to_be_visible()
        expect(page.get_by_alt_text("2 open case, as it was done")).to_be_visible()
        page.get_by_role("tab", name="Orders").click()
        expect(page.locator("svg g.node")).to_have_count(4)
        assert page.locator("img[src='x']").count() == 0
    assert dialogs == []


@pytest.mark.skipif(os.environ.get("CNC_SCREENSHOTS") != "1", reason="CNC_SCREENSHOTS=1 takes the screenshots")
def test_screenshot(chromium: str) -> None:
    """Leaves docs/dashboard.png, a picture of the demo bundle."""
    if not (ROOT / "exported" / "demo" / "manifest.json").is_file():
        pytest.skip("the screenshot shows exported/demo, which is not built: run make demo first.")
    with serve(Path("exported")) as address, browse(chromium) as page:
        page.goto(f"{address}/bundles")
        expect(page.get_by_role("heading", name="demo")).to_be_visible()
        page.wait_for_function("document.images.length && [...document.images].every(each => each.naturalWidth > 0)")
        taken = page.screenshot(animations="disabled")
    picture = cv2.imdecode(np.frombuffer(taken, np.uint8), cv2.IMREAD_COLOR)
    assert picture is not None
    shades = (np.arange(256) * (SHADES - 1) / 255).round() * (255 / (SHADES - 1))
    cv2.imwrite(str(SCREENSHOT), cv2.LUT(picture, shades.round().astype(np.uint8)), [cv2.IMWRITE_PNG_COMPRESSION, 9])
    assert SCREENSHOT.stat().st_size < LARGEST_SCREENSHOT_BYTES

"""The dashboard as `make dashboard` starts it, a real browser in front of it, and its pictures for the documents."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image as Pictures
from playwright.sync_api import Dialog, Page, expect, sync_playwright

ROOT = Path(__file__).parents[1]
AXE = ROOT / ".cache" / "axe" / "axe.min.js"  # MPL 2.0, for tests alone: .ci/run fetches it, nothing of it is shipped
LARGEST_SCREENSHOT_BYTES = 200_000
COLOURS = (256, 160, 96, 64)  # of a picture in a document; more take up room
ARGUMENTS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-gpu",
    "--autoplay-policy=no-user-gesture-required",
]
SOLID = """() => [...document.querySelectorAll('[data-testid=stElementContainer], [data-testid=stCaptionContainer]')]
  .every((one) => Number(getComputedStyle(one).opacity) >= 0.8)"""  # what still fades in is pale
PATIENCE_S = 60.0
LEAVE_S = 40.0  # the dashboard ends its own server first, which closes its recordings


def require_chromium() -> str:
    """Where Chromium is; without one the test is left out, or fails where REQUIRE_BROWSER=1 asks for it."""
    found = shutil.which("chromium")
    if found is None:
        reason = "no Chromium was found: install the package chromium."
        if os.environ.get("REQUIRE_BROWSER") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


def require_axe() -> str:
    """The script that checks a page for people who see, hear or move otherwise; left out where it was not fetched."""
    if not AXE.is_file():
        reason = f"axe-core is not in {AXE.relative_to(ROOT)}: .ci/run fetches it."
        if os.environ.get("REQUIRE_AXE") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return AXE.read_text(encoding="utf-8")


def serious_findings(page: Page) -> list[str]:
    """What axe finds against WCAG 2.1 A and AA that is serious or worse, in the page and in the frames in it."""
    script, found = require_axe(), []
    page.wait_for_function(SOLID)
    for frame in page.frames:
        frame.evaluate(script)
        found += frame.evaluate(
            """async () => {
              const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"];
              const { violations } = await axe.run(document, { iframes: false, runOnly: tags });
              const grave = violations.filter((one) => ["serious", "critical"].includes(one.impact));
              return grave.flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.html.slice(0, 200)}`));
            }"""
        )
    return found


@contextmanager
def serve(folder: Path, **environment: str) -> Iterator[str]:
    """The app on a free port, all its folders within `folder` unless `environment` says otherwise; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "streamlit_app.py"]
    options = ["--server.headless", "true", "--server.address", "127.0.0.1", "--server.port", str(port)]
    chosen = {**os.environ, **_folders(folder), **environment, "PYTHONFAULTHANDLER": "1"}
    # Not `with`: leaving it waits for ever for a server that does not end. A group of its own, for its children too.
    server = subprocess.Popen(
        command + options, cwd=ROOT, env=chosen, stdout=subprocess.DEVNULL, start_new_session=True
    )
    try:
        _wait_until_up(f"http://127.0.0.1:{port}/_stcore/health", server)
        yield f"http://127.0.0.1:{port}"
    finally:
        end(server)


def end(server: subprocess.Popen[bytes], patience_s: float = LEAVE_S) -> None:
    """Ends the server; one that does not end says where it hangs (faulthandler), is killed, and fails the test."""
    server.terminate()
    if _is_gone(server, patience_s):
        return
    server.send_signal(signal.SIGABRT)
    _is_gone(server, patience_s / 4)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGKILL)
    _is_gone(server, patience_s)  # so that it leaves no trace; a stalled disk may keep it even from being killed
    pytest.fail(f"the dashboard did not end within {patience_s:g} s")


def _is_gone(server: subprocess.Popen[bytes], patience_s: float) -> bool:
    try:
        server.wait(patience_s)
    except subprocess.TimeoutExpired:
        return False
    return True


def _folders(folder: Path) -> Mapping[str, str]:
    names = {"CNC_EXPORTED": "exported", "CNC_DATA": "sessions", "CNC_RECORDINGS": "recordings", "CNC_CACHE": "cache"}
    return {variable: str(folder / name) for variable, name in names.items()}


def _wait_until_up(address: str, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until and server.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail("the dashboard did not start")


@contextmanager
def browse(width_px: int = 1280, height_px: int = 720, arguments: Sequence[str] = ()) -> Iterator[Page]:
    """An empty page as large as a small laptop's; a dialog that opens fails the test at the end."""
    dialogs: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=require_chromium(), args=[*ARGUMENTS, *arguments])
        page = browser.new_page(viewport={"width": width_px, "height": height_px})
        page.set_default_timeout(1000 * PATIENCE_S)
        expect.set_options(timeout=1000 * PATIENCE_S)
        page.on("dialog", lambda dialog: _note(dialog, dialogs))
        try:
            yield page
        finally:
            browser.close()
    assert dialogs == []


def settle(page: Page) -> None:
    """Waits until the page has drawn what it was asked for: before, parts of the last drawing may still stand there."""
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")


def go_live(page: Page, address: str, video: Path) -> None:
    """Guides with the one procedure there is, on a recording."""
    page.goto(address)
    path = page.get_by_label("Path of a video on this machine")
    path.fill(str(video))
    path.press("Enter")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.locator(".guide-now")).to_be_visible()
    page.wait_for_function("document.querySelector('.guide-picture img')?.naturalWidth > 0")


def _note(dialog: Dialog, dialogs: list[str]) -> None:
    dialogs.append(dialog.message)
    dialog.dismiss()


def keep_screenshot(page: Page, name: str) -> None:
    """Leaves docs/NAME.png."""
    keep_picture(Pictures.open(BytesIO(page.screenshot(animations="disabled"))), name)


def keep_picture(picture: Pictures.Image, name: str) -> None:
    """Leaves docs/NAME.png, in as many colours as leave it small enough for a document."""
    path = ROOT / "docs" / f"{name}.png"
    for count in COLOURS:
        picture.convert("RGB").quantize(count, dither=Pictures.Dither.NONE).save(path, optimize=True)
        if path.stat().st_size < LARGEST_SCREENSHOT_BYTES:
            return
    pytest.fail(f"{path.name} is larger than {LARGEST_SCREENSHOT_BYTES} bytes: show less of it")

"""The Live page as a newcomer opens it: a dashboard that runs, a browser in front of it, people who act."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Dialog, Page, expect, sync_playwright

from guide.ui.client import Client
from guide.ui.server import ServerKeeper
from tests.dashboard import ARGUMENTS, PATIENCE_S, require_chromium, serve
from tests.live_task import LiveTask, make_live_task
from tests.server import Headset, step_picture
from tests.tiny import Learned

HOSTILE = "<img src=x onerror=alert(1)>"
NAMES = ("lay mat", "open case", HOSTILE, "close lid")
REPEATS = 20  # two minutes: the session outlasts each test


@dataclass(frozen=True, slots=True)
class App:
    """A dashboard that runs, a browser to look at it, and its task."""

    address: str
    browser: Browser
    task: LiveTask

    def client(self) -> Client:
        client = ServerKeeper(self.task.exported, self.task.data).running()
        assert client is not None
        return client

    def running(self) -> list[str]:
        return [str(one["session"]) for one in self.client().sessions() if one["state"] == "running"]


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser without a window, in which several people can have pages."""
    with sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=require_chromium(), args=ARGUMENTS)
        expect.set_options(timeout=1000 * PATIENCE_S)
        try:
            yield launched
        finally:
            launched.close()


def new_page(launched: Browser, width_px: int = 1280, height_px: int = 720, is_dark: bool = False) -> Page:
    """A page with storage of its own: another person's browser."""
    context = launched.new_context(
        viewport={"width": width_px, "height": height_px}, color_scheme="dark" if is_dark else "light"
    )
    page = context.new_page()
    page.set_default_timeout(1000 * PATIENCE_S)
    return page


@contextmanager
def live_app(learned: Learned, place: Path) -> Iterator[App]:
    """A dashboard of its own in `place`, with the demo to play."""
    require_chromium()
    task = make_live_task(learned, place, NAMES, REPEATS, is_said=True)
    shutil.copytree(learned.options.inputs[0], place / "recordings" / "demo")  # clips are cut from these
    with serve(place, **task.environment) as address, browser() as launched:
        yield App(address, launched, task)


@contextmanager
def first_page(app: App) -> Iterator[Page]:
    """The first page, as a newcomer opens it; dialogs and faults of scripts fail the test, sessions are ended."""
    faults: list[str] = []
    opened = new_page(app.browser)

    def note(dialog: Dialog) -> None:
        faults.append(dialog.message)
        dialog.dismiss()

    opened.on("dialog", note)
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("request", lambda request: _require_local(request.url, faults))
    opened.goto(app.address)
    yield opened
    opened.context.close()
    for session in app.running():
        app.client().end(session)
    assert faults == []


def _require_local(url: str, faults: list[str]) -> None:
    if not url.startswith(("http://127.0.0.1:", "blob:", "data:")):
        faults.append(f"the page asked {url}")


def play(page: Page) -> None:
    page.get_by_role("button", name="Play the demo").click()
    expect(page.locator(".guide-alert h4", has_text="Missed")).to_be_visible()


@contextmanager
def quiet_headset(client: Client) -> Iterator[tuple[str, Callable[[], None]]]:
    """A session in which nothing happens but that pictures come, all of them alike; its name, and what ends them."""
    session, ended = str(client.start({"source": "headset:helmet"})["session"]), threading.Event()

    def push() -> None:
        with Headset(client.port, {"token": client.token, "client": "helmet"}) as headset:
            while not ended.wait(0.15):
                headset.frame(step_picture(0))

    pushing = threading.Thread(target=push)
    pushing.start()
    try:
        yield session, ended.set
    finally:
        ended.set()
        pushing.join(PATIENCE_S)
        client.end(session)

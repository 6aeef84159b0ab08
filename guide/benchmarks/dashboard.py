"""`python -m guide.benchmarks.dashboard`: how soon the Live page is of use and a click is seen, what a page costs.

A real dashboard with its own server, and Chromium without a window in front of it, all on this machine.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, ClassVar

from rich.console import Console

from guide.benchmarks.clocks import Span
from guide.benchmarks.figures import Figure, Part, machine, processor
from guide.benchmarks.headsets import read_metrics, stage_times
from guide.commands.entry import entry
from guide.errors import InputError, OutputError
from guide.ui.client import LOCAL, Client
from guide.ui.server import ServerKeeper

MOST_USEFUL_S = 3.0
MOST_CLICK_MS = 300.0
MOST_FLAGGED_S = 45.0
MOST_SLOWER = 1.05
MOST_GROWTH_MB = 20.0
PATIENCE_S = 60.0
ARGUMENTS = ["--no-sandbox", "--disable-background-networking", "--disable-gpu", "--enable-precise-memory-info"]
# From a press of the button to the first picture of the page in which the other one stands in its place.
CLICK = """([words, others]) => new Promise((done) => {
  const find = (wanted) => [...document.querySelectorAll("button")].find((one) => one.innerText.includes(wanted));
  const began = performance.now();
  find(words).click();
  const look = () => find(others) ? done(performance.now() - began) : requestAnimationFrame(look);
  look();
})"""
# When the first picture of the page was drawn in which an alert stands in the place of the step, in seconds since 1970.
ALERTED = """() => new Promise((done) => {
  const look = () => document.querySelector(".guide-now:is(.alarm, .warning)")
    ? requestAnimationFrame(() => done(Date.now() / 1000)) : requestAnimationFrame(look);
  look();
})"""


@dataclass(frozen=True)
class DashboardBenchmarkOptions:
    """Measure the dashboard's Live page on this machine."""

    bundle: Path = Path("exported/demo")
    """The bundle to guide with."""
    video: Path = Path(".cache/demo/live/02_missed.mp4")
    """A recording to play, over and over."""
    openings: int = 3
    """How often the page is opened anew."""
    clicks: int = 10
    """How often Pause and Go on are pressed."""
    faults: int = 2
    """How often the demo is played until its fault is flagged; none where the recording is not the demo's."""
    rounds: int = 4
    """How often the page is closed and opened while the loop is timed."""
    seconds: float = 10.0
    """How long each of these lasts."""
    hours: float = 0.0
    """Measure memory over so many hours of video at full speed instead, with a page open."""

    def __post_init__(self) -> None:
        if (
            min(self.openings, self.clicks, self.rounds, self.faults + 1) < 1
            or not 0 < self.seconds < 1e4
            or not 0 <= self.hours < 100
        ):
            raise InputError(f"at least one opening, click and round and some seconds were expected, got {self}.")
        for path in (self.bundle / "manifest.json", self.video):
            if not path.is_file():
                raise InputError(f"{path} was expected: run make demo first, or give --bundle and --video.")


def main(options: DashboardBenchmarkOptions) -> None:
    """Runs the command."""
    console = Console(highlight=False, markup=False, soft_wrap=True)
    console.print(machine())
    with (
        tempfile.TemporaryDirectory() as folder,
        _dashboard(options, Path(folder)) as (address, pid),
        _browser() as browser,
    ):
        keeper = ServerKeeper(options.bundle.parent, Path(folder))
        if options.hours:
            part = _memory(options, address, pid, browser, keeper)
        else:
            part = _times(options, address, browser, keeper)
    console.print("\n" + part.text())


def _times(options: DashboardBenchmarkOptions, address: str, browser: Any, keeper: ServerKeeper) -> Part:
    first, *others = (_useful_s(browser, address) for _ in range(options.openings + 1))
    client = keeper.connect()
    session = _start(client, options.video, options)
    page = _follow(browser, address)
    clicks = _clicks_ms(page, options.clicks)
    page.context.close()
    client.end(session)
    flagged = [_flagged(browser, address, client) for _ in range(options.faults)]
    frame_ms = 1e3 / client.state(session)["health"]["rate"]
    closed, open_ = _loop_ms(options, address, browser, client, keeper)
    return Part(
        "The dashboard's Live page", processor(),
        (
            Figure("first page of use, first opening", first, "s", most=MOST_USEFUL_S),
            Figure("first page of use, later, median", median(others), "s", most=MOST_USEFUL_S),
            Figure("a click is seen, median", median(clicks), "ms", most=MOST_CLICK_MS),
            Figure("a click is seen, slowest", max(clicks), "ms"),
            *(figure for one in flagged for figure in (
                Figure("from a click on the first page to its first alert", one.click_s, "s", most=MOST_FLAGGED_S),
                Figure("of that, until the session was begun", one.begun_s, "s"),
                Figure("the alert is on screen after a listener hears it", 1e3 * one.shown_s, "ms", most=frame_ms),
            )),
            Figure("time a frame, page closed", 1e3 * median(one.wall_s for one in closed), "ms"),
            Figure("time a frame, page open", 1e3 * median(one.wall_s for one in open_), "ms"),
            Figure("open over closed, clock", _ratio(closed, open_, "wall_s"), most=MOST_SLOWER),
            Figure("open over closed, processor", _ratio(closed, open_, "cpu_s")),
        ),
        (
            f"{options.rounds} rounds of {options.seconds:g} s closed and as long open, by turns; ratios are medians",
            "the clock waits for the browser and all others on these cores; the processor is that of the server alone",
        ),
    )  # fmt: skip


def _ratio(closed: list[Span], open_: list[Span], what: str) -> float:
    """Open over closed, each round by itself: what else the machine does changes from round to round."""
    return float(
        median(getattr(second, what) / getattr(first, what) for first, second in zip(closed, open_, strict=True))
    )


def _useful_s(browser: Any, address: str) -> float:
    """Seconds from opening the first page to the button that starts something."""
    page = browser.new_context(viewport={"width": 1280, "height": 720}).new_page()
    began = time.monotonic()
    page.goto(address)
    page.get_by_role("button", name="Start", exact=True).wait_for(timeout=1000 * PATIENCE_S)
    took = time.monotonic() - began
    page.context.close()
    return took


@dataclass(frozen=True, slots=True)
class Flagged:
    """Seconds from a click on the first page to the session and to its first alert, and from alert to screen.

    >>> Flagged(40.0, 2.0, 0.03).begun_s
    2.0
    """

    click_s: float
    begun_s: float
    shown_s: float


def _flagged(browser: Any, address: str, client: Client) -> Flagged:
    """Plays the demo as a newcomer does, until the page shows the alert that a listener beside it hears of."""
    page = browser.new_context(viewport={"width": 1280, "height": 720}).new_page()
    page.goto(address)
    page.set_default_timeout(2e3 * PATIENCE_S)
    play = page.get_by_role("button", name="Play the demo")
    play.wait_for()
    clicked = time.time()
    play.click()
    page.wait_for_url("**/?session=*")
    session, begun = page.url.partition("session=")[2], time.time()
    with ThreadPoolExecutor(1) as listener:
        heard = listener.submit(_heard_at, client.live_numbers(session, LOCAL))
        page.locator(".guide-now").wait_for()
        shown = float(page.evaluate(ALERTED))
        raised = heard.result(PATIENCE_S)
    page.context.close()
    client.end(session)
    return Flagged(shown - clicked, begun - clicked, shown - raised)


def _heard_at(numbers: str) -> float:
    """When the live numbers first bring an alert, in seconds since 1970."""
    with urllib.request.urlopen(numbers, timeout=PATIENCE_S) as stream:
        for line in stream:
            if line.startswith(b"data: ") and json.loads(line[6:])["loud"] is not None:
                return time.time()
    raise OutputError("no alert came: --video must be one of the demo's recordings with a fault.")


def _clicks_ms(page: Any, count: int) -> list[float]:
    found = []
    for _ in range(count):
        for words, others, effect in (("Pause", "Go on", ".paused"), ("Go on", "Pause", ":not(.paused)")):
            found.append(float(page.evaluate(CLICK, [words, others])))
            page.locator(f".guide-now{effect}").wait_for()  # the rest of the page follows
    return found


def _loop_ms(
    options: DashboardBenchmarkOptions, address: str, browser: Any, client: Client, keeper: ServerKeeper
) -> tuple[list[Span], list[Span]]:
    """What the loop spends on a frame in every round, without a page and with one."""
    closed, open_ = [], []
    pid = int(json.loads(keeper.note.read_text(encoding="utf-8"))["pid"])
    for _ in range(options.rounds):
        session = _start(client, options.video, options)
        time.sleep(2.0)  # the window fills
        closed.append(_frame_cost(client, pid, options.seconds))
        page = _follow(browser, address)
        time.sleep(2.0)  # loading the page is no part of it
        open_.append(_frame_cost(client, pid, options.seconds))
        page.context.close()
        client.end(session)
    return closed, open_


def _frame_cost(client: Client, pid: int, seconds: float) -> Span:
    """What a frame takes: wall clock of the loop, and processor time of the whole server."""

    def read() -> tuple[float, float, float]:
        return *stage_times(read_metrics(client.port, client.token), "see"), _processor_s(pid)

    before = read()
    time.sleep(seconds)
    frames, clock_s, processor_s = (later - early for early, later in zip(before, read(), strict=True))
    return Span(clock_s / max(frames, 1.0), processor_s / max(frames, 1.0))


def _processor_s(pid: int) -> float:
    """Processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory(options: DashboardBenchmarkOptions, address: str, pid: int, browser: Any, keeper: ServerKeeper) -> Part:
    """Memory of server, dashboard and tab after the first tenth and at the end, one session after another.

    The video is shown at full speed, and the page stays open: it is led from one session to the next.
    """
    client = keeper.connect()
    seen_s, first, last = 0.0, None, MemoryHeld()
    page = None
    while seen_s < 3600 * options.hours:
        session = _start(client, options.video, options, realtime=False)
        page = page or _follow(browser, address)
        page.goto(f"{address}/?session={session}") if seen_s else None
        while (state := client.state(session))["state"] == "running":
            time.sleep(0.5)
        seen_s += float(state["at"])
        last = MemoryHeld.now(client, pid, browser, page)
        first = last if first is None and seen_s >= 360 * options.hours else first
        sys.stderr.write(f"{seen_s / 3600:.2f} h: {last.words()}\n")
    rows = [
        row
        for name in MemoryHeld.NAMES
        for row in (
            Figure(f"{name} after a tenth", getattr(first or last, name), "MB"),
            Figure(f"{name} at the end", getattr(last, name), "MB"),
            Figure(f"{name} grew by", getattr(last, name) - getattr(first or last, name), "MB", most=MOST_GROWTH_MB),
        )
    ]
    title = f"Memory over {seen_s / 3600:.2g} hours of video with the Live page open"
    return Part(title, processor(), tuple(rows), ("the tab is what its script holds, the renderer all of its process",))


@dataclass(frozen=True, slots=True)
class MemoryHeld:
    """Megabytes of memory held: by the server, the dashboard's process, the tab's script, and the tab's process.

    >>> MemoryHeld(200.0, 150.0, 20.0, 180.0).words()
    'server 200 MB, dashboard 150 MB, tab 20 MB, renderer 180 MB'
    """

    NAMES: ClassVar = ("server", "dashboard", "tab", "renderer")

    server: float = 0.0
    dashboard: float = 0.0
    tab: float = 0.0
    renderer: float = 0.0

    @classmethod
    def now(cls, client: Client, pid: int, browser: Any, page: Any) -> MemoryHeld:
        tab = _tab_mb(page)  # first: it collects rubbish
        tool = browser.new_browser_cdp_session()
        processes = tool.send("SystemInfo.getProcessInfo")["processInfo"]
        tool.detach()
        renderers = [_resident_mb(int(one["id"])) for one in processes if one["type"] == "renderer"]
        server = read_metrics(client.port, client.token)["process_resident_memory_bytes"] / 1e6
        return cls(server, _resident_mb(pid), tab, max(renderers, default=0.0))

    def words(self) -> str:
        return ", ".join(f"{name} {getattr(self, name):.0f} MB" for name in self.NAMES)


def _resident_mb(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()[1])
    except OSError:  # it ended meanwhile
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _tab_mb(page: Any) -> float:
    """What the tab's script holds after rubbish was collected."""
    tool = page.context.new_cdp_session(page)
    tool.send("HeapProfiler.collectGarbage")
    held = float(page.evaluate("performance.memory.usedJSHeapSize")) / 1e6
    tool.detach()
    return held


def _start(client: Client, video: Path, options: DashboardBenchmarkOptions, realtime: bool = True) -> str:
    return str(client.start({"source": str(video), "bundle": options.bundle.name, "realtime": realtime})["session"])


def _follow(browser: Any, address: str) -> Any:
    """A page that follows the running session."""
    page = browser.new_context(viewport={"width": 1280, "height": 720}).new_page()
    page.goto(address)
    page.locator(".guide-now").wait_for(timeout=1000 * PATIENCE_S)
    page.wait_for_function("document.querySelector('.guide-picture img')?.naturalWidth > 0")
    return page


@contextmanager
def _dashboard(options: DashboardBenchmarkOptions, data: Path) -> Iterator[tuple[str, int]]:
    """A running dashboard: its address and process."""
    with socket.socket() as free:
        free.bind((LOCAL, 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "streamlit_app.py", "--server.headless", "true",
               "--server.address", LOCAL, "--server.port", str(port)]  # fmt: skip
    environment = {**os.environ, "CNC_EXPORTED": str(options.bundle.parent), "CNC_DATA": str(data),
                   "CNC_DEMO": str(options.video.resolve().parents[1])}  # fmt: skip
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        try:
            _wait(lambda: _answers(f"http://{LOCAL}:{port}/_stcore/health"), process)
            yield f"http://{LOCAL}:{port}", process.pid
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=1):
            return True
    except OSError:
        return False


def _wait(is_so: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not is_so():
        if process.poll() is not None or time.monotonic() > until:
            raise OutputError("the dashboard did not start: run it in the project's folder.")
        time.sleep(0.1)


@contextmanager
def _browser() -> Iterator[Any]:
    """Chromium without a window; its driver is installed with what tests need."""
    place = shutil.which("chromium")
    try:
        driver = importlib.import_module("playwright.sync_api")
    except ModuleNotFoundError as lack:
        raise InputError("the driver of browsers is not installed here: install with the extra dev.") from lack
    if place is None:
        raise InputError("no Chromium was found: install the package chromium.")
    with driver.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=place, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


if __name__ == "__main__":
    entry(DashboardBenchmarkOptions, main)

"""The page for phones, in a real browser with a made-up camera."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import cv2
import pytest
from PIL import Image as Pictures

from guide.domain import Image
from guide.ingest.source import open_source
from guide.serve.picture import decode
from guide.serve.tokens import camera_token
from guide.settings import LiveSettings
from tests.dashboard import ROOT, keep_picture, serious_findings
from tests.live_task import SHOWN, make_live_task
from tests.server import TOKEN, Served, running, step_picture
from tests.tiny import Learned
from tests.waiting import until

pytestmark = pytest.mark.browser
playwright = pytest.importorskip("playwright.sync_api")

CHROMIUM = Path("/usr/bin/chromium")
CAMERA_RATE = 10  # frames a second, as those of the demo
GAP_PX = 24  # between the two halves of the screenshot


def write_camera(path: Path, steps: tuple[int, ...], step_s: float) -> Path:
    """What the camera will show."""
    numbers = range(round(step_s * CAMERA_RATE))
    return write_y4m(path, [decode(step_picture(step, number, 5)) for step in steps for number in numbers])


def write_y4m(path: Path, images: list[Image]) -> Path:
    """Pictures as Chromium's camera takes them; of an MJPEG file it stretches the colours."""
    height_px, width_px = images[0].shape[:2]
    with path.open("wb") as file:
        file.write(f"YUV4MPEG2 W{width_px} H{height_px} F{CAMERA_RATE}:1 Ip A1:1 C420jpeg\n".encode())
        for image in images:
            file.write(b"FRAME\n" + cv2.cvtColor(image, cv2.COLOR_RGB2YUV_I420).tobytes())
    return path


@contextmanager
def phone(served: Served, camera: Path) -> Iterator[Any]:
    """The page on a phone-sized screen, as the address that the server prints opens it, not started yet.

    Faults of its script fail the test.
    """
    if not CHROMIUM.exists():
        pytest.skip("there is no Chromium here")
    arguments = ["--no-sandbox", "--disable-background-networking", "--use-fake-device-for-media-stream",
                 "--use-fake-ui-for-media-stream", f"--use-file-for-fake-video-capture={camera}"]  # fmt: skip
    faults: list[str] = []
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=arguments)
        page = browser.new_page(viewport={"width": 412, "height": 915})
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda request: _require_own(request.url, served, faults))
        page.goto(f"http://127.0.0.1:{served.port}/?token={camera_token(TOKEN)}&client=browser")
        yield page
        browser.close()
    assert faults == []


def _require_own(url: str, served: Served, faults: list[str]) -> None:
    if not url.startswith((f"http://127.0.0.1:{served.port}/", "blob:")):
        faults.append(f"the page asked {url}")


def test_frames_go_out_and_guidance_comes_in(frames_task: Learned, tmp_path: Path) -> None:
    camera = write_camera(tmp_path / "camera.y4m", (1, 4), 3.0)
    with running(frames_task.folder, tmp_path / "data") as served, phone(served, camera) as page:
        assert page.input_value("#client") == "browser"
        page.locator("#procedure", has_text=frames_task.folder.name).wait_for()
        page.click("#go")
        page.locator("#link.up").wait_for(timeout=20_000)
        assert page.inner_text("#what") == frames_task.folder.name
        page.locator("#steps li.here, #steps li.done").first.wait_for(timeout=20_000)
        [session] = served.ask("/sessions").json["sessions"]
        assert session["client"] == "browser"
        page.click("#mute")
        assert page.get_attribute("#mute", "aria-pressed") == "true"
        page.wait_for_timeout(4_000)
        page.click("#end")
        page.click("#end")  # an impatient second press takes the question away from nobody
        page.click("#really")
        page.locator("#link", has_text="ended").wait_for(timeout=20_000)
        shown = served.ask(f"/sessions/{session['session']}").json
        assert shown["state"] == "finished"
        assert shown["health"]["processed"] > 10
        assert page.locator(".alert").count() == len(shown["alerts"])
        for alert in shown["alerts"]:
            assert page.locator(f".alert[data-kind={alert['kind']}]", has_text=alert["name"]).count() >= 1


def test_a_procedure_is_chosen_and_the_screen_is_asked_to_stay_awake(frames_task: Learned, tmp_path: Path) -> None:
    for name in ("kit", "lamp"):
        shutil.copytree(frames_task.folder, tmp_path / "exported" / name)
    camera = write_camera(tmp_path / "camera.y4m", (1,), 2.0)
    with running(tmp_path / "exported" / "kit", tmp_path / "data") as served, phone(served, camera) as page:
        page.evaluate(
            """() => Object.defineProperty(navigator, "wakeLock", {
                value: { request: async (what) => { window.kept = what; } },
            })"""
        )
        page.locator("#procedures").wait_for()
        assert page.locator("#bundle option").all_inner_texts() == ["kit", "lamp"]
        assert page.input_value("#bundle") == "kit"
        page.select_option("#bundle", "lamp")
        page.click("#go")
        page.locator("#what", has_text="lamp").wait_for(timeout=20_000)
        assert page.evaluate("window.kept") == "screen"


def shown(page: Any, part: str) -> dict[str, Any]:
    """A part's box and the size of its letters, in pixels."""
    script = (
        "each => { const b = each.getBoundingClientRect(); return {area: b.width * b.height, height: b.height,"
        " letters: parseFloat(getComputedStyle(each).fontSize)} }"
    )
    return dict(page.locator(part).first.evaluate(script))


@pytest.mark.parametrize(("elapsed_s", "width", "is_late"), [(3.0, "50%", False), (9.0, "100%", True)])
def test_the_bar_under_the_time_is_of_the_step(
    frames_task: Learned, tmp_path: Path, elapsed_s: float, width: str, is_late: bool
) -> None:
    with running(frames_task.bundle.folder, tmp_path / "data") as served, phone(served, tmp_path / "none.y4m") as page:
        step = {"elapsed_s": elapsed_s, "expected_s": {"usual": 5.0, "high": 6.0}}
        page.evaluate("([step, isLate]) => showTimes(step, isLate)", [step, is_late])
        assert page.inner_text("#took") == f"{elapsed_s:.0f} s, usually 5 s"
        assert page.locator("#bar i").evaluate("each => each.style.width") == width
        assert page.get_attribute("#bar", "class") == ("late" if is_late else "")


def test_a_phone_keeps_up_with_the_dashboard(frames_task: Learned, tmp_path: Path) -> None:
    """An alert on the whole screen with its picture, answers and undo, an end that is asked for, a verdict."""
    task = make_live_task(frames_task, tmp_path, is_said=True)
    missed = task.names[task.missed - 1]
    camera = write_camera(tmp_path / "camera.y4m", SHOWN, 3.0)
    with running(task.exported / "demo", tmp_path / "data") as served, phone(served, camera) as page:
        assert served.ask("/page/manifest.json").json["display"] == "standalone"
        page.click("#go")
        page.locator("#loud", has_text="Missed").wait_for(timeout=30_000)
        assert page.inner_text("#loud h2") == f"Go back: {missed}"
        said = page.evaluate("window.guideVoice.said")
        assert f"Missed. Go back: please {missed}." in said  # not the name, which is to be read
        assert all("please" in one for one in said)
        page.wait_for_function("document.querySelector('#loud img')?.naturalWidth > 0")
        page.wait_for_function("document.querySelector('#how')?.naturalWidth > 0")
        page.set_viewport_size({"width": 390, "height": 844})
        page.evaluate("showLink('1043 ms', 'up')")  # a slow network
        page.evaluate("document.querySelector('#what').textContent = 'gearbox assembly'")
        assert shown(page, "header")["height"] < 80  # one row: what is below is what counts
        page.set_viewport_size({"width": 844, "height": 390})  # held sideways
        box = page.locator("#loud button").last.bounding_box()
        assert box["y"] + box["height"] <= 390  # what to do and the answers, without scrolling
        page.set_viewport_size({"width": 412, "height": 915})
        assert shown(page, "#loud")["area"] > max(shown(page, part)["area"] for part in ("#step", "#video", "#all"))
        assert shown(page, "#loud h2")["letters"] > shown(page, "#now")["letters"]
        page.locator("#steps li.missed", has_text=missed).wait_for()
        assert page.locator("#loud button").all_inner_texts() == [
            "Acknowledge", "It was done", "False alarm", "Snooze",
        ]  # fmt: skip
        assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
        session = served.ask("/sessions").json["sessions"][0]["session"]

        def turns() -> list[dict[str, Any]]:
            found: list[dict[str, Any]] = served.ask(f"/sessions/{session}").json["timeline"]
            return found

        page.locator("#visits li", has_text=turns()[0]["name"]).first.wait_for()
        colours = page.locator("#visits li").evaluate_all(
            "each => each.map(one => getComputedStyle(one).borderLeftColor)"
        )
        assert all(one.startswith("rgb(") for one in colours)
        page.locator("#visits li", has_text="↻").filter(has_text="again").first.wait_for(timeout=30_000)  # it is looped
        page.click("#loud button >> text=Acknowledge")
        page.locator("#undo", has_text="Acknowledged").wait_for()
        assert page.locator("#loud").is_hidden()
        page.click("#back")
        page.locator("#loud", has_text="Missed").wait_for()
        page.set_viewport_size({"width": 1280, "height": 720})  # a headset's browser
        assert shown(page, "#loud button")["height"] >= 64
        assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
        until(lambda: len(turns()) > 6, patience_s=60.0)
        assert page.locator("#visits li").count() <= 6  # the newest
        page.click("#end")
        page.wait_for_timeout(500)
        assert served.ask("/sessions").json["sessions"][0]["state"] == "running"  # one tap ends nothing
        page.click("#really")
        page.locator("#step.not_complete", has_text=f"Not complete: {missed} missed").wait_for(timeout=20_000)
        assert page.locator("#visits li").count() == len(turns()) > 6  # all of them
        count, total = (int(word) for word in page.inner_text("#count").split(" steps")[0].split(" of "))
        assert count <= total == 4
        page.click(".alert button >> text=It was done")
        page.locator("#step:not(.not_complete)", has_text="Complete").wait_for()
        page.click("#back")
        page.locator("#step.not_complete").wait_for()


def test_nothing_serious_is_found_for_people_who_see_or_move_otherwise(frames_task: Learned, tmp_path: Path) -> None:
    task = make_live_task(frames_task, tmp_path)
    camera = write_camera(tmp_path / "camera.y4m", SHOWN, 3.0)
    with running(task.exported / "demo", tmp_path / "data") as served, phone(served, camera) as page:
        assert serious_findings(page) == []
        page.click("#go")
        page.locator("#loud", has_text="Missed").wait_for(timeout=30_000)
        assert serious_findings(page) == []
        page.click("#end")
        page.click("#really")
        page.locator("#step.not_complete").wait_for(timeout=20_000)
        assert serious_findings(page) == []


def test_a_question_is_answered_and_an_alert_acknowledged(frames_task: Learned, tmp_path: Path) -> None:
    camera = write_camera(tmp_path / "camera.y4m", (1,), 2.0)
    hostile = "<img src=x onerror=alert(1)>"
    with running(frames_task.folder, tmp_path / "data") as served, phone(served, camera) as page:
        page.click("#go")
        page.locator("#link.up").wait_for(timeout=20_000)
        page.evaluate(
            """(name) => {
                const send = page.socket.send.bind(page.socket);
                page.sent = [];
                page.socket.send = (data) => { if (typeof data === "string") page.sent.push(data); send(data); };
                heard.alert({id: 7, kind: "missed", name, spoken: "", severity: "warning",
                             evidence: "not seen", step: 2, title: `Missed: ${name}`, todo: `Go back: ${name}`,
                             reason: "Not seen.", shows: null});
                heard.question({id: 8, step: 3, text: "Is step 3 done?"});
            }""",
            hostile,
        )
        assert page.inner_text("#loud h2") == f"Go back: {hostile}"
        assert page.locator("#loud img").count() == 0
        page.click("#loud button >> text=Acknowledge")
        page.click("#yes")
        sent = page.evaluate("() => page.sent")
        assert any('"kind":"acknowledge","target":7' in one for one in sent)
        assert any('"kind":"answer","target":8,"answer":true' in one for one in sent)


def test_an_alert_that_was_snoozed_elsewhere_is_shown_again_when_it_comes_again(
    frames_task: Learned, tmp_path: Path
) -> None:
    camera = write_camera(tmp_path / "camera.y4m", (1,), 2.0)
    with running(frames_task.folder, tmp_path / "data") as served, phone(served, camera) as page:
        page.click("#go")
        page.locator("#link.up").wait_for(timeout=20_000)
        page.evaluate(
            """() => {
                page.woken = {id: 7, kind: "repeated", name: "cut", severity: "info", evidence: "twice", step: 2,
                              spoken: "", title: "Done again: cut", todo: "Already done: cut", reason: "", shows: null};
                heard.alert(page.woken);
                heard.action({kind: "snooze", target: 7});
            }"""
        )
        assert page.locator(".alert[data-kind=repeated]").count() == 0
        page.evaluate("() => heard.alert(page.woken)")
        assert page.locator(".alert[data-kind=repeated]").count() == 1


def test_a_lost_connection_is_said_and_taken_up_again(frames_task: Learned, tmp_path: Path) -> None:
    camera = write_camera(tmp_path / "camera.y4m", (1,), 2.0)
    with running(frames_task.folder, tmp_path / "data") as served, phone(served, camera) as page:
        page.click("#go")
        page.locator("#link.up").wait_for(timeout=20_000)
        page.evaluate("() => page.socket.close()")
        page.locator("#link.down").wait_for(timeout=5_000)
        page.locator("#link.up").wait_for(timeout=20_000)
        assert len(served.ask("/sessions").json["sessions"]) == 1


@pytest.mark.parametrize(
    ("fault", "words"),
    [("NotFoundError", "has no camera: plug one in"), ("NotReadableError", "Another program uses the camera")],
)
def test_a_camera_that_cannot_be_used_is_told_in_words(
    frames_task: Learned, tmp_path: Path, fault: str, words: str
) -> None:
    camera = write_camera(tmp_path / "camera.y4m", (1,), 1.0)
    with running(frames_task.folder, tmp_path / "data") as served, phone(served, camera) as page:
        refuse = "async () => { throw new DOMException('', name); }"
        page.evaluate(f"(name) => {{ navigator.mediaDevices.getUserMedia = {refuse}; }}", fault)
        page.click("#go")
        page.locator("#hint", has_text=words).wait_for()
        assert page.locator("#live").is_hidden()


def test_a_wrong_token_is_told_on_the_page_which_tries_again(frames_task: Learned, tmp_path: Path) -> None:
    """It may be right once the server is started anew."""
    camera = write_camera(tmp_path / "camera.y4m", (1,), 2.0)
    with running(frames_task.folder, tmp_path / "data") as served, phone(served, camera) as page:
        page.evaluate("() => query.set('token', 'wrong')")
        page.click("#go")
        page.locator("#notice", has_text="token is wrong").wait_for(timeout=20_000)
        page.evaluate("(token) => query.set('token', token)", camera_token(TOKEN))
        page.locator("#link.up").wait_for(timeout=20_000)


@pytest.mark.skipif(os.environ.get("CNC_SCREENSHOTS") != "1", reason="CNC_SCREENSHOTS=1 takes the screenshots")
def test_screenshot(tmp_path: Path) -> None:
    """Leaves docs/phone.png: a recording in which a step was left out, seen by a phone's camera; its alert, its end."""
    faulty = ROOT / ".cache" / "demo" / "live" / "02_missed.mp4"
    if not faulty.is_file() or not (ROOT / "exported" / "demo").is_dir():
        pytest.skip("the screenshot shows the demo, which is not built: run make demo first.")
    frames = [(frame.at, frame.image) for frame in open_source(str(faulty)).frames()]
    camera = write_y4m(tmp_path / "camera.y4m", [image for _, image in frames])
    with (
        running(ROOT / "exported" / "demo", tmp_path / "data", live=LiveSettings(), threads=0) as served,
        phone(served, camera) as page,
    ):
        page.click("#go")
        page.locator("#loud", has_text="Missed").wait_for(timeout=60_000)
        page.wait_for_timeout(1_000)
        page.wait_for_function("document.querySelector('#loud img')?.naturalWidth > 0")
        during = page.screenshot(animations="disabled")
        at_s = served.ask("/sessions").json["sessions"][0]["at"]
        page.wait_for_timeout(1_000 * max(0.0, frames[-1][0] - at_s - 3.0))
        page.click("#end")
        page.click("#really")
        page.locator("#link", has_text="ended").wait_for(timeout=20_000)
        page.evaluate("scrollTo(0, 0)")
        halves = [Pictures.open(BytesIO(each)) for each in (during, page.screenshot(animations="disabled"))]
        assert page.locator(".alert.alarm[data-kind=missed]").count() == 1
    both = Pictures.new("RGB", (sum(each.width for each in halves) + GAP_PX, halves[0].height), "white")
    both.paste(halves[0], (0, 0))
    both.paste(halves[1], (halves[0].width + GAP_PX, 0))
    keep_picture(both, "phone")

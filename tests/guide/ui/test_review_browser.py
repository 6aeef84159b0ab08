"""The Review page in a real browser: name a step and see the name live; label a recording and relearn."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from guide.bundle import read_bundle
from guide.teach.annotations import read_labels
from tests.dashboard import ROOT, browse, go_live, keep_screenshot, serve, settle
from tests.tiny import Learned, altered

HOSTILE = "<img src=x onerror=alert(1)>"
LOADED = "document.images.length > 8 && [...document.images].every(each => each.naturalWidth > 0)"

pytestmark = pytest.mark.browser


@pytest.fixture
def exported(frames_task: Learned, tmp_path: Path) -> Path:
    altered(frames_task.bundle, tmp_path / "exported" / "box")
    shutil.copytree(frames_task.options.inputs[0], tmp_path / "recordings" / "box")
    return tmp_path / "exported"


def test_a_named_step_is_named_live(exported: Path, tmp_path: Path) -> None:
    names = {1: "colour one", 2: "colour two", 3: HOSTILE, 4: "colour four"}
    with serve(tmp_path, CNC_EXPORTED=str(exported)) as address, browse() as page:
        page.goto(f"{address}/review")
        for number, name in names.items():
            field = page.get_by_label(f"Name of step {number}")
            field.fill(name)
            field.press("Enter")
            expect(page.get_by_text(f"named step {number} “{name}”")).to_be_visible()
        for number in names:
            page.get_by_role("button", name="Change").nth(number - 1).click()
            words = page.get_by_label("The voice says").last
            words.fill(f"do number {number}")
            words.press("Enter")
            expect(page.get_by_text(f"the voice says “do number {number}” of", exact=False)).to_be_visible()
            page.keyboard.press("Escape")
        page.get_by_role("button", name="Make it live").click()
        expect(page.get_by_text("Version 2 is live").first).to_be_visible()
        go_live(page, address, tmp_path / "recordings" / "box" / "02.mp4")
        for number, name in names.items():
            expect(page.locator(".guide-steps li", has_text=f"{number} {name}")).to_be_visible()
        expect(page.locator(".guide-now .guide-name")).to_have_text(
            re.compile("|".join(map(re.escape, names.values())))
        )
        assert page.locator("img[src='x']").count() == 0
        page.wait_for_function("(window.guideVoice?.said || []).some(words => /^do number \\d/.test(words))")


def test_a_recording_is_labelled_with_keys_and_by_dragging_and_relearned(exported: Path, tmp_path: Path) -> None:
    with serve(tmp_path, CNC_EXPORTED=str(exported)) as address, browse(height_px=1000) as page:
        page.goto(f"{address}/review")
        page.get_by_text("Label a recording").first.click()
        timeline = page.frame_locator("iframe[title*='guide_timeline']")
        expect(timeline.locator(".part").first).to_be_visible()
        expect(page.locator(".st-key-review_video video")).to_be_visible()
        assert_seen_on_a_small_laptop(page, timeline.locator("#help"))
        timeline.locator("#bar").click(position={"x": 300, "y": 20})
        page.keyboard.press("Escape")
        timeline.locator("body").press("3")
        expect(timeline.locator(".part", has_text="step 3").first).to_be_visible()
        page.wait_for_timeout(1000)  # the page around it comes to rest, so that the edge stays where it is
        before = width(timeline.locator(".part").first)
        drag(page, timeline.locator(".edge[data-side='end']").first, -60)
        page.wait_for_timeout(1000)
        assert abs(before - width(timeline.locator(".part").first) - 60) < 12
        edge_s = float(str(timeline.locator(".part").first.get_attribute("title")).split(" to ")[1].split()[0])
        shown_s = page.evaluate("document.querySelector('.st-key-review_video video').currentTime")
        assert shown_s == pytest.approx(edge_s, abs=0.1)  # the video followed the edge
        page.get_by_role("button", name="Begin again").click()
        expect(page.get_by_role("button", name="Begin again")).to_be_hidden()
        page.wait_for_timeout(1000)  # what was drawn does not come back
        expect(page.get_by_role("button", name="Begin again")).to_be_hidden()
        assert abs(before - width(timeline.locator(".part").first)) < 3
        timeline.locator("#bar").click(position={"x": 300, "y": 20})
        timeline.locator("body").press("3")
        expect(page.get_by_role("button", name="Begin again")).to_be_visible()
        page.reload()  # nothing that was drawn is lost
        page.get_by_text("Label a recording").first.click()
        expect(timeline.locator(".part", has_text="step 3").first).to_be_visible()
        expect(page.get_by_role("button", name="Begin again")).to_be_visible()
        page.get_by_role("button", name="Save these labels").click()
        expect(page.get_by_text("labelled recording 01 with")).to_be_visible()
        expect(page.get_by_role("combobox", name="Recording")).to_have_value("01 (labelled)")
        page.get_by_role("button", name="Learn the changes").click()
        page.get_by_role("button", name="Try", exact=True).click()
        expect(page.get_by_text(re.compile(r"of \d steps seen"))).to_be_visible()
        expect(page.locator(".block", has_text="step 4").first).to_be_visible()  # its name, not its number alone
        page.get_by_role("combobox", name="Try it on a recording").click()
        page.get_by_role("option", name="another video").click()
        page.locator("input[type=file]").set_input_files(tmp_path / "recordings" / "box" / "02.mp4")  # as if dropped
        expect(page.get_by_label("Path of a video on this machine")).to_have_value(re.compile(r"02\.mp4$"))
        page.get_by_role("button", name="Try", exact=True).click()
        expect(page.get_by_text("in that video")).to_be_visible()
        page.get_by_role("button", name="Make it live").click()
        expect(page.get_by_text("Version 2 is live").first).to_be_visible()
    assert read_bundle(exported / "box").facts["review"]["labelled"] == ["01"]


def test_the_saved_file_holds_what_line_and_table_show(exported: Path, tmp_path: Path) -> None:
    saved = tmp_path / "exported" / ".review" / "box" / "labels" / "01.csv"
    with serve(tmp_path, CNC_EXPORTED=str(exported)) as address, browse(height_px=1000) as page:
        page.goto(f"{address}/review")
        page.get_by_text("Label a recording").first.click()
        line = page.frame_locator("iframe[title*='guide_timeline']")
        expect(line.locator(".part").first).to_be_visible()
        page.get_by_text("Type the times instead").click()
        expect(table(page).first).to_be_attached()
        before = rows(page)
        page.wait_for_timeout(1000)  # the page around it comes to rest, so that the edge stays where it is
        drag(page, line.locator(".edge[data-side='end']").first, -60)
        expect(table(page).first.locator("td").nth(1)).not_to_have_text(f"{before[0][1]:g}")
        settle(page)
        drawn = rows(page)
        assert drawn[0][1] < before[0][1]
        assert drawn[1][0] == drawn[0][1]
        shown = line.locator("#bar .part").first.get_attribute("title")
        assert shown == f"step 1, 0.00 to {drawn[0][1]:.2f} s"
        page.get_by_role("button", name="Save these labels").click()
        expect(page.get_by_text("labelled recording 01 with")).to_be_visible()
        settle(page)
        assert written(saved) == drawn
        assert line.locator("#bar .part").first.get_attribute("title") == shown


def test_saving_labels_moves_nothing(exported: Path, tmp_path: Path) -> None:
    """Not even where it brings a warning; the line is the one that was there, with its past."""
    with serve(tmp_path, CNC_EXPORTED=str(exported)) as address, browse(height_px=800) as page:
        page.goto(f"{address}/review")
        page.get_by_text("Label a recording").first.click()
        frame = page.locator("iframe[title*='guide_timeline']")
        line = page.frame_locator("iframe[title*='guide_timeline']")
        expect(line.locator("#stills canvas[height='92']").last).to_be_visible()
        line.locator(".part", has_text="step 2").first.click()
        line.locator("body").press("0")
        expect(page.get_by_role("button", name="Begin again")).to_be_visible()
        settle(page)
        frame.evaluate("each => { each.dataset.mine = 1 }")
        stood = frame.bounding_box()
        page.get_by_role("button", name="Save these labels").click()
        expect(page.get_by_text("labelled recording 01 with")).to_be_visible()
        expect(page.get_by_text("No labelled recording holds step 2")).to_be_attached()
        settle(page)
        assert frame.bounding_box() == stood
        expect(page.locator("iframe[data-mine]")).to_have_count(1)
        line.locator("body").press("Control+z")
        expect(line.locator(".part", has_text="step 2").first).to_be_visible()
        page.get_by_role("button", name="Undo the last").click()
        expect(page.get_by_text("Nothing is changed until you say so")).to_be_visible()
        settle(page)
        assert frame.bounding_box() == stood


def table(page: Page) -> Locator:
    """The rows of the table: it draws on a canvas, and this is what it gives to screen readers."""
    return page.locator("[data-testid=stDataFrame] canvas tbody tr")


def rows(page: Page) -> list[tuple[float, float, str]]:
    cells = "each => each.map(row => [...row.querySelectorAll('td')].map(one => one.innerText))"
    found = table(page).evaluate_all(cells)
    return [(float(start), float(end), step) for start, end, step in found]


def written(path: Path) -> list[tuple[float, float, str]]:
    return [(one.start, one.end, f"step {one.step}") for one in read_labels(path).segments]


def test_a_step_keeps_its_number_as_its_key_when_others_are_gone() -> None:
    steps = [[1, "1 lay mat", "#fff"], [3, "3 open case", "#fff"], [10, "10 wipe dust", "#fff"]]
    message = {"type": "streamlit:render", "args": {
        "duration": 10, "frame": 0.2, "times": [], "steps": steps, "segments": [[1, 0, 10]], "stamp": 1,
    }}  # fmt: skip
    with browse() as page:
        page.goto((ROOT / "guide" / "ui" / "timeline" / "index.html").as_uri())
        page.evaluate("message => window.postMessage(message)", message)
        expect(page.locator(".chip")).to_have_text(["1lay mat", "3open case", "a10 wipe dust", "0none of them"])
        page.locator("#bar .part").click()
        page.locator("body").press("3")
        expect(page.locator("#bar .part")).to_have_text(["3 open case"])


def test_the_line_is_looked_at_closely_and_changes_are_taken_back(exported: Path, tmp_path: Path) -> None:
    shown_s = "document.querySelector('.st-key-review_video video').currentTime"
    with serve(tmp_path, CNC_EXPORTED=str(exported)) as address, browse(height_px=1000) as page:
        page.goto(f"{address}/review")
        page.get_by_text("Label a recording").first.click()
        line = page.frame_locator("iframe[title*='guide_timeline']")
        expect(line.locator("#stills canvas").nth(5)).to_be_visible()
        expect(line.locator("#stills canvas").first).to_have_attribute("height", "92")  # it was cut out of the video
        parts = line.locator(".part").evaluate_all("each => each.map(one => one.title)")
        line.locator("#bar").click(position={"x": 300, "y": 20})
        line.locator("body").press("4")
        expect(line.locator("#undo")).to_be_enabled()
        changed = line.locator(".part").evaluate_all("each => each.map(one => one.title)")
        assert changed != parts
        for keys, titles in (("Control+z", parts), ("Control+y", changed), ("Control+z", parts)):
            line.locator("body").press(keys)
            expect(line.locator(".part")).to_have_count(len(titles))
            assert line.locator(".part").evaluate_all("each => each.map(one => one.title)") == titles
        expect(line.locator("#undo")).to_be_disabled()
        before = width(line.locator("#bar"))
        line.get_by_role("button", name="Zoom in").click()
        assert width(line.locator("#bar")) == pytest.approx(2 * before, rel=0.02)
        line.locator("body").press("-")
        assert width(line.locator("#bar")) == pytest.approx(before, rel=0.02)
        start_s = page.evaluate(shown_s)
        line.locator("body").press(".")
        assert 0.01 < page.evaluate(shown_s) - start_s < 0.3
        line.locator("body").press("[")
        assert page.evaluate("document.querySelector('.st-key-review_video video').playbackRate") == 0.5
        line.locator("body").press("]")
        line.locator(".part").first.click()
        first, last = (float(words.split()[0]) for words in parts[0].split(", ")[1].split(" to "))
        line.get_by_role("button", name="Loop").click()
        page.wait_for_timeout(int(1000 * (last - first) + 800))
        assert first - 0.5 <= page.evaluate(shown_s) <= last + 0.3  # it has begun again


def test_two_recordings_stand_side_by_side_and_the_other_follows(exported: Path, tmp_path: Path) -> None:
    segments = [read_labels(exported / "box" / "segments" / f"{name}.csv").segments for name in ("01", "02")]
    here, there = (next(one for one in each if one.step == 2) for each in segments)  # in another place of each
    assert abs(here.start - there.start) > 1
    with serve(tmp_path, CNC_EXPORTED=str(exported)) as address, browse(height_px=1000) as page:
        page.goto(f"{address}/review")
        page.get_by_text("Label a recording").first.click()
        line = page.frame_locator("iframe[title*='guide_timeline']")
        expect(line.locator(".part").first).to_be_visible()
        page.get_by_role("combobox", name="Beside it").click()
        page.get_by_role("option", name="02").click()
        expect(page.locator(".st-key-review_other video")).to_be_visible()
        expect(line.locator("#other .part").first).to_be_visible()
        line.locator("#bar .part", has_text="step 2").click()
        expect(line.locator("#there")).to_contain_text("Here 02 did step 2")
        at_s = float(page.evaluate("document.querySelector('.st-key-review_video video').currentTime"))
        wanted_s = there.start + (at_s - here.start) / here.duration * there.duration
        page.wait_for_function(
            "(s) => Math.abs(document.querySelector('.st-key-review_other video').currentTime - s) < 0.25", arg=wanted_s
        )
        if shots := os.environ.get("CNC_SHOTS"):
            page.screenshot(path=f"{shots}/label-beside.png")
        assert_seen_on_a_small_laptop(page, line.locator("#bar"))


def assert_seen_on_a_small_laptop(page: Page, last: Locator) -> None:
    """The line of steps with the words under it, and what saves it, without scrolling: the video makes room."""
    page.set_viewport_size({"width": 1280, "height": 720})
    page.wait_for_timeout(500)
    for part in (last, page.get_by_role("button", name="Save these labels")):
        box = part.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < 720
    page.set_viewport_size({"width": 1280, "height": 1000})
    page.wait_for_timeout(500)


def width(part: Locator) -> float:
    for _ in range(20):
        found = float(part.evaluate("each => each.getBoundingClientRect().width"))
        if found > 0:  # it is drawn anew whenever the page around it is
            return found
    raise AssertionError("the part is not shown")


def drag(page: Page, edge: Locator, by: int) -> None:
    box = edge.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + by / 2, y)
    page.mouse.move(x + by, y)
    page.mouse.up()


@pytest.mark.skipif(os.environ.get("CNC_SCREENSHOTS") != "1", reason="CNC_SCREENSHOTS=1 takes the screenshots")
def test_screenshot(tmp_path: Path) -> None:
    """Leaves docs/dashboard-review.png and docs/dashboard-label.png: the demo reviewed, a recording being labelled."""
    demo = ROOT / "exported" / "demo"
    if not (demo / "manifest.json").is_file():
        pytest.skip("the screenshot shows exported/demo, which is not built: run make demo first.")
    shutil.copytree(demo, tmp_path / "exported" / "demo")
    with serve(tmp_path) as address, browse(height_px=900) as page:
        page.goto(f"{address}/review")
        page.wait_for_function(LOADED)
        field = page.get_by_label("Name of step 1")
        field.fill("lay the mat")
        field.press("Enter")
        expect(page.get_by_text("named step 1")).to_be_visible()
        page.wait_for_function(LOADED)
        page.wait_for_timeout(1500)
        keep_screenshot(page, "dashboard-review")
        page.get_by_role("button", name="Undo the last").click()
        page.get_by_text("Label a recording").first.click()
        line = page.frame_locator("iframe[title*='guide_timeline']")
        expect(line.locator("#stills canvas[height='92']").last).to_be_visible()
        line.locator("#bar").click(position={"x": 420, "y": 20})
        page.wait_for_timeout(3000)
        keep_screenshot(page, "dashboard-label")

"""The page's own HTML: whatever names hold, it stays text."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import pytest

from guide.ui import live_html
from guide.ui.state.live import ItemView, LiveView, NextView, NowView, VisitView
from guide.ui.state.live_alerts import AlertView
from guide.ui.state.live_words import HealthView

HOSTILE = "<img src=x onerror=alert(1)>\"' onload='alert(2)' </div><script>alert(3)</script>"
NOW = NowView(HOSTILE, 1, "unsure", "4 s", "usually 5 s", 0.4, 0.3, 0.5, 0.8, "40 %", (3.0, 5.0, 8.0, 9.0))
ALERT = AlertView(1, HOSTILE, HOSTILE, HOSTILE, "alarm", "‼", "Alarm", "1:01", True, True, True)
VIEW = LiveView(
    session="s", bundle=HOSTILE, title=HOSTILE, clock="1:15", is_over=False, problem=HOSTILE, is_paused=False, now=NOW,
    next=(NextView(1, HOSTILE, "9 of 12", 2, say=HOSTILE), NextView(2, HOSTILE, "3 of 12", 0)), progress="1 of 4",
    share=0.25, timeline=(ItemView(1, HOSTILE, "out of order", HOSTILE),), alerts=(ALERT,), question=None, undoable=(),
    health=(HealthView(HOSTILE, HOSTILE, HOSTILE),), notice=HOSTILE, steps=(), headset=None, remark=HOSTILE,
    mark=HOSTILE, visits=(VisitView(HOSTILE, "#5ea2ed", "↻", HOSTILE),), earlier=3,
)  # fmt: skip


class Reader(HTMLParser):
    """Notes tags and attributes, and whether every tag is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words = ""
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag != "img":
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data

    def finish(self) -> Reader:
        self.close()
        assert self._open == []
        return self


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    return reader.finish()


def drawn(view: LiveView) -> dict[str, str]:
    return {
        "head": live_html.head(view),
        "now": live_html.now(view),
        "following": live_html.following(view, lambda step, number: f"http://127.0.0.1/{step}/{number}?look=a&b"),
        "steps": live_html.steps(view),
        "visits": live_html.visits(view),
        "alert": live_html.alert(ALERT, "http://127.0.0.1/a?look=b"),
        "question": live_html.question(HOSTILE),
        "phone": live_html.phone("http://127.0.0.1/?token=a&client=%3Cb%3E", "data:image/svg+xml;base64,AA=="),
    }


@pytest.mark.parametrize("is_over", [False, True])
@pytest.mark.parametrize("is_loud", [False, True])
@pytest.mark.parametrize("part", ["head", "now", "following", "steps", "visits", "alert", "question", "phone"])
def test_hostile_names_stay_text(part: str, is_over: bool, is_loud: bool) -> None:
    view = replace(VIEW, is_over=is_over, loud=replace(ALERT, todo=HOSTILE) if is_loud else None)
    seen = read(drawn(view)[part])
    assert not {"script", "iframe", "object"} & set(seen.tags)
    assert not [name for name, _ in seen.attributes if name.startswith("on")]
    assert not [value for name, value in seen.attributes if name == "src" and value == "x"]
    if part not in ("phone",):
        assert "onerror=alert(1)" in seen.words or (part == "top" and is_over)


def test_the_sign_never_is_colour_alone() -> None:
    words = read(live_html.steps(VIEW)).words
    assert "⇅" in words
    assert "out of order" in words
    assert "? unsure" in read(live_html.now(VIEW)).words


def test_a_camera_that_is_lost_is_told_where_the_step_stood() -> None:
    lost = replace(VIEW, now=NowView("No pictures come", None, "lost", "", "", 0, 0, 0, 0, ""), remark="It is away.")
    assert "NOW · ! no camera1:15No pictures comeIt is away." in read(live_html.now(lost)).words


def test_an_alert_says_what_to_do_and_shows_how() -> None:
    view = replace(VIEW, loud=replace(ALERT, title="Missed: fold", todo="Go back: fold", shows=2))
    seen = read(live_html.now(view))
    assert ("class", "guide-now alarm") in seen.attributes
    assert "ALARM · Missed: fold1:15Go back: fold" in seen.words
    assert 'src="/stills/2/1"' in live_html.following(view, lambda step, number: f"/stills/{step}/{number}")


def test_a_long_name_is_written_smaller() -> None:
    sizes = []
    for name in ("fit board", "fit the green board", "fit the green board into the case and press"):
        sizes.append(live_html.now(replace(VIEW, now=replace(NOW, name=name))).split("guide-name ")[1].split('"')[0])
    assert sizes == ["", "long", "longer"]


def test_a_clip_takes_the_place_of_its_steps_still() -> None:
    shown = live_html.following(VIEW, lambda step, number: f"/stills/{step}/{number}")
    assert '<img class="guide-clip-1" src="/stills/1/1"' in shown
    style = live_html.clips({1: b"RIFF"})
    assert ".guide-clip-1 { content: url(data:image/webp;base64,UklGRg==); }" in style
    assert "prefers-reduced-motion: no-preference" in style  # the still stays for whom movement disturbs


def test_stills_come_with_the_page() -> None:
    assert read(live_html.stills([b"one", b"two"])).tags == ["div", "img", "img"]


def test_before_anything_was_done_the_next_step_is_what_demonstrations_began_with() -> None:
    begun, fresh = (live_html.following(one, lambda step, number: "") for one in (VIEW, replace(VIEW, visits=())))
    assert "9 of 12 did this next" in begun
    assert "did this next" not in fresh
    assert "9 of 12 demonstrations began this way" in fresh

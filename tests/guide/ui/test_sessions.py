"""The Sessions page in Streamlit's own test runner: empty, filtered, replayed, compared, counted, kept, deleted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from guide.record.keeping import Keeping, read_keeping
from guide.record.lock import SessionLock
from guide.record.values import StoredOutcome
from guide.ui import sessions
from tests.kept_sessions import FIRST, SECOND, keep_session

HOSTILE = ("<img src=x onerror=alert(1)>", "![a](http://h/x)", ":red[b]", "$c$")

PHONE_PX = 390 - 2 * 13 - 44  # of a small phone, without the page's edges and the boxes that choose rows

OpenPage = Callable[[], AppTest]


def script() -> None:
    from guide.ui.sessions import page

    page()


@pytest.fixture
def open_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> OpenPage:
    def run() -> AppTest:
        monkeypatch.setenv("CNC_DATA", str(tmp_path))
        return sound(AppTest.from_function(script, default_timeout=30).run())

    return run


def sound(page: AppTest) -> AppTest:
    assert not page.exception, page.exception
    return page


def texts(page: AppTest) -> str:
    parts = [*page.header, *page.markdown, *page.caption, *page.info, *page.warning, *page.error]
    return "\n".join(str(part.value) for part in parts)


def choose(page: AppTest, view: str) -> AppTest:
    page.segmented_control(key="sessions_view").set_value(view)
    return sound(page.run())


def press(page: AppTest, label: str) -> AppTest:
    next(button for button in page.button if button.label == label).click()
    return sound(page.run())


def test_with_nothing_recorded_it_says_how_to_record(open_page: OpenPage) -> None:
    page = open_page()
    assert "Nothing was recorded" in texts(page)
    assert "--record" in page.code[0].value


def test_a_store_that_cannot_be_used_is_one_sentence(open_page: OpenPage, tmp_path: Path) -> None:
    (tmp_path / "sessions.sqlite").write_bytes(b"no database" * 100)
    assert "cannot be used" in texts(open_page())


def test_the_list_and_its_filters(open_page: OpenPage, tmp_path: Path) -> None:
    keep_session(tmp_path, FIRST)
    keep_session(tmp_path, SECOND, person="shift 1", has_video=False)
    page = open_page()
    assert list(page.dataframe[0].value["person"]) == ["shift 1", "shift 2"]
    assert "2 of 2 sessions" in texts(page)
    page.selectbox(key="sessions_person").set_value("shift 2").run()
    assert list(sound(page).dataframe[0].value["person"]) == ["shift 2"]
    page.selectbox(key="sessions_alerts").set_value("without alerts").run()
    assert "No session matches" in texts(sound(page))


def test_between_two_days(open_page: OpenPage, tmp_path: Path) -> None:
    keep_session(tmp_path, FIRST, started=1_700_000_000.0)
    page = open_page()
    page.selectbox(key="sessions_period").set_value(sessions.CUSTOM).run()
    assert "1 of 1 session" in texts(sound(page))


def test_replay_shows_the_video_or_says_why_not(open_page: OpenPage, tmp_path: Path) -> None:
    keep_session(tmp_path, FIRST)
    keep_session(tmp_path, SECOND, has_video=False, started=1_893_600_000.0)
    page = choose(open_page(), sessions.REPLAY)
    assert "There is no video of this session" in texts(page)
    page.selectbox(key="sessions_chosen").set_value(FIRST).run()
    assert "There is no video" not in texts(sound(page))
    assert list(page.dataframe[0].value["step"]) == ["lay mat", "fit board", "open case", "close lid"]
    assert len(page.get("video")) == 1
    assert len(page.get("download_button")) == 5


def test_the_verdict_stands_beside_the_picture_on_a_phone(open_page: OpenPage, tmp_path: Path) -> None:
    keep_session(tmp_path)
    shown = open_page().dataframe[0]
    columns = json.loads(shown.proto.columns)
    assert list(shown.value)[:2] == ["picture", "verdict"]
    assert sum(columns[name]["width"] for name in ("picture", "verdict")) <= PHONE_PX


@pytest.mark.parametrize(
    ("kind", "words", "place"),
    [
        ("complete", "Complete", "success"),
        ("look", "Complete, 1 thing to look at", "warning"),
        ("not_complete", "Not complete: close lid missed", "error"),
    ],
)
def test_the_verdict_is_told_in_the_list_and_over_the_replay(
    open_page: OpenPage, tmp_path: Path, kind: str, words: str, place: str
) -> None:
    keep_session(tmp_path, FIRST, has_video=False, more=(StoredOutcome(20.0, "[1]", "[]", kind, words),))
    keep_session(tmp_path, SECOND, has_video=False, started=1_000_000_000.0)  # of an older version
    page = open_page()
    assert list(page.dataframe[0].value["verdict"]) == [words, "finished"]
    page.text_input(key="sessions_words").set_value(words).run()
    page = choose(page, sessions.REPLAY)
    assert [one.value.replace("\\", "") for one in getattr(page, place)] == [words]


def test_a_session_still_being_recorded_is_shown_so_far(open_page: OpenPage, tmp_path: Path) -> None:
    keep_session(tmp_path, FIRST, state="open")
    lock = SessionLock(tmp_path / FIRST)
    try:
        assert "still being recorded" in texts(choose(open_page(), sessions.REPLAY))
    finally:
        lock.release()
    assert "still being recorded" not in texts(choose(open_page(), sessions.REPLAY))


def test_two_are_compared(open_page: OpenPage, tmp_path: Path) -> None:
    keep_session(tmp_path, FIRST, has_video=False)
    page = choose(open_page(), sessions.COMPARE)
    assert "Two sessions are needed" in texts(page)
    keep_session(tmp_path, SECOND, (1, 2, 3, 4), has_video=False, bundle="exported/other")
    page = sound(page.run())
    assert "The orders differ at position 2" in texts(page)
    assert "two procedures" in texts(page)
    third = "20300104-030405-00bb"
    keep_session(tmp_path, third, has_video=False, bundle="exported/other", bundle_hash="99", person="shift 3")
    page = sound(page.run())
    page.selectbox(key="compare_first").set_value(SECOND)
    page.selectbox(key="compare_second").set_value(third)
    assert "in two versions" in texts(sound(page.run()))
    assert list(page.dataframe[0].value["step"]) == ["lay mat", "open case", "fit board", "close lid"]


def test_many_are_counted(open_page: OpenPage, tmp_path: Path) -> None:
    keep_session(tmp_path, FIRST, has_video=False)
    keep_session(tmp_path, SECOND, has_video=False)
    page = choose(open_page(), sessions.COUNT)
    assert "2 sessions with box" in texts(page)
    assert len(page.get("vega_lite_chart")) + len(page.get("arrow_vega_lite_chart")) == 2
    page.segmented_control(key="count_by").set_value("person")
    sound(page.run())


def test_sessions_are_deleted_only_after_a_yes_one_or_all_that_were_found(open_page: OpenPage, tmp_path: Path) -> None:
    third = "20300104-030405-00bb"
    for name, person in ((FIRST, "shift 1"), (SECOND, "shift 2"), (third, "shift 2")):
        keep_session(tmp_path, name, person=person, has_video=False)
    page = choose(open_page(), sessions.KEEP)
    page.multiselect(key="sessions_delete").set_value([FIRST]).run()
    page = press(press(page, "Delete …"), "Keep them")
    assert (tmp_path / FIRST).exists()
    page = press(press(page, "Delete …"), "Yes, delete 1 session")
    assert not (tmp_path / FIRST).exists()
    page.selectbox(key="sessions_person").set_value("shift 2").run()
    page = press(press(page, "Choose all found (2)"), "Delete …")
    assert (tmp_path / SECOND).exists()
    page = press(page, "Yes, delete 2 sessions")
    assert "Nothing was recorded" in texts(page)


def test_the_list_shows_a_picture_and_the_kinds_of_alerts_and_is_searched(open_page: OpenPage, tmp_path: Path) -> None:
    keep_session(tmp_path, FIRST)
    keep_session(tmp_path, SECOND, person="the new one", has_video=False)
    for path in (tmp_path / SECOND).glob("still-*"):
        path.unlink()
    page = open_page()
    shown = page.dataframe[0].value
    assert list(shown["picture"].notna()) == [False, True]
    assert shown["picture"][1].startswith("data:image/jpeg;base64,")
    assert all(words[0] != "0" and ": " in words for words in shown["alerts"])
    kind = shown["alerts"][0].split(": ")[1].split(",")[0]
    page.text_input(key="sessions_words").set_value(f"NEW {kind}").run()
    assert list(sound(page).dataframe[0].value["person"]) == ["the new one"]
    page.text_input(key="sessions_words").set_value("no such word").run()
    assert "No session matches" in texts(sound(page))


def test_the_session_that_was_replayed_is_the_one_to_delete(open_page: OpenPage, tmp_path: Path) -> None:
    keep_session(tmp_path, FIRST, has_video=False)
    keep_session(tmp_path, SECOND, has_video=False, started=1_893_600_000.0)
    page = choose(open_page(), sessions.REPLAY)
    page.selectbox(key="sessions_chosen").set_value(FIRST).run()
    page = choose(choose(page, sessions.LIST), sessions.KEEP)
    assert page.multiselect(key="sessions_delete").value == [FIRST]
    assert choose(page, sessions.REPLAY).selectbox(key="sessions_chosen").value == FIRST


def test_pictures_are_kept_for_as_long_as_said(open_page: OpenPage, tmp_path: Path) -> None:
    keep_session(tmp_path, FIRST, started=1_710_000_000.0)
    page = choose(open_page(), sessions.KEEP)
    assert "older than that" in texts(page)
    page.number_input(key="sessions_days").set_value(0).run()
    page.number_input(key="sessions_gb").set_value(2.5).run()
    page.toggle(key="sessions_pictures").set_value(False).run()
    press(sound(page), "Keep it so")
    assert read_keeping(tmp_path) == Keeping(0.0, 2.5, pictures=False)
    assert (tmp_path / FIRST / "video-1.mp4").exists()
    page.number_input(key="sessions_days").set_value(5).run()
    press(sound(page), "Keep it so")
    assert not (tmp_path / FIRST / "video-1.mp4").exists()


@pytest.mark.parametrize("view", sessions.VIEWS)
def test_names_are_never_markup(open_page: OpenPage, tmp_path: Path, view: str) -> None:
    for name in (FIRST, SECOND):
        keep_session(tmp_path, name, names=HOSTILE, person=HOSTILE[0], bundle=f"exported/{HOSTILE[2]}", has_video=False)
    page = choose(open_page(), view)
    for part in [*page.markdown, *page.caption, *page.info, *page.warning]:
        assert not getattr(part.proto, "allow_html", False)
        assert "<img" not in part.value.replace("\\<img", "")
        assert ":red[" not in part.value

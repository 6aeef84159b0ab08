"""The Review page in Streamlit's own test runner."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from guide.bundle import Bundle, read_bundle
from guide.errors import InputError, OutputError
from guide.procedure.model import GivenRule
from guide.procedure.reading import from_plain
from guide.teach.annotations import read_labels
from guide.teach.edited import Review, segments_of
from guide.teach.edits import Edit, Give, Label, Mark, Merge, Name
from guide.teach.review_store import ReviewStore
from guide.teach.stills import Still
from guide.ui import review_order
from guide.ui.review_bundle import open_bundle, pictures, teach
from guide.ui.state.review import pairs
from guide.ui.training import TrainingJobs, TrainingRequest
from tests.tiny import Learned, altered

HOSTILE = "<img src=x onerror=alert(1)>"


def app() -> None:
    from guide.ui import review

    review.page()


@pytest.fixture
def open_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], AppTest]:
    """The page for the bundles in tmp_path/exported."""

    def run() -> AppTest:
        monkeypatch.setenv("CNC_EXPORTED", str(tmp_path / "exported"))
        monkeypatch.setenv("CNC_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("CNC_RECORDINGS", str(tmp_path / "recordings"))
        page = AppTest.from_function(app, default_timeout=60).run()
        assert not page.exception, page.exception
        return page

    return run


@pytest.fixture
def box(features_task: Learned, tmp_path: Path) -> Path:
    altered(features_task.bundle, tmp_path / "exported" / "box")
    return tmp_path / "exported" / "box"


def texts(page: AppTest) -> str:
    parts = [*page.header, *page.markdown, *page.caption, *page.info, *page.warning, *page.error, *page.success]
    return "\n".join([*(str(part.value) for part in parts), *(str(one.proto.body) for one in page.get("html"))])


def press(page: AppTest, label: str) -> AppTest:
    button = next(one for one in page.button if one.label == label)
    button.click().run()
    assert not page.exception, page.exception
    return page


def recording_box(page: AppTest) -> Any:
    return next(one for one in page.selectbox if one.label == "Recording")


def await_button(page: AppTest, label: str) -> None:
    """Draws the page again until work beside it is done and the button comes."""
    deadline = time.monotonic() + 60.0
    while label not in [button.label for button in page.button] and time.monotonic() < deadline:
        page.run()


def name(page: AppTest, step: int, text: str) -> AppTest:
    field = next(one for one in page.text_input if one.label == f"Name of step {step}")
    field.set_value(text).run()
    assert not page.exception, page.exception
    return page


def live_names(folder: Path) -> list[str]:
    return [step.name for step in from_plain(read_bundle(folder).json("procedure.json")).steps]


def test_without_a_bundle_the_page_says_how_to_make_one(open_page: Callable[[], AppTest]) -> None:
    page = open_page()
    assert "There is no procedure" in texts(page)
    assert page.code[0].value == "make demo-bundle"
    assert "several minutes" in texts(page)


def test_a_damaged_bundle_is_said_in_a_sentence(open_page: Callable[[], AppTest], box: Path) -> None:
    (box / "procedure.json").write_text("{}")
    assert "cannot be reviewed" in texts(open_page())


def test_a_name_goes_live_and_can_be_taken_back(open_page: Callable[[], AppTest], box: Path) -> None:
    page = name(open_page(), 1, "open box")
    assert "named step 1 “open box”" in texts(page)
    assert live_names(box)[0] == "step 1"
    press(page, "Undo the last")
    assert "Nothing is changed until you say so" in texts(page)
    press(name(page, 1, "lay mat"), "Make it live")
    assert live_names(box)[0] == "lay mat"
    assert "Version 2 is live" in texts(page)
    page.segmented_control(key="review_part").set_value("Versions and training").run()
    press(page, "Make it live again")
    assert live_names(box)[0] == "step 1"


def test_edits_are_found_again_after_a_reload(open_page: Callable[[], AppTest], box: Path) -> None:
    name(open_page(), 2, "fit board")
    assert "1 change not live yet" in texts(open_page())
    assert ReviewStore(box).edits() == (Name(2, "fit board"),)


def test_a_box_shows_what_the_demonstrations_say(open_page: Callable[[], AppTest], box: Path) -> None:
    opened = open_bundle(box)
    found = segments_of(opened.review.result, opened.review.demonstrations)
    left_out = found[0][-1].step
    for one, segments in zip(opened.review.demonstrations.items[:3], found, strict=False):
        assert opened.add(Label(one.id, tuple(part for part in segments if part.step != left_out)))
    page = open_page()
    assert "some leave it out" in texts(page)
    boxes = {one.key: one for one in page.checkbox if str(one.key).startswith(f"review_optional_box_{left_out}_")}
    [shown] = boxes.values()
    assert (shown.value, shown.disabled) == (True, True)


def test_a_merge_is_learned_tried_and_made_live(open_page: Callable[[], AppTest], box: Path) -> None:
    page = open_page()
    next(one for one in page.selectbox if one.label == "Is the same as").set_value("step 2").run()
    press(page, "Merge")
    assert "merged step 1 and step 2" in texts(page)
    press(page, "Learn the changes")
    await_button(page, "Try")
    labels = [one.label for one in page.button]
    assert labels.index("Try") < labels.index("Make it live")  # a second click must not meet what was learned
    press(page, "Try")
    assert "of 3 steps seen" in texts(page).replace("\\", "")
    assert len(live_names(box)) == 4
    press(page, "Make it live")
    assert live_names(box) == ["step 1", "step 3", "step 4"]


@pytest.mark.parametrize("part", ["Label a recording", "Order", "Versions and training"])
def test_every_part_is_drawn(open_page: Callable[[], AppTest], box: Path, part: str) -> None:
    page = open_page()
    page.segmented_control(key="review_part").set_value(part).run()
    assert not page.exception, page.exception


def test_labels_of_a_recording_are_saved(open_page: Callable[[], AppTest], box: Path) -> None:
    page = open_page()
    page.segmented_control(key="review_part").set_value("Label a recording").run()
    press(page, "Save these labels")
    assert "labelled recording a with" in texts(page)
    kept = ReviewStore(box).labels / "a.csv"
    assert kept.is_file()
    press(page, "Undo the last")
    assert not kept.exists()


def test_what_stands_in_the_table_is_saved(
    open_page: Callable[[], AppTest], box: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = read_labels(box / "segments" / "a.csv").segments[0]
    middle = (first.start + first.end) / 2

    def type_in(rows: list[dict[str, object]], **_: object) -> list[dict[str, object]]:
        return [{**rows[0], "end": middle}, *rows[1:]]

    monkeypatch.setattr("streamlit.data_editor", type_in)  # cells on a canvas cannot be typed into here
    page = open_page()
    page.segmented_control(key="review_part").set_value("Label a recording").run()
    press(page, "Save these labels")
    saved = read_labels(ReviewStore(box).labels / "a.csv").segments[0]
    assert first.start == saved.start < saved.end < first.end


def test_two_labelled_recordings_say_what_a_third_would_gain(open_page: Callable[[], AppTest], box: Path) -> None:
    page = open_page()
    page.segmented_control(key="review_part").set_value("Label a recording").run()
    press(page, "Save these labels")
    assert "Label a second recording" in texts(page)
    recording_box(page).set_value(1).run()
    press(page, "Save these labels")
    press(page, "What would another one gain?")
    deadline = time.monotonic() + 60.0
    while "With 1 labelled" not in texts(page) and time.monotonic() < deadline:
        page.run()
    assert "With 1 labelled" in texts(page)
    recording_box(page).set_value(2).run()
    press(page, "Save these labels")  # the answer stays, but not as if it were of now
    assert "That was before the labels were changed" in texts(page)
    assert "What would another one gain?" in [button.label for button in page.button]


def test_what_was_learned_while_something_was_edited_is_given_up_with_a_word(box: Path) -> None:
    opened = open_bundle(box)
    merged = replace(opened, review=opened.review.edited(Merge((1, 2))))
    ReviewStore(box).keep_edits([Name(2, "fit board")])  # in another window
    with pytest.raises(InputError, match="changes were made meanwhile"):
        teach(merged)
    assert ReviewStore(box).read_draft() is None


def test_pictures_are_not_cut_out_again_for_a_name(box: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut: list[int] = []

    def watched(bundle: Bundle, review: Review, videos: Mapping[str, Path]) -> tuple[Still, ...]:
        cut.append(len(review.edits))
        return ()

    monkeypatch.setattr("guide.ui.state.review.pictures", watched)
    for edit in (Name(1, "fold"), Mark(1, "optional"), Merge((1, 2)), Name(3, "glue")):
        pictures(open_bundle(box))
        open_bundle(box).add(edit)
    pictures(open_bundle(box))
    assert cut == [0, 3]


def test_a_step_that_was_not_found_can_be_labelled(open_page: Callable[[], AppTest], box: Path) -> None:
    page = open_page()
    page.segmented_control(key="review_part").set_value("Label a recording").run()
    next(one for one in page.text_input if one.label == "A step that is missing").set_value("sweep").run()
    assert not page.exception, page.exception
    assert [step.label for step in page.session_state["review_extra_box"]] == ["5 sweep"]


def test_the_embedder_is_trained_from_the_labels(
    open_page: Callable[[], AppTest], frames_task: Learned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = tmp_path / "exported" / "box"
    altered(frames_task.bundle, box, None, lambda facts: facts.update(review={"labelled": ["01"]}))
    shutil.copytree(frames_task.options.inputs[0], tmp_path / "recordings" / "box")
    requests: list[TrainingRequest] = []
    monkeypatch.setattr(TrainingJobs, "start", lambda _, request: requests.append(request))
    page = open_page()
    page.segmented_control(key="review_part").set_value("Versions and training").run()
    press(page, "Train again")
    assert requests[0].name == "box"
    assert len(requests[0].inputs) == 4
    assert (Path(requests[0].labels) / "01.csv").is_file()
    assert [version.number for version in ReviewStore(box).versions()] == [1]


def test_a_step_with_an_impossible_name_is_refused_once(open_page: Callable[[], AppTest], box: Path) -> None:
    page = open_page()
    page.segmented_control(key="review_part").set_value("Label a recording").run()
    field = next(one for one in page.text_input if one.label == "A step that is missing")
    field.set_value("\u200b").run()  # a page that tried again and again would never come to an end
    assert "1 to 80 letters" in texts(page).replace("\\", "")
    assert page.session_state["review_extra_box"] == []


@pytest.mark.parametrize("is_writable", [True, False])
def test_a_mark_is_set_once_even_where_it_cannot_be_kept(
    open_page: Callable[[], AppTest], box: Path, monkeypatch: pytest.MonkeyPatch, is_writable: bool
) -> None:
    page, tries = open_page(), []
    keep = ReviewStore.keep_edits

    def keep_or_refuse(store: ReviewStore, edits: Sequence[Edit]) -> None:
        tries.append(tuple(edits))
        if not is_writable:
            raise OutputError("the disk is full: free some space there.")
        keep(store, edits)

    monkeypatch.setattr(ReviewStore, "keep_edits", keep_or_refuse)
    next(one for one in page.checkbox if one.label == "May be left out").check().run()
    assert not page.exception, page.exception
    assert tries == [(Mark(1, "optional", True),)]
    assert ("the disk is full" in texts(page)) is not is_writable
    assert (":material/info: optional" in [one.value for one in page.caption]) is is_writable


def test_a_pair_is_switched_off_where_its_mark_is_taken_away(
    open_page: Callable[[], AppTest], box: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = open_bundle(box)
    rows = pairs(opened.bundle, opened.review)
    typed = {"pairs": {"edited_rows": {1: {"watched": False}, 0: {}}}}
    monkeypatch.setattr("streamlit.session_state", typed)
    review_order._switch(opened, rows, "pairs")
    assert ReviewStore(box).edits() == (Give(GivenRule("before", (rows[1].first, rows[1].then), holds=False)),)


def test_a_rule_is_given_and_taken_back_on_the_page(open_page: Callable[[], AppTest], box: Path) -> None:
    page = open_page()
    page.segmented_control(key="review_part").set_value("Order").run()
    boxes = {one.label: one for one in page.selectbox}
    boxes["Step"].select("step 4")
    boxes["Rule"].select("needs, before it is begun,")
    boxes["Other step"].select("step 2")
    press(page, "Give this rule")
    rule = GivenRule("needs", (2, 4))
    assert ReviewStore(box).edits() == (Give(rule),)
    assert "step 4 needs step 2" in texts(page).replace("\\", "")
    assert "Make it live" in [one.label for one in page.button]
    press(page, "Take back")
    assert ReviewStore(box).edits() == (Give(rule), Give(rule, is_on=False))


def test_a_circle_of_rules_is_told_on_the_page(open_page: Callable[[], AppTest], box: Path) -> None:
    page = open_page()
    page.segmented_control(key="review_part").set_value("Order").run()
    press(page, "Give this rule")
    assert ReviewStore(box).edits() == (Give(GivenRule("before", (1, 2))),)
    next(one for one in page.selectbox if one.label == "Which").select("The opposite holds").run()
    press(page, "Give this rule")
    assert "would have to come before itself" in texts(page)
    assert ReviewStore(box).edits() == (Give(GivenRule("before", (1, 2))),)


def test_names_are_never_markup(open_page: Callable[[], AppTest], box: Path) -> None:
    page = name(open_page(), 1, HOSTILE)
    for part in [*page.markdown, *page.caption]:
        assert not part.proto.allow_html
    assert "<img" not in texts(page).replace("\\<img", "")


def test_a_name_that_cannot_be_read_is_said(open_page: Callable[[], AppTest], box: Path) -> None:
    page = name(open_page(), 1, "\u200b")
    assert "1 to 80 letters" in texts(page).replace("\\", "")


def test_a_page_drawn_before_the_last_edit_takes_nothing_back(open_page: Callable[[], AppTest], box: Path) -> None:
    one, other = open_page(), open_page()
    name(one, 1, "open box")
    name(other, 2, "fit board")
    assert ReviewStore(box).edits() == (Name(1, "open box"), Name(2, "fit board"))

"""The Learn page in Streamlit's own test runner: the form, a training that runs, stops, fails or finishes."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from guide.ui import learn
from guide.ui.training import LEADER, TrainingJob, TrainingJobs, TrainingRequest
from tests.guide.ui.conftest import write_bundle
from tests.synth import grey_levels, steady, write_video

PATIENCE_S = 60.0
ENDLESS = "print('12 recordings, 8.0 minutes', flush=True); import time; time.sleep(600)"

OpenPage = Callable[[], AppTest]
Play = Callable[..., None]


def script() -> None:
    from guide.ui.learn import page

    page()


@pytest.fixture
def trainings(tmp_path: Path) -> Iterator[TrainingJobs]:
    made = TrainingJobs(tmp_path / "exported", tmp_path / "cache")
    yield made
    for job in made.find():
        if job.state == "running":
            os.killpg(json.loads((job.folder / LEADER).read_text())["pid"], signal.SIGKILL)


@pytest.fixture
def open_page(trainings: TrainingJobs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> OpenPage:
    monkeypatch.setenv("CNC_EXPORTED", str(trainings.exported))
    monkeypatch.setenv("CNC_CACHE", str(trainings.cache))
    monkeypatch.setenv("CNC_RECORDINGS", str(tmp_path / "recordings"))
    monkeypatch.setenv("CNC_DEMO", str(tmp_path / "demo"))
    return lambda: sound(AppTest.from_function(script, default_timeout=30).run())


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Play:
    """Lets a program of one line stand for the long work."""

    def instead(program: str) -> None:
        monkeypatch.setattr(TrainingRequest, "words", lambda *_: [sys.executable, "-c", program])

    return instead


def sound(page: AppTest) -> AppTest:
    assert not page.exception, page.exception
    return page


def texts(page: AppTest) -> str:
    parts = [*page.header, *page.markdown, *page.caption, *page.info, *page.success, *page.warning, *page.error]
    return "\n".join([*(str(part.value) for part in parts), *(str(one.proto.body) for one in page.get("html"))])


def press(page: AppTest, label: str) -> AppTest:
    next(button for button in page.button if button.label == label).click()
    return sound(page.run())


def is_enabled(page: AppTest, label: str) -> bool:
    return not next(button for button in page.button if button.label == label).disabled


def ended(trainings: TrainingJobs, name: str = "box") -> TrainingJob:
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        job = trainings.read(name)
        if job is not None and job.state != "running":
            return job
        time.sleep(0.02)
    return pytest.fail("it never ended")


def with_videos(tmp_path: Path, name: str = "box") -> Path:
    folder = tmp_path / "recordings" / name
    folder.mkdir(parents=True)
    for number in range(2):
        write_video(folder / f"{number}.mp4", grey_levels(20), steady(20, 5))
    return folder


def named(page: AppTest, name: str = "box") -> AppTest:
    page.text_input(key="learn_name").set_value(name)
    return sound(page.run())


def test_a_newcomer_is_told_what_to_do(open_page: OpenPage) -> None:
    page = open_page()
    assert "Film a task a few times" in texts(page)
    assert "Give it a name first" in texts(page)
    assert not is_enabled(page, "Start learning")
    assert "At least 2 recordings" in texts(named(page))


def test_learning_starts_with_what_was_chosen(
    open_page: OpenPage, trainings: TrainingJobs, play: Play, tmp_path: Path
) -> None:
    folder = with_videos(tmp_path)
    play("print('done')")
    page = named(open_page())
    assert "0\\.mp4" in texts(page)
    page.segmented_control(key="learn_how").set_value(learn.GIVEN)
    sound(page.run()).number_input(key="learn_k").set_value(5)
    page.text_input(key="learn_labels").set_value("labels")
    sound(page.run()).radio(key="learn_use").set_value(learn.COMPARE)
    page.selectbox(key="learn_preset").set_value("paper")
    page.text_input(key="learn_config").set_value("recipe.toml")
    press(sound(page.run()), "Start learning")
    request = TrainingRequest("box", (str(folder),), 5, preset="paper", config="recipe.toml", checked="labels")
    assert ended(trainings).request == request


def test_another_browser_finds_it_running_and_stops_it(
    open_page: OpenPage, trainings: TrainingJobs, play: Play, tmp_path: Path
) -> None:
    with_videos(tmp_path)
    play(ENDLESS)
    press(named(open_page()), "Start learning")
    other = open_page()
    assert "You may close this page" in texts(other)
    press(other, "Stop")
    assert ended(trainings).state == "cancelled"
    page = open_page()
    page.selectbox(key="learn_choice").set_value("box").run()
    assert "Learning was stopped" in texts(sound(page))
    play("import sys; print('no videos: add some.', file=sys.stderr); sys.exit(2)")
    press(page, "Resume")
    ended(trainings)
    assert "No videos\\: add some" in texts(sound(page.run()))
    assert "Try again" in [button.label for button in page.button]


def test_the_result_is_shown_and_can_be_learned_again(
    open_page: OpenPage, trainings: TrainingJobs, play: Play, tmp_path: Path
) -> None:
    with_videos(tmp_path)
    play("print('wrote it')")
    page = press(named(open_page()), "Start learning")
    write_bundle(trainings.exported / "box")
    ended(trainings)
    page = sound(page.run())
    assert "4 key\\-steps learned from 6 demonstrations" in texts(page)
    assert ">2 open case</span>" in texts(page)
    anew = press(sound(open_page()), "Learn another procedure")  # who closed the page meanwhile finds the result
    assert anew.text_input(key="learn_name").value == ""
    page = press(page, "Learn again, with other choices")
    assert page.text_input(key="learn_name").value == "box"
    assert not is_enabled(page, "Start learning"), "the old one may not be replaced unasked"
    page.checkbox[0].check()
    assert is_enabled(sound(page.run()), "Start learning")


def test_a_damaged_result_is_said(open_page: OpenPage, trainings: TrainingJobs, play: Play, tmp_path: Path) -> None:
    with_videos(tmp_path)
    play("pass")
    page = press(named(open_page()), "Start learning")
    ended(trainings)
    assert "cannot be used" in texts(sound(page.run()))
    page = press(page, "Remove from this list")
    assert "Film a task" in texts(page)


def test_a_folder_is_named_instead(open_page: OpenPage, tmp_path: Path) -> None:
    folder = with_videos(tmp_path, "elsewhere")
    page = named(open_page())
    page.segmented_control(key="learn_source").set_value(learn.FOLDER)
    sound(page.run()).text_input(key="learn_folder").set_value("/no/such/folder")
    assert "There is no folder" in texts(sound(page.run()))
    page.text_input(key="learn_folder").set_value(str(folder))
    page = sound(page.run())
    assert "2 videos there" in texts(page)
    assert is_enabled(page, "Start learning")


def test_a_folder_without_recordings_is_refused_before_anything_starts(open_page: OpenPage, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "plan.txt").write_text("film it tomorrow")
    page = named(open_page())
    page.segmented_control(key="learn_source").set_value(learn.FOLDER)
    sound(page.run()).text_input(key="learn_folder").set_value(str(tmp_path / "notes"))
    page = sound(page.run())
    assert "none was found in" in texts(page)
    assert not is_enabled(page, "Start learning")
    (tmp_path / "notes" / "one.mp4").write_bytes(b"")
    assert "there is only one in" in texts(sound(page.run()))


def test_a_recording_can_be_removed(open_page: OpenPage, tmp_path: Path) -> None:
    folder = with_videos(tmp_path)
    press(named(open_page()), "Yes, delete it")
    assert [path.name for path in folder.iterdir()] == ["1.mp4"]


def test_a_file_that_is_no_video_is_refused(open_page: OpenPage, tmp_path: Path) -> None:
    page = named(open_page())
    page.file_uploader[0].set_value(("<b>film</b>.mp4", b"just a text", "video/mp4"))
    page = sound(page.run())
    assert "its content is none" in texts(page)
    assert "<b>" not in texts(page)
    assert not (tmp_path / "recordings").exists()


def test_names_are_cleaned_and_never_markup(open_page: OpenPage, tmp_path: Path) -> None:
    page = named(open_page(), "../<img src=x onerror=alert(1)>")
    assert "It is kept as img\\-src\\-x\\-onerror\\-alert\\-1" in texts(page)
    for part in [*page.markdown, *page.caption]:
        assert not part.proto.allow_html


def test_without_torch_it_says_how_to_install(
    open_page: OpenPage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with_videos(tmp_path)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "torch" else object())
    page = named(open_page())
    assert "Learning needs torch" in texts(page)
    assert "pip install" in page.code[0].value
    assert not is_enabled(page, "Start learning")


def test_the_demos_recordings_are_offered_to_who_has_none(open_page: OpenPage, tmp_path: Path) -> None:
    assert not [button for button in open_page().button if "demo" in button.label]
    with_videos(tmp_path).rename(tmp_path / "train")
    (tmp_path / "demo").mkdir()
    (tmp_path / "train").rename(tmp_path / "demo" / "train")
    page = press(open_page(), "Fill in the demo's recordings")
    assert page.text_input(key="learn_name").value == "demo-again"
    assert page.text_input(key="learn_folder").value == str(tmp_path / "demo" / "train")
    assert page.number_input(key="learn_k").value == 9
    assert is_enabled(page, "Start learning")


def test_a_phone_is_told_how_to_film_where_the_network_is_shut_out(
    open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page()
    page.segmented_control(key="learn_source").set_value("Film now")
    assert "Filming can begin once it has a name" in texts(sound(page.run()))
    monkeypatch.setattr("guide.ui.learn_film.is_open", lambda: False)
    page.text_input(key="learn_name").set_value("lamp")
    assert "once the dashboard lets the network in: set a password" in texts(sound(page.run()))

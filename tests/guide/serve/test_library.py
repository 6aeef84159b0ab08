"""Bundles of the server: opened once, by name alone, and again when they were exported anew."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from guide.bundle import Bundle, read_bundle
from guide.errors import BundleError, InputError
from guide.perceive.batching import BatchedHead, BatchedTrunk
from guide.serve import library as module
from guide.serve.library import Library
from guide.serve.metrics import Metrics
from tests.tiny import Learned, altered


@pytest.fixture
def place(frames_task: Learned, tmp_path: Path) -> Path:
    for name in ("one", "two", "three"):
        shutil.copytree(frames_task.folder, tmp_path / name)
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "empty").mkdir()
    return tmp_path


@pytest.fixture
def library(place: Path) -> Iterator[Library]:
    made = Library(place / "one", Metrics(), "cpu", threads=1)
    yield made
    made.close()


def test_bundles_are_those_beside_the_first(library: Library) -> None:
    assert (library.names(), library.default) == (["one", "three", "two"], "one")


def test_networks_are_started_once_and_run_in_batches(library: Library) -> None:
    _, first = library.open()
    assert library.open()[1] is first
    assert library.open("one")[1] is first
    assert isinstance(first.trunk, BatchedTrunk)
    assert [name for name, _ in library.batchers()] == ["one/trunk", "one/head"]


def test_a_path_to_one_of_them_is_as_good_as_its_name(library: Library, place: Path) -> None:
    assert library.open(str(place / "two"))[0].folder == place / "two"


@pytest.mark.parametrize("name", ["", "four", "..", "../one", "/etc/passwd", "empty", ".hidden", "one/../two", "on\0e"])
def test_no_other_place_is_looked_at(library: Library, name: str) -> None:
    with pytest.raises(InputError, match="there are: one, three, two"):
        library.open(name)


def test_one_that_was_exported_anew_is_read_anew(library: Library, place: Path, frames_task: Learned) -> None:
    _, before = library.open("two")
    altered(frames_task.bundle, place / "two", facts=lambda facts: facts.update(notes=["other"]))
    (place / "two" / "stills").mkdir(exist_ok=True)
    _, after = library.open("two")
    assert after is before  # its files are the same
    altered(frames_task.bundle, place / "two", {"prototypes.npz": {"extra": [1.0]}})
    assert library.open("two")[1] is not before


def test_the_first_one_exported_anew_serves_new_sessions_and_running_ones_keep_theirs(
    library: Library, place: Path, frames_task: Learned
) -> None:
    _, before = library.open()
    assert library.open()[1] is before
    altered(frames_task.bundle, place / "one", {"prototypes.npz": {"extra": [1.0]}})
    _, after = library.open()
    assert after is not before
    assert isinstance(before.head, BatchedHead)
    assert is_running(before.head)
    assert library.open()[1] is after


def test_the_first_one_damaged_by_an_update_serves_on_as_it_was(
    library: Library, place: Path, frames_task: Learned, caplog: pytest.LogCaptureFixture
) -> None:
    _, before = library.open()
    (place / "one" / "head.onnx").write_bytes(b"")
    (place / "one" / "manifest.json").touch()
    assert library.open()[1] is before
    assert "version before" in caplog.text
    caplog.clear()
    assert library.open()[1] is before
    assert caplog.text == "", "it is not read anew for every session"
    altered(frames_task.bundle, place / "one", {"prototypes.npz": {"extra": [1.0]}})
    assert library.open()[1] is not before


def test_unused_ones_make_room_and_used_ones_do_not(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BUNDLES", 2)
    library.open()
    _, second = library.open("two")
    with pytest.raises(InputError, match="in use"):
        library.open("three")
    library.release(second)
    library.open("three")
    assert {name.partition("/")[0] for name, _ in library.batchers()} == {"one", "three"}


def test_networks_of_an_earlier_export_are_stopped_with_their_last_session(
    library: Library, place: Path, frames_task: Learned
) -> None:
    _, before = library.open("two")
    library.open("two")
    altered(frames_task.bundle, place / "two", {"prototypes.npz": {"extra": [1.0]}})
    library.open("two")
    assert isinstance(before.head, BatchedHead)
    library.release(before)
    assert is_running(before.head)  # another session still has them
    library.release(before)
    assert not is_running(before.head)


def test_unused_networks_are_stopped_when_their_bundle_is_exported_anew(
    library: Library, place: Path, frames_task: Learned
) -> None:
    _, before = library.open("two")
    library.release(before)
    altered(frames_task.bundle, place / "two", {"prototypes.npz": {"extra": [1.0]}})
    _, after = library.open("two")
    assert isinstance(before.head, BatchedHead)
    assert isinstance(after.head, BatchedHead)
    assert (is_running(before.head), is_running(after.head)) == (False, True)


def test_nobody_waits_for_a_bundle_that_is_being_read(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    library.open()
    reading, may_go_on = threading.Event(), threading.Event()

    def read_slowly(folder: Path) -> Bundle:
        reading.set()
        assert may_go_on.wait(20.0)
        return read_bundle(folder)

    monkeypatch.setattr(module, "read_bundle", read_slowly)
    with ThreadPoolExecutor(2) as pool:
        slow = pool.submit(library.open, "two")
        assert reading.wait(20.0)
        try:
            assert len(pool.submit(library.batchers).result(10.0)) == 2  # the metrics ask for them in the event loop
            assert pool.submit(library.open).result(10.0)[0].folder.name == "one"
        finally:
            may_go_on.set()
        assert slow.result(20.0)[0].folder.name == "two"


def is_running(head: BatchedHead) -> bool:
    return head.batcher._thread.is_alive()


def test_a_damaged_one_is_told(library: Library, place: Path) -> None:
    (place / "three" / "head.onnx").write_bytes(b"")
    with pytest.raises(BundleError):
        library.open("three")

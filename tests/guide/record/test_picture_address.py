"""Pictures at an address: they go there once a session is over, come back to be shown, and go everywhere for good."""

from __future__ import annotations

import os
import time
from pathlib import Path
from uuid import uuid4

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from guide.commands.report import ReportOptions
from guide.commands.report import main as report
from guide.errors import InputError, OutputError
from guide.record import picture_address
from guide.record.lock import LOCK, SessionLock
from guide.record.picture_address import PictureAddress
from guide.record.retention import REPORT, drop_old_pictures, move_pictures
from guide.record.store import DAY_S, Store
from guide.record.values import SessionFacts, StoredPicture
from tests.postgres import Cluster

NAME = "20300102-030405-0001"
FILES = {"video-1.mp4": b"a video" * 1000, "still-1-step-2.jpg": b"a still"}


@pytest.fixture(params=["memory", "file"])
def address(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PictureAddress:
    named = f"memory://{uuid4()}/pictures" if request.param == "memory" else f"file://{tmp_path}/far/away"
    monkeypatch.setenv("CNC_PICTURES", named)
    return PictureAddress(named)


def record(data: Path, records: str | None = None, name: str = NAME, is_open: bool = False) -> Path:
    """A session with pictures that lie in its folder."""
    with Store(data, records=records) as store:
        store.begin(SessionFacts(name, started=time.time(), keep_days=7.0))
        pictures = [StoredPicture(0.0, "video", 1, "video-1.mp4"), StoredPicture(1.0, "step", 2, "still-1-step-2.jpg")]
        store.write(name, pictures, 9, 2.0, time.time())
        if not is_open:
            store.end(name, "finished", time.time())
    place = data / name
    place.mkdir(parents=True)
    (place / LOCK).touch()
    for file, content in FILES.items():
        (place / file).write_bytes(content)
    return place


def names(place: Path) -> list[str]:
    return sorted(path.name for path in place.iterdir())


def away(address: PictureAddress, name: str = NAME) -> dict[str, bytes]:
    """What lies at the address."""
    files = address._files
    found = files.find(address._at(name)) if files.exists(address._at(name)) else []
    return {Path(path).name: files.cat_file(path) for path in found}


def test_pictures_go_when_a_session_has_settled_and_come_back_to_be_shown(
    address: PictureAddress, tmp_path: Path
) -> None:
    place = record(tmp_path)
    move_pictures(tmp_path)
    assert set(names(place)) == {LOCK, *FILES}, "it is just over: somebody looks at it"
    for file in FILES:
        os.utime(place / file, (0.0, 0.0))
    move_pictures(tmp_path)
    assert names(place) == [LOCK]
    assert away(address) == FILES
    with Store(tmp_path) as store:
        assert store.fetch_pictures(NAME) == ""
    assert {file: (place / file).read_bytes() for file in FILES} == FILES
    move_pictures(tmp_path, session=NAME)
    assert (names(place), away(address)) == ([LOCK], FILES)


def test_pictures_of_a_session_that_runs_stay(address: PictureAddress, tmp_path: Path) -> None:
    place = record(tmp_path, is_open=True)
    move_pictures(tmp_path, session=NAME)
    with Store(tmp_path) as store:
        store.end(NAME, "finished", 9.0)
    lock = SessionLock(place)
    move_pictures(tmp_path, session=NAME)
    assert (set(names(place)), away(address)) == ({LOCK, *FILES}, {})
    lock.release()
    move_pictures(tmp_path, session=NAME)
    assert names(place) == [LOCK]


def test_what_arrived_by_half_is_sent_again(address: PictureAddress, tmp_path: Path) -> None:
    place = record(tmp_path)
    address._files.makedirs(address._at(NAME), exist_ok=True)
    address._files.pipe_file(address._at(NAME, "video-1.mp4"), b"half")
    move_pictures(tmp_path, session=NAME)
    assert (names(place), away(address)) == ([LOCK], FILES)


def test_another_machine_shows_them_and_deletes_them(
    address: PictureAddress, tmp_path: Path, postgres: Cluster
) -> None:
    records = postgres.database()
    here, there = tmp_path / "here", tmp_path / "there"
    record(here, records)
    move_pictures(here, records, NAME)
    with Store(there, records=records) as store:
        assert store.fetch_pictures(NAME) == ""
        assert (there / NAME / "video-1.mp4").read_bytes() == FILES["video-1.mp4"]
        assert drop_old_pictures(store, time.time() + 6 * DAY_S) == ()
        assert drop_old_pictures(store, store.trusted_time(time.time()) + 1.0) == ()
        store.delete(NAME)
    assert away(address) == {}
    assert not (there / NAME).exists()


def test_they_go_when_their_days_are_over(address: PictureAddress, tmp_path: Path) -> None:
    record(tmp_path)
    move_pictures(tmp_path, session=NAME)
    with Store(tmp_path) as store:
        store.trusted_time(later := time.time() + 8 * DAY_S)  # a clock that leaps is believed after a day
        assert drop_old_pictures(store, later + 2 * DAY_S) == (NAME,)
        assert away(address) == {}
        assert store.contents(NAME).pictures == ()
        assert drop_old_pictures(store, later + 2 * DAY_S) == ()


def test_a_folder_that_is_too_full_gives_them_to_the_address(address: PictureAddress, tmp_path: Path) -> None:
    place = record(tmp_path)
    with Store(tmp_path) as store:
        assert drop_old_pictures(store, time.time(), most_bytes=1.0) == (), "they are not lost"
        assert len(store.contents(NAME).pictures) == 2
    assert (names(place), away(address)) == ([LOCK], FILES)


def test_those_that_went_there_are_remembered_when_a_page_beside_them_goes(
    address: PictureAddress, tmp_path: Path
) -> None:
    place = record(tmp_path)
    move_pictures(tmp_path, session=NAME)
    (place / REPORT).mkdir()
    (place / REPORT / "index.html").write_text("a page with stills")
    with Store(tmp_path) as store:
        assert drop_old_pictures(store, time.time(), most_bytes=1.0) == (NAME,)
        assert names(place / REPORT) == []
        assert len(store.contents(NAME).pictures) == 2
        assert away(address) == FILES
        store.trusted_time(later := time.time() + 8 * DAY_S)
        drop_old_pictures(store, later + 2 * DAY_S)
    assert away(address) == {}


def test_what_cannot_be_brought_back_as_a_whole_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = PictureAddress(f"memory://{uuid4()}/pictures")
    place, written = tmp_path / NAME, []

    def half(_: object, __: str, path: str) -> None:
        written.append(path)
        Path(path).write_bytes(b"half")
        raise OSError("the line went dead")

    monkeypatch.setattr(MemoryFileSystem, "get_file", half)
    for _ in range(2):
        with pytest.raises(OutputError, match="cannot be reached"):
            address.fetch(place, list(FILES)[:1])
    assert names(place) == []
    assert len(set(written)) == 2, "no two processes write to one file"


def test_one_deleted_while_its_pictures_move_leaves_none(
    address: PictureAddress, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(tmp_path)
    move = PictureAddress.move

    def slowly(self: PictureAddress, place: Path, before: float | None = None) -> int:
        count = move(self, place, before)
        with Store(tmp_path) as store:
            store._db.run("DELETE FROM sessions WHERE id = ?", (NAME,))  # as another machine does
        return count

    monkeypatch.setattr(PictureAddress, "move", slowly)
    move_pictures(tmp_path, session=NAME)
    assert away(address) == {}


def test_what_another_process_moves_meanwhile_is_passed_over(
    address: PictureAddress, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, other = record(tmp_path), PictureAddress.move
    makedirs, put_file = type(address._files).makedirs, type(address._files).put_file

    def at_once(files: object, *given: object, **options: object) -> None:
        monkeypatch.undo()
        makedirs(files, *given, **options)
        other(address, place)

    def in_the_midst(files: object, path: str, *given: object, **options: object) -> None:
        monkeypatch.undo()
        other(address, place)
        put_file(files, path, *given, **options)

    monkeypatch.setattr(type(address._files), "makedirs", at_once)
    address.move(place)
    assert (names(place), away(address)) == ([LOCK], FILES)
    (place / "still-1-step-2.jpg").write_bytes(b"another still")
    monkeypatch.setattr(type(address._files), "put_file", in_the_midst)
    address.move(place)
    assert (names(place), away(address)) == ([LOCK], {**FILES, "still-1-step-2.jpg": b"another still"})


def test_what_goes_before_it_is_looked_at_is_passed_over(
    address: PictureAddress, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = record(tmp_path)
    found = [*picture_address.list_pictures(place), place / "video-9.mp4"]
    monkeypatch.setattr(picture_address, "list_pictures", lambda _: found)
    assert address.move(place, before=time.time() + 60.0) == 2
    assert (names(place), away(address)) == ([LOCK], FILES)


class Refusing(MemoryFileSystem):  # type: ignore[misc]  # it has no types
    """A store that lets nobody do anything."""

    protocol = "refusing"

    def _refuse(self, *_: object, **__: object) -> None:
        raise PermissionError("robot with the password secret may not")

    makedirs = rm = get_file = put_file = _refuse


def test_an_address_that_refuses_loses_nothing_and_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    fsspec.register_implementation("refusing", Refusing, clobber=True)
    monkeypatch.setenv("CNC_PICTURES", "refusing://robot:secret@store/pictures")
    place = record(tmp_path)
    words = r"^pictures at refusing://store/pictures cannot be reached \(PermissionError\): check"
    with pytest.raises(OutputError, match=words):
        move_pictures(tmp_path, session=NAME)
    assert set(names(place)) == {LOCK, *FILES}
    with Store(tmp_path) as store:
        with pytest.raises(OutputError, match=words):
            store.delete(NAME)
        assert [one.id for one in store.sessions()] == [NAME], "who deletes it would think that its pictures are gone"
    (place / "video-1.mp4").unlink()
    report(ReportOptions(NAME, data=tmp_path))
    assert "cannot be reached" in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("nowhere://robot:secret@somewhere", "CNC_PICTURES is an address like s3://bucket/folder, got nowhere://some"),
        (
            "nowhere://robot:a/secret@somewhere",
            "CNC_PICTURES is an address like s3://bucket/folder, got nowhere://some",
        ),
        ("s3://bucket/pictures", "pictures cannot be kept at s3://bucket/pictures: Install s3fs"),
    ],
)
def test_an_address_of_no_use_is_refused(address: str, words: str) -> None:
    with pytest.raises(InputError) as told:
        PictureAddress(address)
    assert str(told.value).startswith(words)
    assert "secret" not in str(told.value)


def test_without_fsspec_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture_address, "HAS_FSSPEC", False)
    with pytest.raises(InputError, match=r"need the package fsspec, which is not installed: pip install -e '\.\[fleet"):
        PictureAddress("memory://pictures")

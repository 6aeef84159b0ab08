"""The dashboard's server: started once, found by everybody, started anew when it is gone, ended with the dashboard."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from guide.errors import InputError, OutputError
from guide.ui import server
from guide.ui.client import Client, LostError
from guide.ui.server import ServerKeeper, bundle_names
from tests.tiny import Learned, altered


@pytest.fixture
def held() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture(scope="module")
def exported(frames_task: Learned, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A damaged bundle beside a sound one."""
    place = tmp_path_factory.mktemp("exported")
    altered(frames_task.bundle, place / "sound")
    altered(frames_task.bundle, place / "damaged")
    (place / "damaged" / "procedure.json").write_text("{}")
    return place


def keeper(exported: Path, data: Path, held: ExitStack, is_open: bool = False) -> ServerKeeper:
    made = ServerKeeper(exported, data, is_open)
    held.callback(made.close)
    return made


def test_a_server_is_started_once_kept_to_oneself_and_ended(exported: Path, tmp_path: Path, held: ExitStack) -> None:
    first, data = keeper(exported, tmp_path / "sessions", held), tmp_path / "sessions"
    assert first.running() is None
    client = first.connect()  # the damaged bundle comes first and does not stand in the way
    assert client.outside == ""
    assert ServerKeeper(exported, data).connect() == client
    assert first.note.stat().st_mode & 0o077 == 0
    assert data.stat().st_mode & 0o077 == 0
    told = json.loads(first.note.read_text())
    assert client.token.encode() not in Path(f"/proc/{told['pid']}/cmdline").read_bytes()
    assert client.sessions() == []
    first.close()
    assert first.running() is None
    assert not first.note.exists()


def test_a_server_ends_with_its_dashboard_however_that_ends(exported: Path, tmp_path: Path) -> None:
    code = (
        "import sys, time, pathlib; from guide.ui.server import ServerKeeper\n"
        "ServerKeeper(*map(pathlib.Path, sys.argv[1:])).connect(); print('up', flush=True); time.sleep(600)"
    )
    command = [sys.executable, "-c", code, str(exported), str(tmp_path / "sessions")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as dashboard:
        assert dashboard.stdout is not None
        assert dashboard.stdout.readline() == b"up\n"
        found = ServerKeeper(exported, tmp_path / "sessions")
        assert found.running() is not None
        dashboard.kill()
    until = time.monotonic() + 30
    while found.running() is not None:
        assert time.monotonic() < until
        time.sleep(0.1)


def test_a_server_that_was_killed_is_started_anew(exported: Path, tmp_path: Path, held: ExitStack) -> None:
    made = keeper(exported, tmp_path / "sessions", held)
    before = made.connect()
    pid = json.loads(made.note.read_text())["pid"]
    os.kill(pid, signal.SIGKILL)
    until = time.monotonic() + 20.0
    while not made.has_ended(before):
        assert time.monotonic() < until
        time.sleep(0.01)
    after = made.connect()
    assert made.has_ended(before)
    assert not made.has_ended(after)
    assert after != before
    assert after.sessions() == []


def test_phones_are_let_in_by_https_once_no_session_runs(exported: Path, tmp_path: Path, held: ExitStack) -> None:
    made = keeper(exported, tmp_path / "sessions", held)
    client = made.connect()
    session = str(client.start({"source": "headset:helmet"})["session"])
    with pytest.raises(InputError, match="end the running sessions"):
        made.let_phones_in()
    client.end(session)
    wider = made.let_phones_in()
    assert wider.outside.startswith("https:")
    assert wider.sessions() == []  # this machine still asks without TLS
    assert made.let_phones_in() == wider
    with pytest.raises(InputError, match="no learned procedure"):
        ServerKeeper(tmp_path, tmp_path / "other").let_phones_in()


def test_without_a_sound_bundle_the_reason_is_said(frames_task: Learned, tmp_path: Path, held: ExitStack) -> None:
    altered(frames_task.bundle, tmp_path / "exported" / "bad")
    (tmp_path / "exported" / "bad" / "procedure.json").write_text("{}")
    made = keeper(tmp_path / "exported", tmp_path / "sessions", held)
    with pytest.raises(OutputError, match=r"procedure\.json"):
        made.connect()
    with pytest.raises(InputError, match="make demo"):
        ServerKeeper(tmp_path / "none", tmp_path / "sessions").connect()


def test_a_folder_that_cannot_be_written_is_said(exported: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="CNC_DATA"):
        ServerKeeper(exported, tmp_path / "file").connect()


def test_a_damaged_note_is_no_server(exported: Path, tmp_path: Path) -> None:
    made = ServerKeeper(exported, tmp_path)
    made.note.parent.mkdir()
    for words in (
        "",
        "[]",
        "{}",
        '{"port": "x"}',
        '{"port": 9, "local_port": 9, "host": "127.0.0.1", "is_secure": 0, "token": "t"}',
    ):
        made.note.write_text(words)
        assert made.running() is None


def test_a_note_whose_server_is_dead_sends_nobody_its_token(exported: Path, tmp_path: Path, held: ExitStack) -> None:
    """Whoever has the port now hears nothing, whatever process has the number of the dead one."""
    made = ServerKeeper(exported, tmp_path)
    listening = held.enter_context(socket.create_server(("127.0.0.1", 0)))
    port = listening.getsockname()[1]
    made.note.parent.mkdir()
    told = {"port": port, "local_port": port, "host": "127.0.0.1", "is_secure": False, "token": "t" * 20}
    made.note.write_text(json.dumps({**told, "pid": os.getpid()}))
    assert made.running() is None
    assert made.has_ended(Client(port, "t" * 20))
    listening.setblocking(False)
    with pytest.raises(BlockingIOError):
        listening.accept()


def test_a_server_that_is_stopped_for_a_while_is_waited_for(exported: Path, tmp_path: Path, held: ExitStack) -> None:
    made = keeper(exported, tmp_path / "sessions", held)
    before = made.connect()
    pid = json.loads(made.note.read_text())["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        assert not made.has_ended(before)
        assert made.connect() == before  # and no second server on the same folder
        with pytest.raises(LostError, match="wait a moment"):
            before._ask("/sessions", timeout_s=0.3)
    finally:
        os.kill(pid, signal.SIGCONT)
    assert before.sessions() == []
    assert json.loads(made.note.read_text())["pid"] == pid


def test_ones_own_bundles_come_before_the_demo(tmp_path: Path) -> None:
    for name in ("demo", "demo-unlabelled", "zebra", "alpha", ".alpha.new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text("{}")
    assert bundle_names(tmp_path) == ["alpha", "zebra", "demo", "demo-unlabelled"]


def test_a_lock_that_nobody_frees_is_said_after_a_while(
    exported: Path, tmp_path: Path, held: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "sessions"
    (data / "dashboard").mkdir(parents=True)
    lock = held.enter_context((data / "dashboard" / "lock").open("w"))
    fcntl.flock(lock, fcntl.LOCK_EX)
    monkeypatch.setattr(server, "LOCKED_S", 0.1)
    with pytest.raises(OutputError, match="another dashboard has been starting its server"):
        keeper(exported, data, held).connect()
    fcntl.flock(lock, fcntl.LOCK_UN)
    assert keeper(exported, data, held).connect().sessions() == []


def test_the_server_is_started_ahead_but_after_the_page(
    exported: Path, tmp_path: Path, held: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "WARM_AFTER_S", 0.01)
    asked = threading.Event()
    monkeypatch.setattr(ServerKeeper, "connect", lambda _: asked.set())
    made = keeper(exported, tmp_path / "sessions", held)
    made.warm_up()
    assert asked.wait(10)
    asked.clear()
    made.warm_up()  # once is enough
    assert not asked.wait(0.1)

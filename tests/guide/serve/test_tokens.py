"""Roles: each token opens what its role needs and nothing else; named ones are listed, revoked, and sign actions."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from guide.commands import tokens as command
from guide.commands.entry import entry
from guide.commands.tokens import TokensOptions
from guide.errors import InputError
from guide.record.store import Store
from guide.serve import guard
from guide.serve.tokens import (
    FILE,
    ROLES,
    Identity,
    Role,
    Tokens,
    add_token,
    camera_token,
    read_tokens,
    require_reachable,
    revoke_token,
)
from tests.server import TOKEN, Served, running
from tests.tiny import Learned


@pytest.fixture(scope="module")
def served(frames_task: Learned, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    patch = pytest.MonkeyPatch()
    patch.setattr(guard, "FIRST_DELAY_S", 0.0)
    with running(frames_task.folder, tmp_path_factory.mktemp("data")) as server:
        yield server
    patch.undo()


@pytest.fixture(scope="module")
def tokens(served: Served) -> dict[Role, str]:
    return {role: add_token(served.data / FILE, f"a {role}", role) for role in ROLES}


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/", ("camera", "watch", "operate", "admin")),
        ("GET", "/page/page.js", ("camera", "watch", "operate", "admin")),
        ("GET", "/bundles", ("camera", "watch", "operate", "admin")),
        ("GET", "/sessions", ("watch", "operate", "admin")),
        ("GET", "/metrics", ("watch", "operate", "admin")),
        ("GET", "/sessions/x/stream", ("watch", "operate", "admin")),
        ("POST", "/sessions", ("operate", "admin")),
        ("POST", "/sessions/x/actions", ("operate", "admin")),
        ("DELETE", "/sessions/x", ("operate", "admin")),
    ],
)
def test_a_token_opens_what_its_role_needs(
    served: Served, tokens: dict[Role, str], method: str, path: str, allowed: tuple[Role, ...]
) -> None:
    for role in ROLES:
        answer = served.ask(path, {} if method == "POST" else None, method, tokens[role])
        assert (answer.status != 403) == (role in allowed), (role, answer.body)
        assert answer.status != 401


@pytest.mark.parametrize("role", ROLES)
def test_only_those_who_may_send_pictures_are_greeted(served: Served, tokens: dict[Role, str], role: Role) -> None:
    with served.connect(f"by {role}", token=tokens[role]) as headset:
        first = headset.hear()
        assert (first is None) == (role == "watch")
        if first is not None:
            headset.finish()


def test_the_phones_token_opens_its_page_and_no_session(served: Served) -> None:
    token = camera_token(TOKEN)
    page = served.ask(f"/?token={token}", token=None)
    assert page.status == 200
    cookie = {"Cookie": page.headers["set-cookie"].partition(";")[0]}
    assert served.ask("/page/page.js", token=None, headers=cookie).status == 200
    assert served.ask("/sessions", token=None, headers=cookie).status == 403
    assert served.ask("/sessions", token=token).status == 403


def test_the_phones_page_shows_the_pictures_of_its_own_session(served: Served) -> None:
    page = served.ask(f"/?token={camera_token(TOKEN)}", token=None)
    cookie = {"Cookie": page.headers["set-cookie"].partition(";")[0]}  # the browser brings it with every picture
    with served.connect("phone", token=camera_token(TOKEN)) as headset:
        hello = headset.wait_for("hello")
        step = next(one["step"] for one in hello["steps"] if one["stills"])
        still = f"/sessions/{hello['session']}/stills/{step}/1"
        assert served.ask(f"{still}?look={hello['look']}", token=None, headers=cookie).status == 200
        assert served.ask(f"{still}?look=other", token=None, headers=cookie).status == 403
        headset.finish()


def test_a_revoked_token_opens_nothing_any_more(served: Served) -> None:
    token = add_token(served.data / FILE, "short-lived", "watch")
    assert served.ask("/sessions", token=token).status == 200
    revoke_token(served.data / FILE, "short-lived")
    assert served.ask("/sessions", token=token).status == 401


def test_a_damaged_list_lets_nobody_in_but_the_servers_own(tmp_path: Path) -> None:
    token = add_token(tmp_path / FILE, "line 2", "watch")
    tokens = Tokens(TOKEN, tmp_path / FILE)
    assert tokens.identify(token) == Identity("watch", "line 2")
    (tmp_path / FILE).write_text('[{"name": "line 2", "role": "king"}]')
    assert tokens.identify(token) is None
    assert tokens.identify(TOKEN) == Identity("admin")


def test_an_action_says_whose_token_it_was(served: Served, tokens: dict[Role, str]) -> None:
    with served.connect("signed") as headset:
        session = headset.wait_for("hello")["session"]
        action = {"kind": "mark_done", "step": 1}
        served.ask(f"/sessions/{session}/actions", action, token=tokens["operate"])
        served.ask(f"/sessions/{session}/actions", {**action, "person": "shift 2"}, token=tokens["operate"])
        served.ask(f"/sessions/{session}/actions", {**action, "person": "shift 2"})
        headset.finish()
    with Store(served.data) as store:
        persons = [one.person for one in store.contents(session).actions]
    assert persons == ["a operate", "shift 2 (a operate)", "shift 2"]


@pytest.mark.parametrize(
    "source",
    [
        "http://127.0.0.1:1/",
        "rtsp://user:pass@192.168.0.7/1",
        "http://[::1]/",
        "http://169.254.169.254/",
        "rtsp://[::ffff:10.0.0.1]/",
        "rtsp://[64:ff9b::10.0.0.1]/",
        "rtsp://[2002:a00:1::1]/",
        "rtsp://[fec0::1]/",
        "rtsp://224.0.0.1/",
        "/etc/passwd",
        "20300102",
        "٣",
    ],
)
def test_only_an_administrator_opens_files_and_private_networks(
    served: Served, tokens: dict[Role, str], source: str
) -> None:
    answer = served.ask("/sessions", {"source": source}, token=tokens["operate"])
    assert answer.status == 400
    assert "administrator" in answer.json["error"]
    assert "pass@" not in answer.json["error"]


def test_a_name_that_leads_to_a_private_network_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda *_: [(2, 1, 6, "", ("8.8.8.8", 0)), (2, 1, 6, "", ("10.0.0.1", 0))]
    )
    with pytest.raises(InputError, match="private network"):
        require_reachable("https://camera.example/stream")
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: [(2, 1, 6, "", ("8.8.8.8", 0))])
    assert require_reachable("https://camera.example/stream") == "8.8.8.8"


def test_a_name_that_means_another_machine_the_second_time_leads_nowhere_else(
    served: Served, tokens: dict[Role, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is looked up once; what was checked is what is connected to."""
    answers = iter(["8.8.8.8", "127.0.0.1", "127.0.0.1"])
    real, opened = socket.getaddrinfo, list[tuple[str, str]]()

    def look_up(host: str, *more: Any, **others: Any) -> Any:
        return [(2, 1, 6, "", (next(answers), 0))] if host == "camera.example" else real(host, *more, **others)

    def open_stream(address: str, **_: object) -> None:
        opened.append((address, str(_["options"])))
        raise OSError(111, "Connection refused")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr("guide.ingest.streams.av.open", open_stream)
    answer = served.ask("/sessions", {"source": "http://camera.example:81/video"}, token=tokens["operate"])
    assert answer.status == 400
    assert {address for address, _ in opened} == {"http://8.8.8.8:81/video"}
    assert "Host: camera.example:81" in opened[0][1]
    assert next(answers) == "127.0.0.1"  # nobody asked a second time


def test_the_command_makes_lists_and_revokes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*words: str) -> str:
        entry(TokensOptions, command.main, ["--data", str(tmp_path), *words])
        return capsys.readouterr().out

    token = run("--add", "line 2", "--role", "camera").split()[3]
    assert token not in (tmp_path / FILE).read_text()
    assert (tmp_path / FILE).stat().st_mode & 0o077 == 0
    assert run().startswith("line 2  camera  since ")
    for words in (("--add", "line 2"), ("--add", ""), ("--revoke", "other"), ("--add", "a", "--revoke", "b")):
        with pytest.raises(SystemExit) as ended:
            run(*words)
        assert ended.value.code == 2
    run("--revoke", "line 2")
    assert read_tokens(tmp_path / FILE) == ()

"""The dashboard's way of asking the server: answers, refusals in its own words, and a server that is gone."""

from __future__ import annotations

import socket
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest

from guide.errors import InputError
from guide.ui.client import LOCAL, Client, LostError, NoSessionError
from tests.server import TOKEN, Served, running
from tests.tiny import Learned

UNKNOWN = "20300102-030405-00ff"


@pytest.fixture(scope="module")
def served(frames_task: Learned, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with running(frames_task.folder, tmp_path_factory.mktemp("data")) as server:
        yield server


@pytest.fixture
def client(served: Served) -> Client:
    return Client(served.port, TOKEN)


def test_a_session_is_started_acted_on_and_ended(client: Client) -> None:
    session = str(client.start({"source": "headset:helmet"})["session"])
    assert [one["session"] for one in client.sessions() if one["state"] == "running"] == [session]
    assert client.act(session, {"kind": "mark_done", "step": 2})["number"] == 1
    assert client.state(session)["progress"]["done"] == [2]
    with pytest.raises(InputError, match="no step 9"):
        client.act(session, {"kind": "mark_done", "step": 9})
    assert client.end(session)["state"] == "finished"


def test_refusals_keep_the_servers_words(client: Client) -> None:
    with pytest.raises(NoSessionError, match="no such session"):
        client.state(UNKNOWN)
    with pytest.raises(NoSessionError):
        client.state("../bundles")
    with pytest.raises(InputError, match=r"nothing\.mp4"):
        client.start({"source": "nothing.mp4"})


def test_a_server_that_is_gone_or_another_is_lost(served: Served) -> None:
    with socket.socket() as free:
        free.bind((LOCAL, 0))
        with pytest.raises(LostError, match="wait a moment"):
            Client(free.getsockname()[1], TOKEN).sessions()
    with pytest.raises(LostError, match="another token"):
        Client(served.port, "x" * 20).sessions()


def test_pictures_open_with_a_look_that_opens_nothing_else(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("guide.serve.guard.FIRST_DELAY_S", 0.0)
    session = str(client.start({"source": "headset:looked-at"})["session"])
    still = client.still(session, 1, 1, LOCAL)
    assert TOKEN not in still
    with urllib.request.urlopen(still, timeout=10) as answer:
        assert answer.headers["content-type"] == "image/jpeg"
    for address, method in (
        (still.replace(session, UNKNOWN), "GET"),
        (still.replace(f"/sessions/{session}/stills/1/1", "/sessions"), "GET"),
        (still.replace("/stills/1/1", ""), "DELETE"),
    ):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(urllib.request.Request(address, method=method), timeout=10)
        assert refused.value.code == 401
    client.end(session)


def test_no_proxy_learns_the_token(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        proxy.setblocking(False)
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.getsockname()[1]}")
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        client.sessions()
        with pytest.raises(BlockingIOError):
            proxy.accept()


def test_addresses_for_this_machine_and_for_others() -> None:
    local, open_to_all = Client(8765, TOKEN), Client(8765, TOKEN, "https:8443")
    assert local.phone_page("10.0.0.7", "a b", "demo").startswith("http://127.0.0.1:8765/?token=")
    assert open_to_all.phone_page("10.0.0.7", "a b", "demo").startswith("https://10.0.0.7:8443/?token=")
    assert open_to_all.stream(UNKNOWN, "fd00::7").startswith("https://[fd00::7]:8443/sessions/")
    assert open_to_all.stream(UNKNOWN, LOCAL).startswith("http://127.0.0.1:8765/sessions/")
    assert TOKEN not in repr(local)

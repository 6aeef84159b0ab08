"""The gateway of a fleet, before real servers in threads: who serves whom, what is passed on, how many there are."""

from __future__ import annotations

import asyncio
import errno
import json
import re
import socket
import time
import urllib.request
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar

import pytest
import websockets
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send

from guide.bundle import fingerprint
from guide.fleet.forward import Place, answered
from guide.fleet.replicas import Replicas, wanted_replicas
from guide.record.store import Store
from guide.serve.options import ScaleOptions
from tests.fleet import Servers, fleet, replicas
from tests.server import TOKEN, Headset, Served, step_picture
from tests.tiny import Learned, altered
from tests.waiting import until


@pytest.fixture(scope="module")
def two(frames_task: Learned, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Servers]]:
    with fleet(frames_task.folder, tmp_path_factory.mktemp("fleet"), ScaleOptions()) as found:
        yield found


def test_headsets_are_spread_and_each_stays_with_its_replica(two: tuple[Served, Servers]) -> None:
    served, _ = two
    with ExitStack() as held:
        headsets = [held.enter_context(served.connect(f"spread-{number}")) for number in range(4)]
        hellos = [one.wait_for("hello", 20.0) for one in headsets]
        for one in headsets:
            one.frame(step_picture(1))
            assert one.wait_for("ack")["fate"] == "seen"
        listed = {one["client"]: one for one in served.ask("/sessions").json["sessions"]}
        homes = {name: one["replica"] for name, one in listed.items() if name.startswith("spread")}
        assert sorted(Counter(homes.values()).values()) == [2, 2]
        headsets[0].close()
        with served.connect("spread-0") as again:
            assert again.wait_for("hello")["session"] == hellos[0]["session"]
            assert again.finish()["state"] == "finished"
        for one in headsets[1:]:
            one.finish()


def test_what_is_asked_of_a_session_is_answered_by_its_replica(two: tuple[Served, Servers]) -> None:
    served, _ = two
    with served.connect("asked") as headset:
        session = headset.wait_for("hello")["session"]
        headset.frame(step_picture(1))
        headset.wait_for("ack")
        state = served.ask(f"/sessions/{session}").json
        assert (state["client"], state["state"], len(state["steps"])) == ("asked", "running", 4)
        done = served.ask(f"/sessions/{session}/actions", {"kind": "mark_done", "step": 2})
        assert (done.status, headset.wait_for("action")["step"]) == (201, 2)
        picture = served.ask(f"/sessions/{session}/picture")
        assert (picture.headers["content-type"], picture.body[:2]) == ("image/jpeg", b"\xff\xd8")
        with urllib.request.urlopen(
            f"http://127.0.0.1:{served.port}/sessions/{session}/beats?token={TOKEN}", timeout=10
        ) as live:
            assert json.loads(live.readline().removeprefix(b"data: "))["over"] is False, "it is told while it goes on"
        assert served.ask(f"/sessions/{session}", method="DELETE").json["state"] == "finished"
    assert served.ask("/sessions/20300102-030405-00ff").status == 404
    assert served.ask("/bundles").json["default"] == "task"
    assert served.ask("/", token=None, headers={"Authorization": f"Bearer {TOKEN}"}).body[:15] == b"<!doctype html>"


def test_a_viewer_who_comes_before_the_first_picture_is_not_cut_off(
    two: tuple[Served, Servers], monkeypatch: pytest.MonkeyPatch
) -> None:
    served, _ = two
    monkeypatch.setattr("guide.serve.app.STILL_S", 0.2)
    monkeypatch.setattr("guide.fleet.forward.ANSWER_S", 1.5)
    session = served.ask("/sessions", {"source": "headset:late"}).json["session"]
    with urllib.request.urlopen(
        f"http://127.0.0.1:{served.port}/sessions/{session}/stream?token={TOKEN}", timeout=10
    ) as viewed:
        assert viewed.readline() == b"--frame\r\n"
        began = time.monotonic()
        while time.monotonic() - began < 2.0:
            assert viewed.readline() == b"X-Waiting: yes\r\n"
        with served.connect("late") as headset:
            headset.frame(step_picture(1))
            headset.wait_for("ack", 20.0)
            while (line := viewed.readline()) == b"X-Waiting: yes\r\n":
                pass
            assert line == b"Content-Type: image/jpeg\r\n"
            headset.finish()


def test_metrics_of_all_replicas_are_one_text(two: tuple[Served, Servers]) -> None:
    served, servers = two
    lines = served.ask("/metrics").body.decode().splitlines()
    for name in (*servers.names, "gateway"):
        assert (
            sum(f'replica="{name}"' in line and line.startswith("guide_frames_received_total") for line in lines) == 1
        )
    assert 'guide_replicas{replica="gateway",state="running"} 2.0' in lines
    assert sum(line.startswith("# TYPE guide_stage_seconds ") for line in lines) == 1


def test_nobody_without_a_token_reaches_a_replica(two: tuple[Served, Servers]) -> None:
    served, servers = two
    before = [refusals(place) for place in servers.places.values()]
    assert served.ask("/sessions", token="a-wrong-token-of-someone").status == 401
    with served.connect("stranger", token="a-wrong-token-of-someone") as headset:
        assert headset.hear(20.0) is None
        assert headset.code == 4401
    with Headset(served.port, {"token": TOKEN, "client": "\0"}) as headset:
        assert headset.wait_for("error")["text"].startswith("client is the headset's name")
    assert [refusals(place) for place in servers.places.values()] == before


@pytest.mark.parametrize("is_secure", [True, False])
def test_the_cookie_of_the_page_is_marked_as_the_gateway_is_reached(
    two: tuple[Served, Servers], monkeypatch: pytest.MonkeyPatch, is_secure: bool
) -> None:
    """Replicas speak without TLS, whatever the gateway speaks."""
    served, _ = two
    call = Starlette.__call__

    async def called(app: Starlette, scope: Scope, receive: Receive, send: Send) -> None:
        if is_secure and scope["type"] == "http" and scope["server"][1] == served.port:
            scope["scheme"] = "https"
        await call(app, scope, receive, send)

    monkeypatch.setattr(Starlette, "__call__", called)
    assert served.ask("/").headers["set-cookie"].endswith("; Secure") is is_secure


def test_what_belongs_to_one_connection_is_not_passed_on(
    two: tuple[Served, Servers], monkeypatch: pytest.MonkeyPatch
) -> None:
    served, _ = two
    heard: list[set[str]] = []
    call = Starlette.__call__

    async def called(app: Starlette, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == "/bundles" and scope["server"][1] != served.port:
            heard.append({name.decode() for name, _ in scope["headers"]})
        await call(app, scope, receive, send)

    monkeypatch.setattr(Starlette, "__call__", called)
    ours = {"TE": "trailers", "Trailer": "x", "Proxy-Authorization": "Basic eA==", "Keep-Alive": "1", "Accept": "*/*"}
    assert served.ask("/bundles", headers=ours).status == 200
    assert heard == [{"host", "connection", "authorization", "accept", "accept-encoding", "user-agent"}]


def test_who_breaks_off_in_the_middle_of_a_request_leaves_no_error_in_the_log(
    two: tuple[Served, Servers], caplog: pytest.LogCaptureFixture
) -> None:
    served, servers = two
    head = f"POST /sessions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 500\r\n\r\n{{"
    for port in (served.port, *(place.port for place in servers.places.values())):
        with socket.create_connection(("127.0.0.1", port), 5.0) as raw:
            raw.sendall(head.encode())
        assert served.ask("/sessions").status == 200, "it was looked at by now"
    assert [one for one in caplog.records if one.levelname == "ERROR"] == []


def test_requests_hidden_in_a_body_are_asked_by_nobody(two: tuple[Served, Servers]) -> None:
    """What follows the body counts as a request of its own, with no token of its own; two lengths count as none."""
    served, _ = two
    inside = b"GET /fleet HTTP/1.1\r\nHost: x\r\n\r\n"
    head = f"POST /sessions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n".encode()
    bodies = {
        b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n": [b"400", b"401"],
        b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}": [b"400"],
        b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(inside): [b"400"],
        b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n": [b"400"],
    }
    for body, statuses in bodies.items():
        with socket.create_connection(("127.0.0.1", served.port), 20.0) as raw:
            raw.sendall(head + body + inside)
            heard = b""
            while part := raw.recv(65536):
                heard += part
        assert re.findall(rb"HTTP/1\.1 (\d+)", heard) == statuses
        assert b"replicas" not in heard


def refusals(place: Place) -> float:
    return Served(place.port, Path()).count('guide_refusals_total{why="token"}')


def test_headsets_of_a_replica_that_is_gone_come_to_another(frames_task: Learned, tmp_path: Path) -> None:
    with fleet(frames_task.folder, tmp_path, ScaleOptions()) as (served, servers):
        with served.connect("helmet") as headset:
            session = headset.wait_for("hello")["session"]
            listed = served.ask("/sessions").json["sessions"]
            home = next(one["replica"] for one in listed if one["session"] == session)
            servers.end(home)
            while headset.hear(20.0) is not None:
                pass
            assert headset.code in (1000, 1012)
        with served.connect("helmet") as headset:
            assert headset.wait_for("hello", 20.0)["session"] != session, "it was ended properly, not killed"
            assert [one["name"] for one in replicas(served) if one["answers"] and one["name"] != home]


def test_replicas_come_with_sessions_and_go_when_they_are_empty(frames_task: Learned, tmp_path: Path) -> None:
    scale = ScaleOptions(replicas=1, most_replicas=2, sessions_per_replica=2)
    with fleet(frames_task.folder, tmp_path, scale) as (served, servers), ExitStack() as held:
        headsets = [held.enter_context(served.connect(f"helmet-{number}")) for number in range(3)]
        for one in headsets:
            one.wait_for("hello", 20.0)
        until(lambda: sum(bool(one["answers"]) for one in replicas(served)) == 2)
        last = held.enter_context(served.connect("helmet-3"))
        last.wait_for("hello", 20.0)
        homes = {one["client"]: one["replica"] for one in served.ask("/sessions").json["sessions"]}
        assert homes == {f"helmet-{number}": "replica-2" if number == 3 else "replica-1" for number in range(4)}
        for one in (*headsets[:2], last):
            one.finish()
        until(lambda: servers.names == ["replica-1"])
        headsets[2].frame(step_picture(1))
        assert headsets[2].wait_for("ack")["fate"] == "seen", "no session ends for it"


def test_a_bundle_learned_anew_serves_new_sessions_and_ends_none(frames_task: Learned, tmp_path: Path) -> None:
    place = tmp_path / "task"
    before = altered(frames_task.bundle, place)
    with fleet(place, tmp_path / "data", ScaleOptions()) as (served, _), ExitStack() as held:
        headsets = [held.enter_context(served.connect(f"early-{number}")) for number in range(2)]
        early = [one.wait_for("hello", 20.0)["session"] for one in headsets]
        after = altered(before, place, {"prototypes.npz": {"extra": [1.0]}})
        headsets += [held.enter_context(served.connect(f"late-{number}")) for number in range(2)]
        late = [one.wait_for("hello", 20.0)["session"] for one in headsets[2:]]
        for one in headsets:
            one.frame(step_picture(1))
            assert one.wait_for("ack")["fate"] == "seen"
            assert one.finish()["state"] == "finished"
    with Store(tmp_path / "data") as store:
        used = {one.id: one.facts.bundle_hash for one in store.sessions()}
    assert used == {**dict.fromkeys(early, fingerprint(before)), **dict.fromkeys(late, fingerprint(after))}


def test_replicas_of_an_earlier_gateway_with_other_options_run_empty_and_are_replaced(
    frames_task: Learned, tmp_path: Path
) -> None:
    with fleet(frames_task.folder, tmp_path, ScaleOptions(replicas=1)) as (served, servers), ExitStack() as held:
        early = held.enter_context(served.connect("early"))
        early.wait_for("hello", 20.0)
        servers.version = "of the second gateway"
        until(lambda: [one["state"] for one in replicas(served) if one["answers"]] == ["draining", "running"])
        late = held.enter_context(served.connect("late"))
        late.wait_for("hello", 20.0)
        homes = {one["client"]: one["replica"] for one in served.ask("/sessions").json["sessions"]}
        assert homes == {"early": "replica-1", "late": "replica-2"}
        early.frame(step_picture(1))
        assert early.wait_for("ack")["fate"] == "seen", "no session ends for it"
        early.finish()
        until(lambda: servers.names == ["replica-2"])
        late.finish()


def test_replicas_of_an_earlier_gateway_with_another_token_are_ended(frames_task: Learned, tmp_path: Path) -> None:
    """Their sessions can be reached by nobody any more."""
    with fleet(frames_task.folder, tmp_path, ScaleOptions(replicas=1)) as (served, servers), ExitStack() as held:
        headset = held.enter_context(served.connect("helmet"))
        headset.wait_for("hello", 20.0)
        stranger = servers.start("the-token-of-an-earlier-gateway")
        until(lambda: servers.names == ["replica-1"])
        until(lambda: [one["name"] for one in replicas(served)] == ["replica-1"])
        assert stranger not in servers.places
        headset.frame(step_picture(1))
        assert headset.wait_for("ack")["fate"] == "seen", "no session of others ends for it"
        headset.finish()


class Unready:
    """Two replicas, on which nothing runs yet."""

    names: ClassVar[list[str]] = ["replica-1", "replica-2"]
    version = ""

    def where(self, name: str) -> Place | None:
        return Place("127.0.0.1", 1, 0)

    def start(self) -> str:
        raise AssertionError("another is started")

    def end(self, *_: str) -> None:
        raise AssertionError("one is ended")


def give(monkeypatch: pytest.MonkeyPatch, known: Replicas, run: Callable[[], Awaitable[None]]) -> list[str]:
    """Runs something with replicas that answer; what was asked of them."""
    asked: list[str] = []

    async def answer(_: Place, path: str, __: str) -> dict[str, list[object]]:
        asked.append(path)
        return {"sessions": []}

    async def found() -> None:
        await known.find()
        await run()

    monkeypatch.setattr("guide.fleet.replicas.ask", answer)
    asyncio.run(found())
    return asked


def test_a_headset_that_comes_again_while_its_session_is_made_gets_no_second_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where another replica goes on with many sessions, that takes seconds."""
    now, given = [0.0], list[str]()
    known = Replicas(Unready(), TOKEN, ScaleOptions(), 32, lambda: now[0])

    async def come() -> None:
        for at in (0.0, 2.0, 4.0):
            now[0] = at
            found = await known.of_client("helmet")
            assert found is not None
            found.given += 1
            given.append(found.name)
            if at == 2.0:
                known.lose(found)

    give(monkeypatch, known, come)
    assert given == ["replica-1", "replica-1", "replica-2"], "unless it is gone"


def test_a_headset_whose_replica_is_gone_waits_for_no_answer_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are busy going on with its sessions."""
    known, given = Replicas(Unready(), TOKEN, ScaleOptions(), 32, lambda: 0.0), list[str]()

    async def come() -> None:
        lost, _ = known.all()
        lost.sessions = [{"client": "helmet", "state": "running"}, {"client": None, "state": "running"}]
        known.lose(lost)
        found = await known.of_client("helmet")
        given.append("" if found is None else found.name)

    assert give(monkeypatch, known, come) == []
    assert given == ["replica-2"]


def test_a_headset_sent_away_from_a_full_replica_comes_to_one_with_room(monkeypatch: pytest.MonkeyPatch) -> None:
    known, given = Replicas(Unready(), TOKEN, ScaleOptions(), 1, lambda: 0.0), list[str]()

    async def come() -> None:
        for _ in range(2):
            found = await known.of_client("helmet")
            assert found is not None
            given.append(found.name)
            found.given = 1  # by another one, which was quicker

    give(monkeypatch, known, come)
    assert given == ["replica-1", "replica-2"]


def test_a_replica_that_has_not_told_yet_what_it_runs_is_not_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway started anew finds replicas that are outdated, and busy."""
    fleet = Unready()
    fleet.version = "other"
    known = Replicas(fleet, TOKEN, ScaleOptions(), 32, lambda: 0.0)

    async def scale() -> None:
        assert all(one.is_draining for one in known.all())
        with pytest.raises(AssertionError, match="another is started"):
            await known.scale()

    give(monkeypatch, known, scale)


def test_a_replica_that_is_slow_to_let_a_headset_in_keeps_its_sessions(
    two: tuple[Served, Servers], monkeypatch: pytest.MonkeyPatch
) -> None:
    served, _ = two
    connect, late = websockets.connect, list[str]()

    async def connected(address: str, **more: Any) -> websockets.ClientConnection:
        if not late:
            late.append(address)
            raise TimeoutError
        return await connect(address, **more)

    with served.connect("patient") as headset:
        session = headset.wait_for("hello", 20.0)["session"]
        monkeypatch.setattr("guide.fleet.relay.websockets.connect", connected)
        with served.connect("patient") as again:
            assert again.wait_for("hello", 20.0)["session"] == session
            again.finish()
    assert late, "it was slow once"


@pytest.mark.parametrize("answer", ["<html>", '{"bundles": []}', "[]"], ids=["no JSON", "something else", "no object"])
def test_another_program_at_a_replicas_port_does_not_hold_up_the_others(
    monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    async def text(*_: object) -> str:
        return answer

    async def looked_at() -> list[str]:
        known = Replicas(Unready(), TOKEN, ScaleOptions(), 32)
        await known.find()
        await known.refresh()
        return [one.name for one in known.living()]

    monkeypatch.setattr("guide.fleet.forward.ask_text", text)
    assert asyncio.run(looked_at()) == [], "nobody there was heard of yet"


@pytest.mark.parametrize(
    ("error", "is_lost"),
    [
        (TimeoutError(), False), (OSError(errno.EMFILE, "too many files"), False),
        (ConnectionRefusedError(errno.ECONNREFUSED, "refused"), True), (ConnectionResetError("broken off"), True),
    ],
)  # fmt: skip
def test_a_replica_that_is_slow_is_not_dead_nor_where_the_gateway_lacks_files(error: Exception, is_lost: bool) -> None:
    async def miss() -> bool:
        known = Replicas(Unready(), TOKEN, ScaleOptions(), 32)
        await known.find()
        missed, other = known.all()
        known.miss(missed, error)
        return known.living() == [other]

    assert asyncio.run(miss()) == is_lost


def test_a_gateway_without_files_for_long_keeps_its_replicas(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    known = Replicas(Unready(), TOKEN, ScaleOptions(), 32, lambda: now[0])

    async def fail(*_: object) -> None:
        raise OSError(errno.EMFILE, "too many files")

    async def wait() -> None:
        monkeypatch.setattr("guide.fleet.replicas.ask", fail)
        now[0] = 60.0
        await known.refresh()

    give(monkeypatch, known, wait)
    assert len(known.living()) == 2


def test_an_answer_whose_replica_falls_silent_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async def speak(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
        await asyncio.sleep(15.0)

    async def listen() -> None:
        async with await asyncio.start_server(speak, "127.0.0.1", 0) as server:
            place = Place("127.0.0.1", server.sockets[0].getsockname()[1], 0)
            async with answered(place, "GET", b"/", []) as (_, parts):
                assert await anext(parts) == b"half"
                began = time.monotonic()
                with pytest.raises(TimeoutError):
                    await anext(parts)
                assert time.monotonic() - began < 10.0

    monkeypatch.setattr("guide.fleet.forward.ANSWER_S", 0.5)
    asyncio.run(asyncio.wait_for(listen(), 20.0))


@given(sessions=st.integers(0, 500), running_now=st.integers(0, 60), least=st.integers(1, 8), more=st.integers(0, 40),
       each=st.integers(1, 30))  # fmt: skip
def test_the_number_of_replicas_is_bounded_enough_and_settles(
    sessions: int, running_now: int, least: int, more: int, each: int
) -> None:
    scale = ScaleOptions(replicas=least, most_replicas=least + more, sessions_per_replica=each)
    wanted = wanted_replicas(sessions, running_now, scale)
    assert least <= wanted <= least + more
    assert wanted == least + more or wanted * each >= sessions
    assert wanted_replicas(sessions, wanted, scale) == wanted, "it does not waver"

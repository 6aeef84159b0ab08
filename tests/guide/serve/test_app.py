"""The HTTP side: sessions started on any source, followed, acted on, ended; pictures, metrics, the page."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from guide.record.store import Store
from guide.serve.app import FILES, PAGE
from guide.serve.picture import decode
from tests.server import TOKEN, Served, running, step_picture
from tests.tiny import Learned, write_steps
from tests.waiting import until


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    times = [number / 10 for number in range(80)]
    return write_steps(tmp_path_factory.mktemp("video") / "new.mp4", (1, 3, 0, 4), times)


@pytest.fixture(scope="module")
def served(frames_task: Learned, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with running(frames_task.folder, tmp_path_factory.mktemp("data"), most_clients=3) as server:
        yield server


def start(served: Served, **wish: object) -> dict[str, Any]:
    answer = served.ask("/sessions", wish)
    assert answer.status == 201, answer.body
    shown: dict[str, Any] = answer.json
    return shown


def test_a_session_on_a_recording_runs_to_its_end_and_is_kept(served: Served, video: Path) -> None:
    session = start(served, source=str(video), person="shift 1", realtime=False)["session"]
    until(lambda: bool(served.ask(f"/sessions/{session}").json["state"] == "finished"))
    shown = served.ask(f"/sessions/{session}").json
    assert shown["person"] == "shift 1"
    assert shown["health"]["processed"] == 40
    assert shown["timeline"]
    assert [step["step"] for step in shown["steps"]] == [1, 2, 3, 4]
    assert shown["problem"] == ""
    assert {"count", "total", "ready", "name"} <= set().union(*shown["next"]) or not shown["next"]
    with Store(served.data) as store:
        assert store.find(session).state == "finished"
        assert len(store.contents(session).alerts) >= len(shown["alerts"])
        (outcome,) = store.contents(session).outcomes  # the record tells what the page shows
    told = [[one[name] for name in ("step", "start", "end", "busy_s")] for one in shown["timeline"]]
    assert (json.loads(outcome.visits), json.loads(outcome.done)) == (told, shown["progress"]["done"])
    assert {"kind": outcome.ending, "words": outcome.verdict} == shown["ending"]
    assert served.ask(f"/sessions/{session}/actions", {"kind": "next"}).json == {
        "error": "this session is over: start another one."
    }


def test_a_running_session_is_listed_acted_on_seen_and_ended(served: Served, video: Path) -> None:
    session = start(served, source=str(video))["session"]
    try:
        until(lambda: served.ask(f"/sessions/{session}/picture").status == 200)
        [listed] = [one for one in served.ask("/sessions").json["sessions"] if one["session"] == session]
        assert (listed["state"], listed["bundle"], listed["source"]) == ("running", "task", str(video))
        taken = served.ask(f"/sessions/{session}/actions", {"kind": "mark_done", "step": 2, "person": "chief"})
        assert (taken.status, taken.json["number"]) == (201, 1)
        shown = served.ask(f"/sessions/{session}").json
        assert 2 in shown["progress"]["done"]
        assert shown["actions"][0]["person"] == "chief"
        picture = served.ask(f"/sessions/{session}/picture")
        assert picture.headers["content-type"] == "image/jpeg"
        assert decode(picture.body).shape == (360, 480, 3)
    finally:
        ended = served.ask(f"/sessions/{session}", method="DELETE")
    assert (ended.status, ended.json["state"]) == (200, "finished")
    with Store(served.data) as store:
        assert store.contents(session).actions[0].kind == "mark_done"


def test_a_session_that_is_cut_is_not_judged_and_marked_so(served: Served, video: Path) -> None:
    """As the dashboard does where a recording is played anew."""
    session = start(served, source=str(video))["session"]
    until(lambda: served.ask(f"/sessions/{session}").json["health"]["processed"] > 2)
    ended = served.ask(f"/sessions/{session}?cut", method="DELETE")
    assert (ended.status, ended.json["alerts"], ended.json["questions"]) == (200, [], [])
    with Store(served.data) as store:
        stored, contents = store.find(session), store.contents(session)
    assert (stored.state, contents.outcomes, contents.alerts) == ("interrupted", (), ())


def test_pictures_move_as_mjpeg_until_the_session_ends(served: Served, video: Path) -> None:
    session = start(served, source=str(video))["session"]
    with socket.create_connection(("127.0.0.1", served.port), 10.0) as viewer:
        viewer.sendall(f"GET /sessions/{session}/stream?token={TOKEN} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        data = b""
        while data.count(b"--frame") < 3:
            data += viewer.recv(65536)
        served.ask(f"/sessions/{session}", method="DELETE")
        while part := viewer.recv(65536):
            data += part
            if data.endswith(b"0\r\n\r\n"):
                break
    assert b"multipart/x-mixed-replace" in data
    assert data.count(b"\xff\xd8\xff") >= 3


def test_pictures_of_steps_and_alerts(served: Served, video: Path) -> None:
    session = start(served, source=str(video))["session"]
    shown = served.ask(f"/sessions/{session}").json
    stills = {one["step"]: one["stills"] for one in shown["steps"]}
    step = next(number for number, count in stills.items() if count)
    still = served.ask(f"/sessions/{session}/stills/{step}/1")
    assert (still.status, still.headers["content-type"]) == (200, "image/jpeg")
    assert decode(still.body).ndim == 3
    for path in (f"stills/{step}/0", f"stills/{step}/99", "stills/99/1", "stills/..%2f/1", "alerts/99/picture"):
        assert served.ask(f"/sessions/{session}/{path}").status == 404, path
    until(lambda: (served.data / session).is_dir())  # it is made with the first rows
    (served.data / session / "still-1-alert-7.jpg").write_bytes(still.body)
    assert served.ask(f"/sessions/{session}/alerts/7/picture").body == still.body
    served.ask(f"/sessions/{session}", method="DELETE")


def test_health_says_how_long_a_frame_takes_and_on_what(served: Served, video: Path) -> None:
    session = start(served, source=str(video), realtime=False)["session"]
    until(lambda: bool(served.ask(f"/sessions/{session}").json["state"] == "finished"))
    health = served.ask(f"/sessions/{session}").json["health"]
    assert 0 < health["p50_ms"] <= health["p95_ms"]
    assert (health["provider"], health["precision"], health["reason"]) == ("CPUExecutionProvider", "float", "")


def test_a_bare_stream_has_no_words_on_it(served: Served, video: Path) -> None:
    session = start(served, source=str(video), realtime=False)["session"]
    until(lambda: bool(served.ask(f"/sessions/{session}").json["state"] == "finished"))
    pictures = [served.ask(f"/sessions/{session}/stream{query}").body for query in ("", "?bare")]
    first, second = (decode(data[data.index(b"\xff\xd8") :].rstrip(b"\r\n")) for data in pictures)
    assert first.shape == (360, 480, 3)  # wide enough for words
    assert second.shape == (48, 64, 3)


def test_a_headset_can_be_awaited_with_another_person(served: Served) -> None:
    session = start(served, source="headset: helga", person="trainee")["session"]
    again = served.ask("/sessions", {"source": "headset:helga"})
    assert (again.status, "already" in again.json["error"]) == (409, True)
    with served.connect("helga") as headset:
        hello = headset.wait_for("hello")
        assert (hello["session"], hello["state"]["person"]) == (session, "trainee")
        headset.frame(step_picture(1))
        headset.wait_for("ack")
        assert served.ask(f"/sessions/{session}", method="DELETE").json["state"] == "finished"
        headset.wait_for("summary")


def test_more_sessions_than_agreed_are_refused_in_a_sentence(served: Served) -> None:
    begun = [start(served, source=f"headset:{name}")["session"] for name in "abcdef"]
    try:
        answer = served.ask("/sessions", {"source": "headset:g"})
        assert (answer.status, "no more than 6" in answer.json["error"]) == (503, True)
    finally:
        for session in begun:
            served.ask(f"/sessions/{session}", method="DELETE")


@pytest.mark.parametrize(
    ("wish", "word"),
    [
        ({}, "source"),
        ({"source": 7}, "source"),
        ({"source": ""}, "source"),
        ({"source": "nothing.mp4"}, "nothing.mp4"),
        ({"source": "headset:" + "x" * 80}, "client"),
        ({"source": "0", "colour": 1}, "colour"),
        ({"source": "0", "bundle": "../task"}, "no bundle"),
        ({"source": "0", "bundle": "other"}, "no bundle"),
        ({"source": "0", "person": "a\nb"}, "person"),
        ({"source": "0", "rate": "fast"}, "rate"),
        ({"source": "0", "rate": -1}, "rate"),
        ({"source": "0", "rate": 1e300}, "rate"),
        ({"source": "0", "realtime": 1}, "realtime"),
        ({"source": "ftp://x/y"}, "rtsp"),
    ],
)
def test_a_wish_that_makes_no_sense_is_refused_in_a_sentence(served: Served, wish: object, word: str) -> None:
    answer = served.ask("/sessions", wish)
    assert answer.status == 400
    assert word in answer.json["error"]
    assert served.ask("/metrics").status == 200


NO_OBJECTS = [
    b"", b"[]", b"{", b"\xff\xfe", b"[" * 4000, b'"x"', b"null", b'{"source": "0", "rate": NaN}',
    b'{"source": "0", "rate": 1' + b"0" * 400 + b"}", b'{"source": "0", "rate": ' + b"9" * 5000 + b"}",
]  # fmt: skip


@pytest.mark.parametrize("data", NO_OBJECTS, ids=range(len(NO_OBJECTS)))
def test_what_is_no_object_is_refused(served: Served, data: bytes) -> None:
    assert served.ask("/sessions", data=data, method="POST").status == 400


@pytest.mark.parametrize("digits", [25, 400, 5000])
def test_an_action_with_a_number_out_of_all_proportion_is_refused(served: Served, digits: int) -> None:
    session = start(served, source="headset:helga")["session"]
    for field in ("snooze_s", "target", "step"):
        plain = '{"kind": "snooze", "%s": %s}' % (field, "9" * digits)  # noqa: UP031
        answer = served.ask(f"/sessions/{session}/actions", data=plain.encode(), method="POST")
        assert (answer.status, "Traceback" in answer.body.decode()) == (400, False)
    served.ask(f"/sessions/{session}", method="DELETE")


def test_a_long_body_is_refused_before_it_is_read(served: Served) -> None:
    assert served.ask("/sessions", data=b"x" * 100_000, method="POST").status == 413


@pytest.mark.parametrize("number", ["x", "-1", "1.5", "%D9%A1", "9" * 10, "9" * 5000])
def test_what_is_no_number_leads_to_no_picture(served: Served, number: str) -> None:
    session = start(served, source="headset:helga")["session"]
    for path in (f"stills/{number}/1", f"stills/1/{number}", f"alerts/{number}/picture"):
        answer = served.ask(f"/sessions/{session}/{path}")
        assert (answer.status, answer.json) == (404, {"error": "there is no such picture."})
    served.ask(f"/sessions/{session}", method="DELETE")


@pytest.mark.parametrize("path", ["/sessions/none", "/sessions/none/picture", "/nowhere", "/page/../app.py", "/page/x"])
def test_what_is_not_there_is_said_so(served: Served, path: str) -> None:
    answer = served.ask(path)
    assert answer.status == 404
    assert answer.json["error"]


def test_a_source_that_cannot_be_read_is_told_at_once(served: Served, tmp_path: Path) -> None:
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"no video")
    answer = served.ask("/sessions", {"source": str(broken)})
    assert (answer.status, "broken.mp4" in answer.json["error"]) == (400, True)


def test_metrics_can_be_read_by_prometheus(served: Served, video: Path) -> None:
    session = start(served, source=str(video), realtime=False)["session"]
    until(lambda: bool(served.ask(f"/sessions/{session}").json["state"] != "running"))
    text = served.ask("/metrics").body.decode()
    line = re.compile(r'[a-zA-Z_:][\w:]*(\{(\w+="([^"\\]|\\.)*",?)+\})? -?[\d.e+\-]+(inf|nan)?')
    lines = [one for one in text.splitlines() if not one.startswith("#")]
    assert all(line.fullmatch(one) for one in lines), [one for one in lines if not line.fullmatch(one)]
    for name in ("guide_frames_processed_total", "guide_stage_seconds_bucket", "guide_clients", "guide_network_runs"):
        assert name in text
    for stage in ("trunk", "head", "see"):
        assert f'guide_stage_seconds_count{{stage="{stage}"}}' in text


def test_the_page_and_its_files_are_there_and_ask_no_other_address(served: Served) -> None:
    page = served.ask("/")
    assert "default-src 'self'" in page.headers["content-security-policy"]
    texts = [page.body.decode(), *(served.ask(f"/page/{name}").body.decode() for name in FILES)]
    assert len(texts) == 1 + len([path for path in PAGE.iterdir() if path.name != "index.html"])
    for text in texts:
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)


def test_bundles_are_named(served: Served) -> None:
    assert served.ask("/bundles").json == {"bundles": ["task"], "default": "task"}

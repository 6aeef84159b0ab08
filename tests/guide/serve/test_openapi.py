"""The description of the HTTP side: it names every address, and every answer is as it says."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.routing import Route

from guide.procedure.actions import KINDS, ActionRequest
from guide.serve import schemas
from guide.serve.app import make_app
from guide.serve.openapi import description
from guide.serve.schemas import Bundles, Error, SessionRequest
from guide.serve.tokens import Tokens
from tests.server import Answer, Served, running, step_picture
from tests.tiny import Learned, write_steps

DOCUMENT = description()
SCHEMAS = DOCUMENT["components"]["schemas"]
values = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.lists(st.integers())


@pytest.fixture(scope="module")
def served(frames_task: Learned, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with running(frames_task.folder, tmp_path_factory.mktemp("data"), most_clients=3) as server:
        yield server


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    times = [number / 10 for number in range(80)]
    return write_steps(tmp_path_factory.mktemp("video") / "new.mp4", (1, 3, 0, 4), times)


def require(answer: Answer, path: str, method: str = "get") -> Any:
    """What the answer holds; its status, its kind and its content are as documented."""
    documented = DOCUMENT["paths"][path][method]["responses"]
    assert str(answer.status) in documented, (path, method, answer)
    said = documented[str(answer.status)]
    if "$ref" in said:
        said = DOCUMENT["components"]["responses"][said["$ref"].rpartition("/")[2]]
    if "content" not in said:
        return None
    [(kind, content)] = said["content"].items()
    assert answer.headers["content-type"].partition(";")[0] == kind
    if "schema" not in content:
        return None
    msgspec.convert(answer.json, getattr(schemas, content["schema"]["$ref"].rpartition("/")[2]))
    return answer.json


def fits(plain: object, kind: type[msgspec.Struct]) -> bool:
    with contextlib.suppress(msgspec.ValidationError):
        msgspec.convert(plain, kind)
        return True
    return False


def test_it_is_served(served: Served) -> None:
    assert served.ask("/openapi.json").json == DOCUMENT


def test_every_address_is_described_and_no_other() -> None:
    app: Any = make_app(_Nothing(), Tokens("t" * 20))  # type: ignore[arg-type]
    routes = {
        (route.path, method.lower())
        for route in app.routes
        if isinstance(route, Route)
        for method in route.methods or ()
    }
    described = {
        (path, method) for path, item in DOCUMENT["paths"].items() for method in item if method != "parameters"
    }
    assert {one for one in routes if one[1] != "head"} == described


class _Nothing:
    """As much of the sessions as making the addresses takes."""

    metrics = None


def test_all_that_is_described_is_used_and_closed() -> None:
    assert all(schema["additionalProperties"] is False for schema in SCHEMAS.values())
    assert set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(DOCUMENT))) == set(SCHEMAS)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"error": 1}, Error), ({}, Error), ({"error": "x", "more": 1}, Error), ([], Error),
        ({"source": "0", "rate": 0}, SessionRequest), ({"source": "0", "rate": True}, SessionRequest),
        ({"source": "x" * 2001}, SessionRequest),
        ({"kind": "other"}, ActionRequest), ({"kind": "next", "step": 0}, ActionRequest),
        ({"bundles": [1], "default": ""}, Bundles),
    ],
)  # fmt: skip
def test_the_check_sees_what_does_not_fit(value: object, kind: type[msgspec.Struct]) -> None:
    assert not fits(value, kind)


def test_every_answer_is_as_described(served: Served, video: Path) -> None:
    for path in ("/health", "/bundles", "/metrics", "/", "/openapi.json"):
        require(served.ask(path, token=None if path == "/health" else served.token), path)
    require(served.ask("/page/page.js"), "/page/{name}")
    require(served.ask("/page/none"), "/page/{name}")
    begun = require(served.ask("/sessions", {"source": str(video)}), "/sessions", "post")
    session, at = begun["session"], f"/sessions/{begun['session']}"
    step = next(one["step"] for one in served.ask(at).json["steps"] if one["stills"])
    require(served.ask(f"{at}/actions", {"kind": "mark_done", "step": 2}), "/sessions/{session}/actions", "post")
    require(served.ask(f"{at}/actions", {"kind": "nonsense"}), "/sessions/{session}/actions", "post")
    require(served.ask(f"{at}/picture"), "/sessions/{session}/picture")
    require(served.ask(f"{at}/stills/{step}/1"), "/sessions/{session}/stills/{step}/{number}")
    require(served.ask(f"{at}/stills/{step}/99"), "/sessions/{session}/stills/{step}/{number}")
    require(served.ask(f"{at}/alerts/99/picture"), "/sessions/{session}/alerts/{alert}/picture")
    listed = require(served.ask("/sessions"), "/sessions")
    assert session in {one["session"] for one in listed["sessions"]}
    assert "steps" in require(served.ask(at), "/sessions/{session}")
    require(served.ask(at, method="DELETE"), "/sessions/{session}", "delete")
    require(served.ask(f"{at}/stream"), "/sessions/{session}/stream")
    require(served.ask(f"{at}/beats"), "/sessions/{session}/beats")
    require(served.ask("/sessions/none/beats"), "/sessions/{session}/beats")
    require(served.ask("/sessions", {"source": "nothing.mp4"}), "/sessions", "post")
    require(served.ask("/sessions", data=b"x" * 9_000, method="POST"), "/sessions", "post")
    require(served.ask("/sessions/none"), "/sessions/{session}")
    require(served.ask("/sessions/none", method="DELETE"), "/sessions/{session}", "delete")


def test_a_session_in_full_swing_is_as_described(served: Served) -> None:
    """With a label, a step, a timeline, alerts and actions, as far as this task shows them."""
    with served.connect("helmet") as headset:
        hello = headset.wait_for("hello")
        headset.show((4, 1), 2.5)
        headset.send({"kind": "snooze", "target": 1})
        shown = require(served.ask(f"/sessions/{hello['session']}"), "/sessions/{session}")
        assert shown["timeline"]
        assert shown["label"]
        require(served.ask("/sessions"), "/sessions")
        again = served.ask("/sessions", {"source": "headset:helmet"})
        assert require(again, "/sessions", "post")["error"]
        assert again.status == 409
        headset.frame(step_picture(2))
        headset.finish()


def test_what_the_description_forbids_is_refused(served: Served) -> None:
    session = served.ask("/sessions", {"source": "headset:fuzz"}).json["session"]
    names = st.sampled_from([*SCHEMAS["ActionRequest"]["properties"], "colour"])
    kinds = st.sampled_from(KINDS) | values

    @settings(derandomize=True, deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
    @given(st.dictionaries(names, values, max_size=4), kinds)
    def check(plain: dict[str, object], kind: object) -> None:
        asked = {**plain, "kind": kind}
        answer = served.ask(f"/sessions/{session}/actions", asked)
        require(answer, "/sessions/{session}/actions", "post")
        assert answer.status == 400 or fits(asked, ActionRequest), asked

    check()
    served.ask(f"/sessions/{session}", method="DELETE")


@settings(derandomize=True, deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
@given(st.dictionaries(st.sampled_from([*SCHEMAS["SessionRequest"]["properties"], "colour"]), values, max_size=4))
def test_wishes_against_the_description_are_refused(served: Served, wish: dict[str, object]) -> None:
    source = "headset:wish" if isinstance(wish.get("source", ""), str) else wish["source"]
    asked = {**wish, "source": source}
    answer = served.ask("/sessions", asked)
    shown = require(answer, "/sessions", "post")
    assert answer.status == 400 or fits(asked, SessionRequest), asked
    if answer.status == 201:
        served.ask(f"/sessions/{shown['session']}", method="DELETE")

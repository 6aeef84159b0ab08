"""The description of the HTTP side: it names every address, and every answer is as it says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.routing import Route

from guide.domain import AlertKind, Severity
from guide.procedure.actions import KINDS, LONGEST_SNOOZE_S, LONGEST_TEXT
from guide.serve.app import OPENAPI, make_app
from guide.serve.runs import LONGEST_NAME, LONGEST_SOURCE, MOST_STILLS
from tests.server import Answer, Served, running, step_picture
from tests.tiny import Learned, write_steps

DOCUMENT: dict[str, Any] = json.loads(OPENAPI.read_text(encoding="utf-8"))
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
    assert misfits(answer.json, content["schema"]) == []
    return answer.json


TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,), "number": (int, float), "integer": (int,), "boolean": (bool,), "null": (type(None),),
    "array": (list,), "object": (dict,),
}  # fmt: skip
RULES: dict[str, Callable[[Any, Any], bool]] = {
    "const": lambda value, wanted: bool(value == wanted),
    "enum": lambda value, wanted: value in wanted,
    "minimum": lambda value, wanted: value is None or value >= wanted,
    "maximum": lambda value, wanted: value is None or value <= wanted,
    "exclusiveMinimum": lambda value, wanted: value is None or value > wanted,
    "exclusiveMaximum": lambda value, wanted: value is None or value < wanted,
    "maxLength": lambda value, wanted: value is None or len(value) <= wanted,
    "pattern": lambda value, wanted: re.search(wanted, value) is not None,
    "required": lambda value, wanted: set(wanted) <= set(value),
    "anyOf": lambda value, wanted: any(misfits(value, one) == [] for one in wanted),
}
STRUCTURE = {"$ref", "type", "properties", "additionalProperties", "items", "description"}


def misfits(value: Any, schema: dict[str, Any], where: str = "it") -> list[str]:
    """Where a value is not as a schema says, a line each; knows as much of JSON Schema as the document uses."""
    if "$ref" in schema:
        return misfits(value, SCHEMAS[schema["$ref"].rpartition("/")[2]], where)
    assert set(schema) <= STRUCTURE | set(RULES), schema
    names = schema.get("type", [])
    if names and not any(_is(value, one) for one in ([names] if isinstance(names, str) else names)):
        return [f"{where} is no {names}: {value!r:.60}"]
    found = [
        f"{where} breaks {name}" for name, rule in RULES.items() if name in schema and not rule(value, schema[name])
    ]
    if isinstance(value, dict) and "properties" in schema:
        known = schema["properties"]
        found += [f"{where} has {name}" for name in value if name not in known]
        found += [line for name in set(value) & set(known) for line in misfits(value[name], known[name], name)]
    for one in value if isinstance(value, list) else ():
        found += misfits(one, schema["items"], f"one of {where}")
    return found


def _is(value: object, name: str) -> bool:
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def fits(plain: object, name: str) -> bool:
    return misfits(plain, SCHEMAS[name]) == []


def test_it_is_served(served: Served) -> None:
    assert served.ask("/openapi.json").json == DOCUMENT


def test_every_address_is_described_and_no_other() -> None:
    app: Any = make_app(_Nothing(), "t" * 20)  # type: ignore[arg-type]
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


def test_its_words_are_those_of_the_code() -> None:
    for name in ("Action", "Taken"):
        assert tuple(SCHEMAS[name]["properties"]["kind"]["enum"]) == KINDS
    assert tuple(SCHEMAS["Alert"]["properties"]["kind"]["enum"]) == get_args(AlertKind)
    assert tuple(SCHEMAS["Alert"]["properties"]["severity"]["enum"]) == get_args(Severity)
    wish, action = SCHEMAS["SessionRequest"]["properties"], SCHEMAS["Action"]["properties"]
    assert (wish["source"]["maxLength"], wish["person"]["maxLength"]) == (LONGEST_SOURCE, LONGEST_NAME)
    assert (wish["rate"]["maximum"], action["comment"]["maxLength"]) == (MOST_STILLS, LONGEST_TEXT)
    assert action["snooze_s"]["maximum"] == LONGEST_SNOOZE_S


def test_all_that_is_described_is_used_and_closed() -> None:
    text = OPENAPI.read_text(encoding="utf-8")
    for name, schema in SCHEMAS.items():
        assert f'"#/components/schemas/{name}"' in text, name
        assert schema["additionalProperties"] is False
    assert set(re.findall(r'"#/components/schemas/(\w+)"', text)) == set(SCHEMAS)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ({"error": 1}, "Error"), ({}, "Error"), ({"error": "x", "more": 1}, "Error"), ([], "Error"),
        ({"source": "0", "rate": 0}, "SessionRequest"), ({"source": "0", "rate": True}, "SessionRequest"),
        ({"source": "x" * 2001}, "SessionRequest"),
        ({"kind": "other"}, "Action"), ({"kind": "next", "step": 0}, "Action"),
        ({"bundles": [1], "default": ""}, "Bundles"),
    ],
)  # fmt: skip
def test_the_check_sees_what_does_not_fit(value: object, name: str) -> None:
    assert not fits(value, name)


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
    names = st.sampled_from([*SCHEMAS["Action"]["properties"], "colour"])
    kinds = st.sampled_from(KINDS) | values

    @settings(derandomize=True, deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
    @given(st.dictionaries(names, values, max_size=4), kinds)
    def check(plain: dict[str, object], kind: object) -> None:
        asked = {**plain, "kind": kind}
        answer = served.ask(f"/sessions/{session}/actions", asked)
        require(answer, "/sessions/{session}/actions", "post")
        assert answer.status == 400 or fits(asked, "Action"), asked

    check()
    served.ask(f"/sessions/{session}", method="DELETE")


@settings(derandomize=True, deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
@given(st.dictionaries(st.sampled_from([*SCHEMAS["SessionRequest"]["properties"], "colour"]), values, max_size=4))
def test_wishes_against_the_description_are_refused(served: Served, wish: dict[str, object]) -> None:
    source = "headset:wish" if isinstance(wish.get("source", ""), str) else wish["source"]
    asked = {**wish, "source": source}
    answer = served.ask("/sessions", asked)
    shown = require(answer, "/sessions", "post")
    assert answer.status == 400 or fits(asked, "SessionRequest"), asked
    if answer.status == 201:
        served.ask(f"/sessions/{shown['session']}", method="DELETE")

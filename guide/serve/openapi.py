"""The served description of the HTTP side (OpenAPI 3.1): its addresses here, its objects made from the schemas."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from guide.procedure.actions import ActionRequest
from guide.serve.schemas import Bundles, Error, Health, SessionRequest, Sessions, State, Taken

Plain = dict[str, Any]
Answer = tuple[str, type[msgspec.Struct] | str | None]
"""Its description, and its schema, or its media type where it is no JSON."""

SCHEMA = "#/components/schemas/{name}"
NO_SESSION: Answer = ("There is no such session.", Error)
NO_PICTURE: Answer = ("There is no such session or picture.", Error)
PICTURE: Answer = ("The picture.", "image/jpeg")
UNTAKEN: dict[int, Answer] = {400: ("The request cannot be understood.", Error), 413: ("The body is too long.", Error)}


@cache
def description() -> Plain:
    """The whole document.

    >>> description()["components"]["schemas"]["Error"]["required"]
    ['error']
    """
    objects = (Error, Health, Bundles, SessionRequest, ActionRequest, Taken, State, Sessions)
    _, schemas = msgspec.json.schema_components(objects, ref_template=SCHEMA)
    about = "Sessions of the guide, for dashboards and other programs. The headsets' WebSocket /frames stands in "
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "python -m guide serve",
            "version": "1",
            "description": about + "docs/protocol.md.",
            "license": {"name": "GPL-3.0-or-later", "identifier": "GPL-3.0-or-later"},
        },
        "servers": [{"url": "/"}],
        "security": [{"token": []}, {"query": []}],
        "paths": _paths(),
        "components": {
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "query": {"type": "apiKey", "in": "query", "name": "token"},
            },
            "responses": {
                "NoToken": _answer(("The token is wrong or missing; the answer is delayed.", Error)),
                "OtherRole": _answer(("The token's role does not allow this.", Error)),
            },
            "schemas": schemas,
        },
    }


def _paths() -> Plain:
    session = "/sessions/{session}"
    named = _place("session", "The session's name.", type="string")
    name = _place("name", "The file's name.", type="string")
    step, number, alert = (
        _place(word, about, type="integer", minimum=0)
        for word, about in (("step", "The step."), ("number", "1 for the first."), ("alert", "The alert."))
    )
    cut = _flag("cut", "Breaks it off instead: there is no verdict, and its recording is marked as interrupted.")
    bare = _flag("bare", "Without text on it.")
    health = _operation("health", "Whether the server runs; needs no token.", {200: ("It does.", Health)})
    del health["responses"]["401"], health["responses"]["403"]
    beats = "The numbers that change with every frame, and a mark that changes with anything else, as events until the session ends."  # noqa: E501
    started: dict[int, Answer] = {
        201: ("It was started.", State),
        **UNTAKEN,
        409: ("That headset has a session already.", Error),
        503: ("The limit of sessions is reached.", Error),
    }
    return {
        "/health": {"get": {**health, "security": []}},
        "/openapi.json": {"get": _operation("description", "This document.", {200: ("It.", "application/json")})},
        "/": {
            "get": _operation(
                "page", "The page for a phone or a headset's browser.", {200: ("The page.", "text/html")}
            )
        },
        "/page/{name}": {
            "get": _operation(
                "file", "A file of the page.",
                {200: ("The file.", None), 404: ("There is no such file.", Error)}, parameters=[name],
            )
        },
        "/metrics": {
            "get": _operation(
                "metrics", "Counts and times for Prometheus.", {200: ("The text that Prometheus reads.", "text/plain")}
            )
        },
        "/bundles": {
            "get": _operation("bundles", "The bundles that can be chosen.", {200: ("Their names.", Bundles)})
        },
        "/sessions": {
            "get": _operation(
                "sessions", "Running and recently finished sessions in brief.", {200: ("The sessions.", Sessions)}
            ),
            "post": _operation("start", "Starts a session.", started, requestBody=_body(SessionRequest)),
        },
        session: {
            "parameters": [named],
            "get": _operation(
                "look", "Where a session stands.", {200: ("The state, with all steps.", State), 404: NO_SESSION}
            ),
            "delete": _operation(
                "end", "Ends a session properly; a second time does nothing.",
                {200: ("Its last state.", State), 404: NO_SESSION}, parameters=[cut],
            ),
        },
        f"{session}/actions": {
            "parameters": [named],
            "post": _operation(
                "act", "Takes an operator's action.", {201: ("It was taken.", Taken), **UNTAKEN, 404: NO_SESSION},
                requestBody=_body(ActionRequest),
            ),
        },
        f"{session}/picture": {
            "parameters": [named],
            "get": _operation("picture", "The newest annotated picture.", {200: PICTURE, 404: NO_PICTURE}),
        },
        f"{session}/stream": {
            "parameters": [named],
            "get": _operation(
                "stream", "The same as MJPEG, until the session ends.",
                {
                    200: ("The pictures.", "multipart/x-mixed-replace"),
                    404: NO_SESSION,
                    503: ("The limit of viewers is reached.", Error),
                },
                parameters=[bare],
            ),
        },
        f"{session}/beats": {
            "parameters": [named],
            "get": _operation(
                "beats", beats,
                {
                    200: ("One JSON object per event.", "text/event-stream"),
                    404: NO_SESSION,
                    503: ("The limit of viewers is reached.", Error),
                },
            ),
        },
        f"{session}/stills/{{step}}/{{number}}": {
            "parameters": [named, step, number],
            "get": _operation(
                "still", "A picture of a step from the demonstrations.", {200: PICTURE, 404: NO_PICTURE}
            ),
        },
        f"{session}/alerts/{{alert}}/picture": {
            "parameters": [named, alert],
            "get": _operation(
                "snapshot", "The picture kept of an alert's moment.", {200: PICTURE, 404: NO_PICTURE}
            ),
        },
    }  # fmt: skip


def _operation(name: str, summary: str, answers: dict[int, Answer], **more: Any) -> Plain:
    responses = {str(status): _answer(answer) for status, answer in answers.items()}
    responses["401"] = {"$ref": "#/components/responses/NoToken"}
    responses["403"] = {"$ref": "#/components/responses/OtherRole"}
    return {"operationId": name, "summary": summary, **more, "responses": responses}


def _answer(answer: Answer) -> Plain:
    about, kind = answer
    if kind is None:
        return {"description": about}
    return {"description": about, "content": {kind: {}} if isinstance(kind, str) else _json(kind)}


def _body(kind: type[msgspec.Struct]) -> Plain:
    return {"required": True, "content": _json(kind)}


def _json(kind: type[msgspec.Struct]) -> Plain:
    return {"application/json": {"schema": {"$ref": SCHEMA.format(name=kind.__name__)}}}


def _place(name: str, about: str, **schema: Any) -> Plain:
    return {"name": name, "in": "path", "required": True, "description": about, "schema": schema}


def _flag(name: str, about: str) -> Plain:
    schema = {"type": "string"}
    return {"name": name, "in": "query", "allowEmptyValue": True, "description": about, "schema": schema}

"""What a fleet logs is read by programs: every line is an object, whatever is said."""

from __future__ import annotations

import json
import logging

import pytest

from guide.fleet.logs import log_as_json


def test_a_line_is_an_object_even_with_a_trace(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])  # those of the tests come back
    monkeypatch.setattr(root, "level", root.level)
    log_as_json("replica-1")
    try:
        raise ValueError("of\ntwo lines")
    except ValueError:
        logging.getLogger("guide.serve").exception("session %s\nfailed", 7)
    (line,) = capsys.readouterr().err.splitlines()
    told = json.loads(line)
    assert (told["level"], told["process"], told["module"]) == ("error", "replica-1", "guide.serve")
    assert told["text"] == "session 7\nfailed"
    assert told["trace"].endswith("ValueError: of\ntwo lines")

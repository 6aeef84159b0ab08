"""Edits survive JSON, say what they are, and refuse what makes no sense."""

from __future__ import annotations

import json
from typing import Any

import pytest

from guide.domain import Segment
from guide.errors import InputError
from guide.procedure.model import GivenRule
from guide.teach.edits import (
    Drop,
    Edit,
    Give,
    Label,
    Language,
    Mark,
    Merge,
    Name,
    Say,
    Split,
    from_plain,
    tell,
    to_plain,
)

EDITS: list[Edit] = [
    Name(3, "fit board"),
    Say(3, "fit the board, chip up"),
    Say(3, ""),
    Language("pt-BR"),
    Language(""),
    Merge((4, 5)),
    Split(3),
    Split(3, 0.25),
    Drop(7),
    Mark(2, "optional"),
    Mark(2, "repeatable", is_on=False),
    Give(GivenRule("before", (1, 2), holds=False)),
    Give(GivenRule("either", (3, 1)), is_on=False),
    Give(GivenRule("required", (2,))),
    Label("01", (Segment(1, 0.0, 2.0), Segment(9, 2.0, 4.0)), ((9, "sweep"),)),
]


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_comes_back_from_json(edit: Edit) -> None:
    assert from_plain(json.loads(json.dumps(to_plain(edit)))) == edit
    assert tell(edit, {})


@pytest.mark.parametrize(
    "plain",
    [
        None,
        {},
        {"kind": "paint"},
        {"kind": "name", "step": "3", "name": "a"},
        {"kind": "name", "step": True, "name": "a"},
        {"kind": "mark", "step": 1, "mark": "holy", "on": True},
        {"kind": "label", "recording": "01", "segments": [[1, 2.0, 1.0]], "names": []},
    ],
)
def test_what_is_no_edit_is_refused(plain: Any) -> None:
    with pytest.raises(InputError, match="an edit was expected"):
        from_plain(plain)


@pytest.mark.parametrize("name", ["", " \t ", "x" * 81, "\u200b"])
def test_a_name_is_something_to_read(name: str) -> None:
    with pytest.raises(InputError, match="1 to 80 letters"):
        Name(1, name)


@pytest.mark.parametrize("tag", ["German", "de_DE", "d", "de-", "de\nen"])
def test_a_language_is_written_as_browsers_do(tag: str) -> None:
    with pytest.raises(InputError, match="a language is written as de or pt-BR"):
        Language(tag)


@pytest.mark.parametrize("steps", [(), (1,), (1, 1)])
def test_a_merge_needs_two(steps: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="two or more"):
        Merge(steps)


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0, float("nan")])
def test_a_share_lies_inside(share: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        Split(1, share)


@pytest.mark.parametrize(
    ("segments", "words"),
    [
        ((), "none came"),
        ((Segment(1, 0.0, 3.0), Segment(2, 2.0, 4.0)), "begins at 2 s"),
        ((Segment(0, 0.0, 3.0),), "a step from 1 on"),
        ((Segment(1, 1.0, 1.0),), "lasts a while"),
    ],
)
def test_labels_follow_one_another(segments: tuple[Segment, ...], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Label("01", segments)

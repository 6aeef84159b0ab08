import json
from pathlib import Path

import pytest

from guide.commands.order import OrderConfig, report
from guide.errors import InputError


def write(path: Path, *sequences: str, wrong: str = "") -> Path:
    """One letter a step; those in `wrong` are marked as mistakes."""
    lines = []
    for number, names in enumerate(sequences):
        steps = [
            {"name": name, "start": 10 * at, "end": 10 * at + 8, "mistake": name in wrong}
            for at, name in enumerate(names)
        ]
        lines.append(json.dumps({"id": str(number), "steps": steps}))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_the_table_has_our_row_the_silent_row_and_the_graph(tmp_path: Path) -> None:
    config = OrderConfig(write(tmp_path / "a", *["abc"] * 4), write(tmp_path / "b", "acb", wrong="c"), graph=True)
    text = report(config)
    assert "ours" in text
    assert "never flag" in text
    assert "a -> b  (4 of 4)" in text
    assert "a -> c" not in text


def test_json_says_the_same_and_names_what_was_found(tmp_path: Path) -> None:
    train, test = write(tmp_path / "a", *["abc"] * 4), write(tmp_path / "b", "acb", "abz", wrong="cz")
    plain = json.loads(report(OrderConfig(train, test, json=True, blame="early")))
    assert plain["ours"]["f1_mistake"] == 1.0
    assert plain["never_flag"]["f1_mistake"] == 0.0
    first, second = plain["results"]
    assert [(alert["kind"], alert["name"], alert["before"]) for alert in first["alerts"]] == [
        ("out_of_order", "c", "b")
    ]
    assert [step["flagged"] for step in second["steps"]] == [False, False, True]
    assert second["missed"] == ["c"]
    assert {(edge["first"], edge["then"]) for edge in plain["graph"]} == {("a", "b"), ("b", "c")}


def test_missing_and_empty_files_are_named(tmp_path: Path) -> None:
    full = write(tmp_path / "a", "abc")
    with pytest.raises(InputError, match="nowhere"):
        report(OrderConfig(full, tmp_path / "nowhere"))
    with pytest.raises(InputError, match="one sequence a line"):
        report(OrderConfig(write(tmp_path / "empty"), full))
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="readable text"):
        report(OrderConfig(tmp_path / "bytes", full))


def test_what_is_told_is_listed_and_what_cannot_be_scored_is_not(tmp_path: Path) -> None:
    train, test = write(tmp_path / "a", *["abc"] * 4), write(tmp_path / "b", "acb", "ab")
    text = report(OrderConfig(train, test))
    ours = next(line for line in text.splitlines() if line.startswith("ours")).split()
    assert ours[2:6] == ["-"] * 4, "nothing is marked as a mistake"
    assert "none is marked as left out" in text
    told = text.split("told:\n")[1].splitlines()
    assert [line.split("(")[0].strip() for line in told] == [
        "0  20.0 s  out of order: c, before b",
        "1  18.0 s  missed: c",
    ]
    assert "checked 2 sequences of 5 steps" in text
    assert report(OrderConfig(train, write(tmp_path / "c", "abc"))).endswith("told:\nnothing")


def test_many_alerts_are_cut_short(tmp_path: Path) -> None:
    text = report(OrderConfig(write(tmp_path / "a", *["abc"] * 4), write(tmp_path / "b", *["acb"] * 45)))
    assert text.endswith("and 5 more: --json prints all")
    assert text.count("out of order") == 40


def test_what_teaches_is_said(tmp_path: Path) -> None:
    test = write(tmp_path / "t", "abc")
    some = write(tmp_path / "some", "abc", "abc", "acz", wrong="z")
    assert "learnt from 2 sequences of 3 steps, 1 with mistakes left aside" in report(OrderConfig(some, test))
    alone = report(OrderConfig(write(tmp_path / "one", "abc"), test))
    assert "learnt from 1 sequence of 3 steps; false alarms leaving one out: not known from one" in alone
    (tmp_path / "empty").write_text('{"id": "x", "steps": []}', encoding="utf-8")
    with pytest.raises(InputError, match="its sequences hold none"):
        report(OrderConfig(tmp_path / "empty", test))


@pytest.mark.parametrize("rate", [-1.0, float("nan"), float("inf")])
def test_a_rate_that_is_none_is_refused(rate: float, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="from 0 up"):
        report(OrderConfig(write(tmp_path / "a", "abc"), write(tmp_path / "b", "abc"), rate=rate))


def test_a_byte_order_mark_is_no_harm(tmp_path: Path) -> None:
    plain = write(tmp_path / "a", *["abc"] * 4)
    marked = tmp_path / "marked"
    marked.write_bytes(b"\xef\xbb\xbf" + plain.read_bytes())
    assert report(OrderConfig(marked, plain)) == report(OrderConfig(plain, plain))

import json
from dataclasses import replace
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
    told = text.split("alerts:\n")[1].splitlines()
    assert [line.split("(")[0].strip() for line in told] == [
        "0  20.0 s  out of order: c, before b",
        "1  18.0 s  missed: c",
    ]
    assert "checked 2 sequences of 5 steps" in text
    assert report(OrderConfig(train, write(tmp_path / "c", "abc"))).endswith("alerts:\nnone")


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


def test_of_two_products_the_one_that_fits_is_named_as_the_evidence(tmp_path: Path) -> None:
    """Step c follows a in one product and b in the other: c first is wrong in both: the nearest is named."""
    train = write(tmp_path / "a", *["adcf", "becg"] * 4)
    plain = json.loads(report(OrderConfig(train, write(tmp_path / "b", "c", "dc", "ca"), json=True)))
    alone, given, late = ([(a["kind"], a["name"], a["evidence"]) for a in one["alerts"]] for one in plain["results"])
    assert alone == [("missed", "d", 'not seen by the end: "d" or "e" came first in 8 of 8 that did "c"')]
    assert given == [("missed", "a", 'not seen by the end: "a" came first in 4 of 4 that did "d"')]
    assert late == alone, "neither d nor e came"
    assert [[step["flagged"] for step in one["steps"]] for one in plain["results"]] == [
        [True], [True, True], [True, True],
    ]  # fmt: skip


def test_right_sequences_of_both_products_are_passed(tmp_path: Path) -> None:
    train = write(tmp_path / "a", *["adcf", "becg"] * 4)
    assert report(OrderConfig(train, write(tmp_path / "b", "adcf", "becg"))).endswith("alerts:\nnone")


def test_the_curve_finds_more_where_more_false_alarms_are_borne(tmp_path: Path) -> None:
    train = write(tmp_path / "a", *["abcde"] * 3, "bacde", "abced", "abdce")
    test = write(tmp_path / "b", "acbde", "eabcd", "abcde", wrong="ace")
    plain = json.loads(report(OrderConfig(train, test, json=True)))
    curve = {row["budget"]: row for row in plain["curve"]}
    assert [*curve] == [0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0]
    assert curve[0.2] == {"budget": 0.2, **plain["ours"]}, "the row of the default budget is the table's"
    recalls = [row["recall"] for row in curve.values()]
    assert recalls == sorted(recalls)
    assert recalls[0] == 0.0 < recalls[-1], "six sequences cannot promise one false alarm in twenty"
    printed = report(OrderConfig(train, test)).split("budget")[1].split("\n\n")[0].splitlines()[1:]
    assert [float(line.split()[2]) for line in printed] == [round(one, 3) for one in recalls]


def test_a_step_never_seen_is_a_mistake_of_its_own_kind(tmp_path: Path) -> None:
    train = write(tmp_path / "a", *["abc"] * 4)
    config = OrderConfig(train, write(tmp_path / "b", "abzc", wrong="z"))
    text = report(config)
    assert "steps never seen in training: 1, 1 marked as mistakes (reported)" in text
    assert "unknown: z" in text
    (one,) = json.loads(report(replace(config, json=True)))["results"]
    assert [step["unseen"] for step in one["steps"]] == [False, False, True, False]
    mixed = write(tmp_path / "c", "abcy", "abcx", "abcw")
    assert "not reported: correct left-out sequences have them too" in report(replace(config, train=mixed))

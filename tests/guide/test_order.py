import json
from pathlib import Path

import pytest

from guide.errors import InputError
from guide.order import OrderConfig, report


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

"""`python -m guide steps`: a list becomes a procedure, which guides a person at a terminal who says what is done."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from guide.__main__ import main
from guide.bundle import read_bundle
from guide.commands.replay import ReplayOptions, differences, open_replay
from guide.procedure.reading import from_plain
from tests.guide.commands.test_keys import Seat
from tests.tiny import Learned, altered

TOYS = {"a": "fit axle", "b": "fit spring", "c": "close cover", "d": "fit wheel", "e": "fit lever", "f": "pack car"}
LIST = "fit gasket\nany order:\n  attach hose\n  attach cable\nclose cover\n"


def run(monkeypatch: pytest.MonkeyPatch, *words: str | Path) -> None:
    monkeypatch.setattr(sys, "argv", ["guide", *map(str, words)])
    main()


def write_sequences(path: Path, *sequences: str) -> Path:
    """One letter a step, named as in TOYS."""
    lines = (
        {"id": str(number), "steps": [{"name": TOYS[one], "start": at, "end": at + 1} for at, one in enumerate(steps)]}
        for number, steps in enumerate(sequences)
    )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def pump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pump.txt").write_text(LIST, encoding="utf-8")
    run(monkeypatch, "steps", tmp_path / "pump.txt", "--out", tmp_path / "exported" / "pump")
    return tmp_path / "exported" / "pump"


def test_a_list_becomes_a_sound_procedure(
    pump: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, "check", pump)
    assert "a written list of 4 steps, guided by hand" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="2"):
        run(monkeypatch, "review", pump, "--name", "1=a")
    assert "change the list" in capsys.readouterr().err


def test_a_list_is_written_anew_but_takes_no_learned_procedure_away(
    pump: Path, tmp_path: Path, features_task: Learned, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(monkeypatch, "steps", tmp_path / "pump.txt", "--out", pump)
    altered(features_task.bundle, tmp_path / "learned")
    before = sorted((tmp_path / "learned").rglob("*"))
    with pytest.raises(SystemExit, match="2"):
        run(monkeypatch, "steps", tmp_path / "pump.txt", "--out", tmp_path / "learned")
    assert sorted((tmp_path / "learned").rglob("*")) == before


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "one a line, got none"),
        (b"\xff\xfe\x00", "no UTF-8 text"),
        (b"cut\ncut\n", "stands in line 1 already"),
        (b"x" * 1_000_001, "more than 1000000 bytes"),
        (None, "No such file"),
    ],
)
def test_bad_lists_are_one_sentence_and_code_2(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    data: bytes | None,
    words: str,
) -> None:
    if data is not None:
        (tmp_path / "list.txt").write_bytes(data)
    with pytest.raises(SystemExit) as ended:
        run(monkeypatch, "steps", tmp_path / "list.txt", "--out", tmp_path / "out")
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("more", [(), ("--jsonl",)])
def test_where_nobody_can_press_a_key_the_way_out_is_said(
    pump: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], more: tuple[str, ...]
) -> None:
    with pytest.raises(SystemExit) as ended:  # it would go on for ever
        run(monkeypatch, "watch", "none", "--bundle", pump, *more)
    assert ended.value.code == 2
    assert "the page Live" in capsys.readouterr().err


def test_a_person_is_guided_by_the_key_that_says_done(pump: Path, tmp_path: Path) -> None:
    data = tmp_path / "sessions"
    seat = Seat(
        [sys.executable, "-m", "guide", "watch", "none", "--bundle", str(pump), "--record", "--data", str(data)]
    )
    try:
        seat.wait_for("next: fit gasket")
        seat.press("d")
        seat.wait_for("next: attach hose")
        seat.press("4d")
        seat.wait_for("issed: attach hose")
        seat.press("u")
        seat.wait_for("withdrawn")
        seat.press("3d2d")
        seat.wait_for("next: close cover")
        seat.press("qq")
        seat.wait_for("issed: close cover")
        seat.wait_for("recorded as")
        assert "frames came" not in seat.said  # there is no camera to tell of
    finally:
        seat.close()
    replay = open_replay(ReplayOptions("last", data=data))
    assert differences(replay.contents, replay.updates()) == []


def test_sequences_of_two_products_guide_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cover comes after the wheel of the one or the lever of the other; first, it is wrong in both."""
    sequences = write_sequences(tmp_path / "toys.JSONL", *["adcf", "bec"] * 4)
    run(monkeypatch, "steps", sequences, "--out", tmp_path / "toys")
    steps = [step.name for step in from_plain(read_bundle(tmp_path / "toys").json("procedure.json")).steps]
    seat = Seat([sys.executable, "-m", "guide", "watch", "none", "--bundle", str(tmp_path / "toys")])
    try:
        seat.wait_for("next: ")
        seat.press(f"{1 + steps.index('close cover')}d")
        seat.wait_for("Out of order: close cover")
        seat.wait_for('"fit wheel" or "fit lever" came first')
        seat.wait_for('in 8 of 8 that did "close cover"')
        seat.press(f"u{1 + steps.index('fit axle')}d")
        seat.wait_for("next: fit wheel (4 of 4 did this next)")
        seat.press("qq")
        seat.wait_for("the session is being ended")
        seat.wait_for("timeline: fit axle")
        assert "short" not in seat.said, "a step marked as done lasts no time"
    finally:
        seat.close()


def test_sequences_without_steps_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        run(monkeypatch, "steps", write_sequences(tmp_path / "none.jsonl", ""), "--out", tmp_path / "out")
    assert "hold none: give others" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()

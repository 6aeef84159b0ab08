"""`python -m guide review`: edits from the command line, versions, and one sentence for what is wrong."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from guide.__main__ import main
from guide.bundle import read_bundle
from guide.procedure.reading import from_plain
from tests.tiny import Learned, altered


@pytest.fixture
def box(features_task: Learned, tmp_path: Path) -> Path:
    altered(features_task.bundle, tmp_path / "box")
    return tmp_path / "box"


def run(monkeypatch: pytest.MonkeyPatch, *words: str | Path) -> None:
    monkeypatch.setattr(sys, "argv", ["guide", *map(str, words)])
    main()


def names(folder: Path) -> dict[int, str]:
    return {step.number: step.name for step in from_plain(read_bundle(folder).json("procedure.json")).steps}


def test_many_edits_at_once(
    box: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "two"
    words = ["--name", '3=fit "the" board', "--merge", "1,2", "--background", "4", "--split", "3@0.5"]
    more = [
        "--say",
        "3=fit the board, chip up",
        "--language",
        "de",
        "--optional",
        "1",
        "--repeatable",
        "3",
        "--relax",
        "1 before 3",
    ]
    run(monkeypatch, "review", box, *words, *more, "--out", out)
    said = capsys.readouterr().out
    assert "merged step 1 and step 2" in said
    assert "version 2: 3 key-steps" in said
    assert names(out) == {1: "step 1", 3: 'fit "the" board', 5: "step 5"}
    procedure = from_plain(read_bundle(out).json("procedure.json"))
    assert (procedure.said(3), procedure.said(5), procedure.language) == ("fit the board, chip up", "step 5", "de")
    assert names(box) == {number: f"step {number}" for number in (1, 2, 3, 4)}
    run(monkeypatch, "check", out)
    assert "is sound" in capsys.readouterr().out


def test_rules_are_given_and_taken_back(
    box: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    learned = from_plain(read_bundle(box).json("procedure.json")).rules
    words = ["--add", "4 needs 1", "--add", "optional 3", "--forbid", "1 before 2", "--relax", "step 3 before step 4"]
    run(monkeypatch, "review", box, *words)
    said = capsys.readouterr().out
    assert "“step 4 needs step 1” is given" in said
    assert "“step 2 before step 1” is given" in said
    assert "“step 3 before step 4” is not watched" in said
    rules = from_plain(read_bundle(box).json("procedure.json")).rules
    assert {(1, 4), (2, 1)} <= {*rules.edges}
    assert {(1, 2), (3, 4)}.isdisjoint(rules.edges)
    assert 3 not in rules.required
    run(monkeypatch, "review", box, *[word for rule in ("4 needs 1", "2 before 1") for word in ("--learned", rule)])
    assert "“step 4 needs step 1” is as learned again" in capsys.readouterr().out
    again = from_plain(read_bundle(box).json("procedure.json")).rules
    assert {*again.edges} == {*learned.edges} - {(3, 4)}
    assert [one.steps for one in again.given] == [(3, 4)]


def test_a_written_list_rules_a_learned_procedure_by_the_names_of_its_steps(
    box: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "list.txt"
    path.write_text("open box\nany order:\n  step 4\n  step 2\nstep 3 (optional)\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="2"):
        run(monkeypatch, "review", box, "--list", path)
    assert "lists 'open box', which no step is called; there are 1 step 1" in capsys.readouterr().err
    run(monkeypatch, "review", box, "--name", "1=Open box", "--list", path)
    procedure = from_plain(read_bundle(box).json("procedure.json"))
    assert {(1, 2), (1, 4), (4, 3), (2, 3)} <= {*procedure.rules.edges}
    assert {(3, 4), (3, 2), (4, 1)}.isdisjoint(procedure.rules.edges)
    assert procedure.rules.required == (1, 2, 4)
    assert procedure.steps[2].is_optional


def test_labels_of_a_folder_are_carried(box: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "labels").mkdir()
    text = '0,4,"1 open"\n4,8,"2 fit"\n8,12,"3 turn"\n16,20,"4 close"\n'
    (tmp_path / "labels" / "a.csv").write_text(text)
    run(monkeypatch, "review", box, "--labels", tmp_path / "labels")
    assert names(box) == {1: "open", 2: "fit", 3: "turn", 4: "close"}


def test_a_change_in_place_can_be_undone(
    box: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, "review", box, "--name", "1=open box")
    assert names(box)[1] == "open box"
    run(monkeypatch, "review", box, "--undo")
    assert names(box)[1] == "step 1"
    assert "is version 1 again; version 2 is kept" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="2"):
        run(monkeypatch, "review", box, "--undo")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "nothing was given"),
        (["--language", "German"], "a language is written as de or pt-BR"),
        (["--say", "fit board"], "--say takes a step and its words"),
        (["--name", "fit board"], "--name takes a step and its words"),
        (["--name", "9=fit board"], "there is no step 9"),
        (["--name", "1="], "1 to 80 letters"),
        (["--merge", "1"], "two or more different steps"),
        (["--merge", "1,x"], "--merge takes step numbers"),
        (["--split", "1@x"], "--split takes a step"),
        (["--split", "1@2"], "between 0 and 1"),
        (["--relax", "1"], "a rule reads"),
        (["--add", "1 before lunch"], "no step is called 'lunch'"),
        (["--add", "1 before 2", "--add", "2 before 1"], "would have to come before itself"),
        (["--background", "9"], "there is no step 9"),
        (["--labels", "no such folder"], "is not a folder"),
    ],
)
def test_bad_input_is_one_sentence_and_code_2(
    box: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    with pytest.raises(SystemExit) as left:
        run(monkeypatch, "review", box, *words)
    assert left.value.code == 2
    said = capsys.readouterr().err
    assert told in said
    assert said.count("\n") == 1
    assert not (box.parent / ".review").exists()


def test_what_is_no_bundle_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        run(monkeypatch, "review", tmp_path / "none", "--name", "1=a")
    assert "is no bundle" in capsys.readouterr().err


@pytest.mark.parametrize("id_", ["../../../victim", "/tmp/victim", "a/b", "..", ".hidden", "a\x00b", 5, None])
def test_recordings_named_like_paths_are_refused_and_nothing_outside_is_written(
    features_task: Learned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, id_: object
) -> None:
    victim = tmp_path / "victim.csv"
    victim.write_text("precious")

    def forge(facts: dict[str, object]) -> None:
        recordings = facts["recordings"]
        assert isinstance(recordings, list)
        recordings[0] = id_

    box = tmp_path / "exported" / "box"
    altered(features_task.bundle, box, facts=forge)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(SystemExit) as ended:
        run(monkeypatch, "review", box, "--name", "1=first")
    assert ended.value.code == 2
    assert victim.read_text() == "precious"
    assert sorted(tmp_path.rglob("*")) == before

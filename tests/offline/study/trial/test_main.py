"""The command: bad options get one sentence, and tables are those of all worlds in order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console

from guide.commands.entry import entry
from offline.demo.recording import Recording
from offline.study.jobs import Shift
from offline.study.keep import Plain
from offline.study.trial.__main__ import TrialOptions, main
from offline.study.trial.trying import Trying
from offline.study.trial.worlds import Entry, Worlds


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--seed", ""], "--seed takes at most 1000 worlds"),
        (["--seed", "one"], "--seed takes at most 1000 worlds"),
        (["--labelled", "some"], "--labelled takes numbers or all with commas between"),
        (["--labelled", "0,13"], "--labelled takes numbers up to 12 or all with commas between, got '0,13': change it"),
        (["--each", "0"], "--each is a whole number from 1 up"),
        (["--recordings", "1"], "--recordings is a whole number from 2 up"),
        (["--workers", "0"], "--workers is a whole number from 1 up"),
        (["--workers", "1000"], "--workers is at most 256"),
    ],
)
def test_bad_options_get_one_sentence_before_any_work(
    args: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Worlds, "entries", lambda *_: pytest.fail("work has begun"))
    with pytest.raises(SystemExit) as left:
        entry(TrialOptions, main, [*args, "--cache", str(tmp_path)])
    assert left.value.code == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1


def test_worlds_are_tried_in_every_way_and_what_is_done_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def entries(self: Worlds, recordings: Sequence[Recording]) -> list[Entry]:
        assert self.kept.folder == tmp_path / "drawn"
        return [Entry(one, f"{one.seed}-{one.name}-{one.kind}") for one in recordings]

    def draw(self: Worlds, entries: Sequence[Entry], console: Console) -> None:
        for seed in {one.recording.seed for one in entries}:
            recordings = [one.recording for one in entries if one.recording.seed == seed]
            kinds = [one.fault for one in recordings if one.kind == "live"]
            assert kinds == ["none"] * 2 + ["missed"] * 2 + ["out_of_order"] * 2
            assert len({(one.kind, one.number) for one in recordings}) == len(recordings) == 12 + 6
        drawn.append(len(entries))

    def run(self: Trying) -> list[Plain]:
        ran.append((self.seed, self.labelled))
        row: Plain = {
            "kind": "missed",
            "planted": f"missed {self.seed}",
            "wrong": "",
            "late_s": None,
            "word_s": None,
            "name_s": None,
        }
        score = {"questions": 0, "faults": 1, "found": self.labelled // 12, "flags": 1, "clean": 0, "clean_alarms": 0}
        return [{"seed": self.seed, "labelled": self.count, **row, **score}]

    ran = list[tuple[int, int]]()
    drawn = list[int]()
    monkeypatch.setattr(Worlds, "entries", entries)
    monkeypatch.setattr(Worlds, "draw", draw)
    monkeypatch.setattr(Trying, "run", run)
    args = ["--seed", "8-9", "--labelled", "all,2", "--each", "2", "--cache", str(tmp_path)]
    entry(TrialOptions, main, args)
    first = capsys.readouterr().out
    assert ran == [(8, 12), (8, 2), (9, 12), (9, 2)]
    rows = [line.split()[1:8:2] for line in first.splitlines() if line.startswith("│ ")][:6]
    assert rows == [
        ["all", "8", "1.00", "1.00"], ["all", "9", "1.00", "1.00"], ["all", "together", "1.00", "1.00"],
        ["2", "8", "0.00", "0.00"], ["2", "9", "0.00", "0.00"], ["2", "together", "0.00", "0.00"],
    ]  # fmt: skip
    assert "missed 9" in first
    entry(TrialOptions, main, args)
    assert "4 of 4 parts were done before" in capsys.readouterr().out
    assert len(ran) == 4
    entry(TrialOptions, main, [*args[:-1], str(tmp_path), "--labelled", "all,0"])
    assert ran[4:] == [(8, 0), (9, 0)]
    assert drawn == [2 * 18, 0, 2 * 18], "nothing is drawn where all is done"


def test_so_many_are_at_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def do_all(jobs: Sequence[Trying], kept: object, shift: Shift, console: object) -> list[list[Plain]]:
        shifts.append(shift)
        return [[] for _ in jobs]

    shifts = list[Shift]()
    monkeypatch.setattr(Worlds, "entries", lambda self, recordings: [])
    monkeypatch.setattr("offline.study.trial.__main__.do_all", do_all)
    main(TrialOptions(workers=5, cache=tmp_path))
    assert shifts == [Shift(5)]

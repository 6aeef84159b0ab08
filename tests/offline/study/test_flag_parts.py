"""Flags with every mechanism are those of the trial, and what is shared between rows changes nothing in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from guide.errors import InputError
from offline.study import flag_parts
from offline.study.evaluation.teaching import ALL, Way
from offline.study.fault_trial.conditions import Conditions
from offline.study.fault_trial.leaving import LeavingOut as Trial
from offline.study.fault_trial.sources import write_features
from offline.study.flag_parts import PARTS, LeavingOut, jobs_of, part_table
from offline.study.flags import score_of
from offline.study.keep import Plain
from offline.study.mechanisms import WHOLE
from offline.study.parts import Options, main
from tests.faulty_task import USUAL, make_task

FEW = (WHOLE, "no lead-in", "no prior on order", "nothing is taken back", "no limits on durations")
NOISE = 2.5


@pytest.fixture(scope="module", autouse=True)
def few_parts() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flag_parts, "PARTS", {part: PARTS[part] for part in FEW})
        yield


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[Plain]:
    task = make_task([USUAL] * 6, NOISE)
    return LeavingOut(task, 2, Way(ALL), (1,), 1, tmp_path_factory.mktemp("cache")).run()


def of(rows: list[Plain], part: str) -> list[Plain]:
    return [row for row in rows if row["part"] == part]


def test_all_parts_together_are_the_trial(rows: list[Plain], tmp_path: Path) -> None:
    conditions = Conditions(tmp_path, ("on",), each=1, seed=1)
    trial = Trial(make_task([USUAL] * 6, NOISE), 2, Way(ALL), conditions, is_shuffled=False).run()
    names = ("kind", "questions", "faults", "found", "flags", "clean", "clean_alarms")
    assert [[row[name] for name in names] for row in of(rows, WHOLE)] == [
        [row[name] for name in names] for row in trial
    ]
    assert score_of(trial).found > 0


def test_every_part_is_left_out_of_the_same_recordings(rows: list[Plain]) -> None:
    made = [(row["seed"], row["made"]) for row in of(rows, WHOLE)]
    assert len(set(made)) == len(made) == 4
    assert all([(row["seed"], row["made"]) for row in of(rows, part)] == made for part in FEW)


def test_what_is_not_taken_back_is_wrong(rows: list[Plain]) -> None:
    whole, kept = (score_of(of(rows, part)) for part in (WHOLE, "nothing is taken back"))
    assert kept.flags - kept.found > whole.flags - whole.found
    words = [[row["words"] for row in of(rows, part)] for part in (WHOLE, "nothing is taken back")]
    assert words[0] != words[1]


def test_seeds_that_leave_out_and_label_the_same_share_the_work(tmp_path: Path) -> None:
    task = make_task([USUAL] * 4)
    every = jobs_of([task], [ALL], seeds=6, recordings=1, each=1, cache=tmp_path)
    assert sorted(job.number for job in every) == [0, 1, 2, 3]
    assert sorted(seed for job in every for seed in job.seeds) == [0, 1, 2, 3, 4, 5]
    several = jobs_of([task], ["1"], seeds=2, recordings=2, each=1, cache=tmp_path)
    assert sorted(job.number for job in several) == [0, 1, 2, 3]
    assert {job.way.count for job in several} == {"1"}
    assert len({job.key for job in (*every, *several)}) == 8


def test_figures_are_means_over_seeds_and_sums() -> None:
    def row(part: str, seed: int, found: int, wrong: int, told: str) -> Plain:
        base: Plain = {"part": part, "seed": seed, "made": "a", "kind": "missed", "words": told, "told": told}
        clean: Plain = {"faults": 1, "found": found, "flags": found + wrong, "clean": 0, "clean_alarms": 0}
        return {**base, **clean, "questions": 0, "asked": 1 - found, "others": 0}

    def quiet(part: str, seed: int) -> Plain:
        return {**row(part, seed, 0, 0, ""), "kind": "none", "faults": 0, "clean": 1, "asked": 0, "questions": 3}

    rows = [
        one for part in FEW for seed in (0, 1) for one in (row(part, seed, 1 - seed, seed, part), quiet(part, seed))
    ]
    table = part_table(rows, "made")
    cells = [[str(cell) for cell in column.cells] for column in table.columns]
    assert cells[0] == list(FEW)
    assert [column[1] for column in cells[1:]] == [
        "0.50 ± 0.71", "0.50 ± 0.71", "0.00 ± 0.00", "1 of 2", "1", "2 of 2", "3.00", "0.00", "2 of 4", "2 of 4",
    ]  # fmt: skip
    assert [column[0] for column in cells[-2:]] == ["0 of 4", "0 of 4"]


def test_the_command_prints_a_table_for_each_number_of_labels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_features([make_task([USUAL] * 3)], tmp_path)
    options = Options("flags", videos=tmp_path / "toy", seeds=1, labelled="1,all", each=1, cache=tmp_path / "cache")
    main(options)
    printed = capsys.readouterr().out
    assert [f"flags, {count} labelled, 1 seed" in printed for count in ("1", "all")] == [True, True]
    assert all(printed.count(part) >= 2 for part in FEW)
    main(options)
    assert "2 of 2 parts were done before" in capsys.readouterr().out


@pytest.mark.parametrize("wrong", [{"recordings": 0}, {"each": 0}, {"workers": 0}, {"seeds": 0}, {"labelled": "some"}])
def test_options_that_make_no_sense_get_one_sentence(wrong: dict[str, object], tmp_path: Path) -> None:
    write_features([make_task([USUAL] * 3)], tmp_path)
    with pytest.raises(InputError, match=f"--{next(iter(wrong))} .*\\.$"):
        main(Options("flags", videos=tmp_path / "toy", cache=tmp_path / "cache", **wrong))  # type: ignore[arg-type]

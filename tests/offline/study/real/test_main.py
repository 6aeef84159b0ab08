"""The command on a made data set in CaptainCook4D's layout: every part does its own, and what is done is kept."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from guide.commands.entry import entry
from guide.errors import InputError
from offline.study.real.__main__ import RealOptions, main

NAMES = {1: "Pour", 2: "Stir", 3: "Bake"}
STEP_S, PAUSE_S = 20, 4
LOOKS = np.random.default_rng(7).normal(size=(4, 1024))


def write_recording(folder: Path, name: str, order: tuple[int, ...], seed: int) -> dict[str, object]:
    """Steps with a look of their own, and their annotations; a step that is not done is a mistake."""
    rows, steps, at = [], [], 0
    for step in order:
        rows += [0] * PAUSE_S + [step] * STEP_S
        steps.append({"step_id": step, "description": NAMES[step], "start_time": at + PAUSE_S, "end_time": len(rows)})
        at = len(rows)
    missing = [step for step in NAMES if step not in order]
    steps += [
        {"step_id": step, "description": NAMES[step], "start_time": -1.0, "end_time": -1.0,
         "errors": [{"tag": "Missing Step", "description": ""}]}
        for step in missing
    ]  # fmt: skip
    noise = 0.3 * np.random.default_rng(seed).normal(size=(len(rows), 1024))
    np.save(folder / "omnivore_f16" / f"{name}.npy", (LOOKS[rows] + noise + 4.0).astype(np.float16))
    return {"recording_id": name, "activity_id": 3, "is_error": bool(missing), "step_annotations": steps}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four clean recordings of one recipe, and one in which a step is missed."""
    folder = tmp_path_factory.mktemp("data")
    place = folder / "captaincook4d"
    (place / "omnivore_f16").mkdir(parents=True)
    made = [write_recording(place, f"3_{n}", (1, 2, 3), n) for n in range(4)]
    made.append(write_recording(place, "3_9", (1, 3), 9))
    (place / "error_annotations_made.json").write_text(json.dumps(made))
    names = {str(one["recording_id"]): {"activity_id": 3, "activity_name": "Mug Pizza"} for one in made}
    (place / "complete_step_annotations_made.json").write_text(json.dumps(names))
    return folder


def test_one_page_holds_everything_and_the_same_command_goes_on(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    args = [str(data), "--out", str(tmp_path / "page"), "--cache", str(tmp_path / "cache"), "--labelled", "2,all"]
    entry(RealOptions, main, [*args, "--minutes", "0"])
    assert "parts are not done" in capsys.readouterr().out
    entry(RealOptions, main, args)
    first = capsys.readouterr().out
    figures = json.loads((tmp_path / "page" / "figures.json").read_text())
    (task,) = figures["tasks"]
    lines = {line["name"]: line for line in task["lines"]}
    assert list(lines) == ["random", "equal time split", "elapsed time alone", "2 labelled", "all labelled"]
    assert lines["all labelled"]["accuracy"] > 0.85 > lines["random"]["accuracy"]
    assert lines["2 labelled"]["d"] > lines["random"]["d"]
    assert lines["all labelled"]["flags"]["clean"] == 4
    assert task["really_missed"]["missed"] == 1
    assert np.array(task["confusion"]).sum() == 4 * 3 * (STEP_S + PAUSE_S)
    assert len(task["failures"]) <= 3
    assert [note for note in figures["notes"] if "g1" in note]
    page = (tmp_path / "page" / "page.html").read_text()
    assert "Mug Pizza" in page
    assert "<script" not in page
    entry(RealOptions, main, [*args, "--minutes", "0"])
    again = capsys.readouterr().out
    assert again.splitlines()[1:] == [line for line in first.splitlines() if not line.startswith("trial: ")]


def test_a_folder_without_any_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least one of captaincook4d, g1, lego_head"):
        main(RealOptions(tmp_path))
    with pytest.raises(InputError, match="is none: check the path"):
        main(RealOptions(tmp_path / "nowhere"))


@pytest.mark.parametrize(
    ("options", "words"),
    [({"each": 0}, "--each"), ({"minutes": -1.0}, "--minutes"), ({"labelled": "few"}, "--labelled")],
)
def test_options_that_make_no_sense_get_one_sentence(data: Path, options: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        main(RealOptions(data, **options))  # type: ignore[arg-type]

"""Changed pictures are what they are said to be, and what they cost is seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from rich.console import Console

from offline.backbones import load_trunk
from offline.extraction import Extractor
from offline.features import RecordingFeatures
from offline.study.fault_trial.conditions import Conditions
from offline.study.flags import score_of
from offline.study.keep import Plain
from offline.study.looks.seeing import WHOLE, Seer, see_set
from offline.study.looks.sources import from_stills
from offline.study.strangers.__main__ import see_changed, table_of
from offline.study.strangers.changes import TILT, changes, darker, gloved, mirrored, tilted, warmer
from offline.study.strangers.following import Stranger
from offline.views import VIEWS
from tests.faulty_task import USUAL, make_task

SKIN, TABLE = (210, 150, 120), (90, 120, 200)


def picture() -> np.ndarray:
    made = np.full((60, 80, 3), TABLE, np.uint8)
    made[20:40, 10:30] = SKIN
    return made


def test_light_is_darker_or_warmer() -> None:
    assert darker(picture()).mean() == pytest.approx(0.45 * picture().mean(), rel=0.02)
    red, _, blue = (warmer(picture())[..., channel].mean() / picture()[..., channel].mean() for channel in range(3))
    assert red > 1 > blue


def test_a_mirrored_picture_mirrored_is_the_picture() -> None:
    np.testing.assert_array_equal(mirrored(mirrored(picture())), picture())


def test_only_hands_wear_gloves() -> None:
    worn = gloved(picture(), "skin")
    hand = np.zeros((60, 80), np.bool_)
    hand[20:40, 10:30] = True
    assert (worn[25:35, 15:25, 2] > worn[25:35, 15:25, 0]).all(), "blue"
    np.testing.assert_allclose(worn[~hand].astype(int), picture()[~hand].astype(int), atol=3)


def test_a_tilted_picture_has_no_holes_and_its_middle_stays() -> None:
    white = np.full((60, 80, 3), 255, np.uint8)
    assert (tilted(white) == 255).all()
    assert tilted(picture())[30, 40].tolist() == list(TABLE)


def test_every_change_gives_a_picture_of_the_same_size_and_leaves_its_source() -> None:
    source = picture()
    for change in changes("robot").values():
        assert change(source).shape == source.shape
        assert change(source).dtype == np.uint8
    np.testing.assert_array_equal(source, picture())


def test_views_that_are_learned_from_are_none_of_the_changes() -> None:
    """They turn all colours and leave the light, and turn pictures farther than they are tilted."""
    assert all(view.angle != TILT for view in VIEWS)
    for view in VIEWS:
        seen = view.of(picture()).astype(int)
        assert min(np.abs(seen - change(picture())).mean() for change in changes("skin").values()) > 10


def dimmed(one: RecordingFeatures) -> RecordingFeatures:
    """As another light would have it seen: elsewhere, and alike in all recordings."""
    return replace(one, pooled=np.asarray(one.pooled)[:, ::-1])


def test_what_changed_copies_teach_is_told_again(tmp_path: Path) -> None:
    task = make_task([USUAL] * 4)
    changed = [dimmed(one) for one in task.recordings]
    conditions = Conditions(tmp_path, ("on",), each=1)
    shown = {"as they are": (), "with copies": tuple((one,) for one in changed[1:])}
    plain, taught = (Stranger(task, 0, {"dim": changed[0]}, how, copies, conditions) for how, copies in shown.items())
    assert plain.key != taught.key
    lost, known = plain.run(), taught.run()
    assert accuracy(lost, "unchanged") > 0.9
    assert accuracy(known, "unchanged") > 0.9
    assert accuracy(lost, "dim") < 0.7
    assert accuracy(known, "dim") > 0.9
    assert recall(known, "dim") >= recall(lost, "dim")


def recall(rows: list[Plain], change: str) -> float:
    return score_of(row for row in rows if row["kind"] != "live" and row["change"] == change).recall


def accuracy(rows: list[Plain], change: str) -> float:
    [row] = [row for row in rows if row["kind"] == "live" and row["change"] == change]
    truth = make_task([USUAL]).truth[0]
    found = np.array(str(row["labels"]).split(), np.int64)
    return float((found == truth)[truth > 0].mean())


def test_changed_pictures_are_seen_once_and_otherwise(tmp_path: Path) -> None:
    for person in ("anna", "ben"):
        place = tmp_path / "task" / person / "step01"
        place.mkdir(parents=True)
        for number in range(2):
            slanted = cv2.line(picture(), (40, 10), (75, 55), (255, 255, 255), 5)  # not the same from the other side
            cv2.imwrite(str(place / f"frame_{number}.png"), slanted[..., ::-1])
    shown = from_stills(tmp_path / "task", 5.0, tmp_path)
    seer = Seer(Extractor(load_trunk("random-tiny"), tmp_path, "cpu", threads=1), tmp_path / "looks")
    quiet = Console(quiet=True)
    unchanged = see_set(shown, seer, [WHOLE], quiet).task([WHOLE])
    seen = see_changed(shown, "skin", seer, quiet)
    assert list(seen) == list(changes("skin"))
    rows = [unchanged.recordings[0].pooled[0], *(each.recordings[0].pooled[0] for each in seen.values())]
    assert len({row.tobytes() for row in rows}) == len(rows), "each change is seen"
    kept = len(list((tmp_path / "looks").iterdir()))
    see_changed(shown, "skin", seer, quiet)
    assert len(list((tmp_path / "looks").iterdir())) == kept


def test_the_table_compares_what_was_left_out_in_all_ways() -> None:
    task = make_task([USUAL] * 3)
    right: Plain = {"kind": "live", "labels": " ".join(map(str, task.truth[0]))}
    flags: Plain = {"kind": "none", "faults": 0, "found": 0, "flags": 1, "clean": 1, "clean_alarms": 1}
    rows: list[Plain] = [
        {**row, "recording": id_, "change": "unchanged", "taught": taught}
        for id_, taught in (("r0", "one way"), ("r0", "another"), ("r1", "one way"))
        for row in (right, flags)
    ]
    [line] = zip(*(column.cells for column in table_of(task, rows).columns), strict=True)
    assert line == ("unchanged", *("100.0", "100.0", "0.00", "-", "1.00") * 2)
    assert str(table_of(task, rows).title).startswith("toy: 1 recordings left out")

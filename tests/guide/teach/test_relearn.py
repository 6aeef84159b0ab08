"""A reviewed bundle: whole, taught by the new labels, quick where labels did not change, and what it says is true."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from guide.bundle import Bundle, fingerprint, read_bundle
from guide.domain import Segment
from guide.networks import start_networks
from guide.procedure.model import GivenRule, Rule
from guide.procedure.precedence import strict_edges
from guide.procedure.reading import from_plain
from guide.procedure.replay import standing_alerts
from guide.session import Session, follow_features
from guide.settings import LiveSettings
from guide.teach import relearn as module
from guide.teach.annotations import read_labels
from guide.teach.edits import Drop, Edit, Give, Label, Language, Mark, Merge, Name, Say, Split
from guide.teach.relearn import Relearned, begin_review, is_quick, relearn, told_of, version_of, write_version
from tests.tiny import FEATURE_RATE, Learned, altered


def written(task: Learned, place: Path, *edits: Edit) -> Relearned:
    review = begin_review(task.bundle).edited(*edits)
    taught = relearn(task.bundle, review)
    write_version(task.bundle, review, taught, place)
    return taught


def test_names_marks_and_switches_need_no_teaching(
    features_task: Learned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "describe", lambda *_: pytest.fail("it was taught"))
    rules = from_plain(features_task.bundle.json("procedure.json")).rules
    edge = next((one.rule.before, one.rule.step) for one in rules.decisions if one.rule.before)
    relaxed = Give(GivenRule("before", edge, holds=False))
    written(features_task, tmp_path / "new", Name(1, "open box"), Mark(2, "optional"), relaxed)
    new = read_bundle(tmp_path / "new")
    procedure = from_plain(new.json("procedure.json"))
    assert procedure.name(1) == "open box"
    assert procedure.steps[1].is_optional
    assert 2 not in procedure.rules.required
    assert edge not in (*procedure.rules.edges, *procedure.rules.asked_edges)
    told = {one.rule: (one.verdict, one.reason) for one in procedure.rules.decisions}
    assert told[Rule("out_of_order", edge[1], edge[0])] == ("off", "switched off by hand")
    assert told.get(Rule("missed", 2), ("off",))[0] == "off"
    assert dict(procedure.reasons)[2].endswith("optional: so given")
    assert version_of(new) == 2
    assert told_of(new)[0] == "named step 1 “open box”"
    assert new.facts["files"]["head.onnx"] == features_task.bundle.facts["files"]["head.onnx"]
    old, now = (one.arrays("prototypes.npz")["centres"] for one in (features_task.bundle, new))
    np.testing.assert_array_equal(old, now)


def test_what_the_voice_says_is_kept_through_a_review_that_teaches_anew(features_task: Learned, tmp_path: Path) -> None:
    written(features_task, tmp_path / "said", Say(1, "open the box, lid up"), Say(2, "soon gone"), Language("pt-BR"))
    said = read_bundle(tmp_path / "said")
    procedure = from_plain(said.json("procedure.json"))
    assert (procedure.said(1), procedure.said(3), procedure.language) == ("open the box, lid up", "step 3", "pt-BR")
    review = begin_review(said).edited(Say(2, ""), Split(1, 0.5))
    write_version(said, review, relearn(said, review), tmp_path / "taught")
    taught = from_plain(read_bundle(tmp_path / "taught").json("procedure.json"))
    assert {step.number: step.say for step in taught.steps if step.say} == {1: "open the box, lid up"}
    assert taught.language == "pt-BR"


def live_alerts(bundle: Bundle, rows: Any) -> list[tuple[str, int, int | None, str]]:
    """What a live session says about a recording."""
    session = Session(bundle, start_networks(bundle, "cpu"), LiveSettings(window_frames=60, lag_s=1.0, confirm_s=0.5))
    said = [one for update in follow_features(rows, FEATURE_RATE, session) for one in update.guidance]
    return [(one.kind, one.step, one.before, one.evidence) for one in standing_alerts(said)]


def test_a_given_rule_is_told_live_and_a_relaxed_one_is_silent_without_teaching(
    features_task: Learned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "describe", lambda *_: pytest.fail("it was taught"))
    place, rows = tmp_path / "new", np.load(Path(features_task.options.inputs[0]) / "a.npy")
    procedure = from_plain(features_task.bundle.json("procedure.json"))
    first, then = next(edge for edge in strict_edges(procedure.precedences))
    turned = GivenRule("before", (then, first))
    written(features_task, place, Give(turned))
    evidence = f'"step {first}" was done before "step {then}", which comes first by a rule that was given'
    assert ("out_of_order", first, then, evidence) in live_alerts(read_bundle(place), rows)
    given = read_bundle(place)
    review = begin_review(given).edited(Give(replace(turned, holds=False)))
    write_version(given, review, relearn(given, review), tmp_path / "quiet")
    assert not [one for one in live_alerts(read_bundle(tmp_path / "quiet"), rows) if one[0] == "out_of_order"]


def test_what_was_given_by_hand_is_remembered_and_can_be_taken_back(features_task: Learned, tmp_path: Path) -> None:
    written(features_task, tmp_path / "new", Mark(2, "optional"), Give(GivenRule("before", (1, 2), False)))
    review = begin_review(read_bundle(tmp_path / "new"))
    assert review.start.step(2).is_optional
    assert review.start.given == (GivenRule("before", (1, 2), holds=False),)
    assert not is_quick([Mark(2, "optional", is_on=False)])


def test_merged_split_and_dropped_steps_are_followed_live(features_task: Learned, tmp_path: Path) -> None:
    written(features_task, tmp_path / "new", Merge((1, 2)), Split(3, 0.5), Drop(4))
    new = read_bundle(tmp_path / "new")
    assert from_plain(new.json("procedure.json")).numbers == (1, 3, 5)
    session = Session(new, start_networks(new, "cpu", threads=1), LiveSettings())
    rows = np.load(Path(features_task.options.inputs[0]) / "a.npy")
    seen = {update.label.step for update in follow_features(rows, FEATURE_RATE, session)}
    assert seen <= {-1, 0, 1, 3, 5}
    assert 1 in seen


def test_labels_given_are_kept_and_carried(features_task: Learned, tmp_path: Path) -> None:
    segments = (Segment(11, 0.0, 4.0), Segment(12, 4.0, 8.0), Segment(13, 8.0, 12.0), Segment(14, 16.0, 20.0))
    names = ((11, "open"), (12, "fit"), (13, "turn"), (14, "close"))
    taught = written(features_task, tmp_path / "new", Label("a", segments, names))
    new = read_bundle(tmp_path / "new")
    assert read_labels(new.folder / "segments" / "a.csv").segments == segments
    assert from_plain(new.json("procedure.json")).name(12) == "fit"
    assert new.facts["review"]["labelled"] == ["a"]
    assert {segment.step for segment in read_labels(new.folder / "segments" / "b.csv").segments} <= {11, 12, 13, 14}
    assert any("went away" in line for line in taught.told)


def test_the_old_bundle_is_left_alone(features_task: Learned, tmp_path: Path) -> None:
    before = fingerprint(read_bundle(features_task.folder))
    written(features_task, tmp_path / "new", Drop(4))
    assert fingerprint(read_bundle(features_task.folder)) == before


def test_pictures_go_with_their_frames(frames_task: Learned, tmp_path: Path) -> None:
    written(frames_task, tmp_path / "new", Merge((2, 1)))
    names = {name for name in read_bundle(tmp_path / "new").facts["files"] if name.startswith("stills/")}
    assert names
    assert not any(name.startswith("stills/01") for name in names)
    assert "stills/02_1.jpg" in names


def test_a_forged_review_in_a_manifest_is_passed_over(features_task: Learned, tmp_path: Path) -> None:
    def forge(facts: dict[str, object]) -> None:
        facts["review"] = {
            "optional": ["x", 2],
            "off": [[1], "no", [1, 99]],
            "labelled": [7],
            "stills": 3,
            "highest": {},
        }

    review = begin_review(altered(features_task.bundle, tmp_path, None, forge))
    assert review.start.given == ()
    assert review.start.labelled == frozenset()
    assert [step.is_optional for step in review.start.steps] == [False, True, False, False]


def test_it_says_how_far_it_is(features_task: Learned) -> None:
    """Never back, and not at the end before it is."""
    shares: list[float] = []
    relearn(features_task.bundle, begin_review(features_task.bundle).edited(Merge((1, 2))), shares.append)
    assert shares == sorted(shares)
    assert shares[0] == 0.0
    assert len(shares) > 4
    assert shares[-1] < 1.0

"""Edits wait on disk, versions are kept and come back byte by byte."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from guide.bundle import fingerprint, read_bundle
from guide.domain import Segment
from guide.errors import BundleError
from guide.teach.annotations import read_labels
from guide.teach.edits import Mark, Name
from guide.teach.relearn import begin_review, relearn, version_of
from guide.teach.review_store import Desk, teach_in_place
from tests.tiny import Learned, altered


@pytest.fixture
def desk(features_task: Learned, tmp_path: Path) -> Desk:
    altered(features_task.bundle, tmp_path / "box")
    return Desk(tmp_path / "box")


def rename(desk: Desk, name: str) -> None:
    bundle = read_bundle(desk.bundle)
    review = begin_review(bundle).edited(Name(1, name))
    teach_in_place(desk, bundle, review, relearn(bundle, review))


def test_edits_wait_until_the_bundle_changes(desk: Desk) -> None:
    desk.keep_edits([Name(1, "open box"), Mark(2, "optional")])
    assert Desk(desk.bundle).edits() == (Name(1, "open box"), Mark(2, "optional"))
    rename(desk, "open")
    assert desk.edits() == ()


def test_versions_are_kept_and_restored(desk: Desk) -> None:
    first = fingerprint(read_bundle(desk.bundle))
    rename(desk, "one")
    second = fingerprint(read_bundle(desk.bundle))
    rename(desk, "two")
    assert [version.number for version in desk.versions()] == [2, 1]
    assert desk.versions()[0].told == ("named step 1 “one”",)
    assert fingerprint(desk.restore(1)) == first
    assert [version.number for version in desk.versions()] == [3, 2, 1]
    assert fingerprint(desk.restore(2)) == second
    rename(desk, "four")
    assert version_of(read_bundle(desk.bundle)) == 4


def test_nothing_of_it_shows_among_the_bundles(desk: Desk) -> None:
    rename(desk, "one")
    assert [path.name for path in desk.bundle.parent.iterdir() if not path.name.startswith(".")] == ["box"]


def test_without_a_draft_nothing_goes_live(desk: Desk) -> None:
    with pytest.raises(BundleError, match="relearn first"):
        desk.publish()


def test_spoilt_notes_are_as_none(desk: Desk) -> None:
    desk.keep_edits([Name(1, "a")])
    (desk.folder / "edits.json").write_text("[1")
    assert desk.edits() == ()
    desk.keep_videos("here")
    assert desk.videos() == "here"


def test_labels_are_files_that_training_reads(desk: Desk) -> None:
    path = desk.keep_labels("a", [Segment(1, 0.0, 2.0)], {1: 'open, "the" box'})
    assert read_labels(path).names == {1: 'open, "the" box'}


def test_edits_that_went_live_do_not_wait_again_when_a_version_is_restored(desk: Desk) -> None:
    desk.keep_edits([Name(1, "one")])
    rename(desk, "one")
    desk.restore(1)
    assert desk.edits() == ()


def test_a_bundle_trained_anew_is_the_next_version(desk: Desk, features_task: Learned) -> None:
    rename(desk, "one")
    shutil.rmtree(desk.bundle)
    new = altered(features_task.bundle, desk.bundle, {"prototypes.npz": {"fuzzifier": 1.3}})
    assert version_of(new) == 1
    assert desk.number_of(new) == 2
    desk.keep_live()
    assert [version.number for version in desk.versions()] == [2, 1]

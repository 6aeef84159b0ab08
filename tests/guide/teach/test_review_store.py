"""Edits wait on disk, versions are kept and come back byte by byte."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from guide.bundle import fingerprint, read_bundle
from guide.domain import Segment
from guide.errors import BundleError
from guide.teach.annotations import read_labels
from guide.teach.edited import segments_of
from guide.teach.edits import Label, Mark, Name
from guide.teach.relearn import begin_review, relearn, version_of
from guide.teach.review_store import ReviewStore, teach_in_place
from tests.tiny import Learned, altered


@pytest.fixture
def store(features_task: Learned, tmp_path: Path) -> ReviewStore:
    altered(features_task.bundle, tmp_path / "box")
    return ReviewStore(tmp_path / "box")


def rename(store: ReviewStore, name: str) -> None:
    bundle = read_bundle(store.bundle)
    review = begin_review(bundle).edited(Name(1, name))
    teach_in_place(store, bundle, review, relearn(bundle, review))


def test_edits_wait_until_the_bundle_changes(store: ReviewStore) -> None:
    store.keep_edits([Name(1, "open box"), Mark(2, "optional")])
    assert ReviewStore(store.bundle).edits() == (Name(1, "open box"), Mark(2, "optional"))
    rename(store, "open")
    assert store.edits() == ()


def test_versions_are_kept_and_restored(store: ReviewStore) -> None:
    first = fingerprint(read_bundle(store.bundle))
    rename(store, "one")
    second = fingerprint(read_bundle(store.bundle))
    rename(store, "two")
    assert [version.number for version in store.versions()] == [2, 1]
    assert store.versions()[0].told == ("named step 1 “one”",)
    assert fingerprint(store.restore(1)) == first
    assert [version.number for version in store.versions()] == [3, 2, 1]
    assert fingerprint(store.restore(2)) == second
    rename(store, "four")
    assert version_of(read_bundle(store.bundle)) == 4


def test_nothing_of_it_shows_among_the_bundles(store: ReviewStore) -> None:
    rename(store, "one")
    assert [path.name for path in store.bundle.parent.iterdir() if not path.name.startswith(".")] == ["box"]


def test_without_a_draft_nothing_goes_live(store: ReviewStore) -> None:
    with pytest.raises(BundleError, match="relearn first"):
        store.publish()


def test_spoilt_notes_are_as_none(store: ReviewStore) -> None:
    store.keep_edits([Name(1, "a")])
    (store.folder / "edits.json").write_text("[1")
    assert store.edits() == ()
    store.keep_videos("here")
    assert store.videos() == "here"


def test_labels_are_files_that_training_reads(store: ReviewStore) -> None:
    path = store.keep_labels("a", [Segment(1, 0.0, 2.0)], {1: 'open, "the" box'})
    assert read_labels(path).names == {1: 'open, "the" box'}


def test_label_files_say_what_the_review_says(store: ReviewStore) -> None:
    """A label between two frames is saved as the page shows it then; what is undone leaves no file."""
    start = begin_review(read_bundle(store.bundle))
    one = start.demonstrations.items[0]
    first, *_, last = (segment for segment in segments_of(start.result, start.demonstrations)[0])
    drawn = (Segment(first.step, first.start, first.end - 0.101), Segment(last.step, last.start, last.end))
    labelled = start.edited(Label(one.id, drawn))
    store.sync_labels(start, labelled)
    shown = segments_of(labelled.result, labelled.demonstrations)[0]
    kept = read_labels(store.labels / f"{one.id}.csv").segments
    assert [s.step for s in kept] == [s.step for s in shown]
    assert [s.end for s in kept] == pytest.approx([s.end for s in shown], abs=1e-3)
    assert shown[0].end != drawn[0].end
    store.sync_labels(labelled, labelled.undone())
    assert list(store.labels.iterdir()) == []


def test_edits_that_went_live_do_not_wait_again_when_a_version_is_restored(store: ReviewStore) -> None:
    store.keep_edits([Name(1, "one")])
    rename(store, "one")
    store.restore(1)
    assert store.edits() == ()


def test_a_bundle_trained_anew_is_the_next_version(store: ReviewStore, features_task: Learned) -> None:
    rename(store, "one")
    shutil.rmtree(store.bundle)
    new = altered(features_task.bundle, store.bundle, {"prototypes.npz": {"fuzzifier": 1.3}})
    assert version_of(new) == 1
    assert store.number_of(new) == 2
    store.keep_live()
    assert [version.number for version in store.versions()] == [2, 1]

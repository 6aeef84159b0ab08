"""What the parts of the Review page share: the bundle under review, its edits, and what a click does to them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from guide.bundle import Bundle, read_bundle
from guide.errors import GuideError, InputError
from guide.networks import Networks, start_networks
from guide.teach.edited import Review
from guide.teach.edits import Edit, from_plain, to_plain
from guide.teach.progress import Tell, part_of, say_nothing
from guide.teach.relearn import begin_review, is_quick, relearn
from guide.teach.review_store import ReviewStore
from guide.teach.stills import Still
from guide.teach.videos import find_videos
from guide.ui.state import review as state
from guide.ui.state.folders import recordings_folder, stamp
from guide.ui.state.learn import demo_folder
from guide.ui.training import TrainingJobs, cache_folder

KEPT_BUNDLES = 2  # whose demonstrations are in memory: they may be large
KEPT_EDITS = 8


@dataclass(frozen=True, slots=True)
class ReviewedBundle:
    """A bundle under review, with its waiting edits and the videos of its demonstrations."""

    store: ReviewStore
    bundle: Bundle
    review: Review
    videos: Mapping[str, Path]

    @property
    def name(self) -> str:
        return self.store.bundle.name

    def add(self, *edits: Edit) -> bool:
        """Adds edits to those there are now; False, and a sentence is kept for the page, where they make no sense.

        A click may come from a page that was drawn before the last edit, here or in another browser.
        """
        before = open_bundle(self.store.bundle).review
        try:
            review = before.edited(*edits)
        except GuideError as error:
            st.session_state["review_problem"] = str(error)
            return False
        return self._keep(before, review)

    def undo(self) -> None:
        """Takes the last edit back."""
        before = open_bundle(self.store.bundle).review
        self._keep(before, before.undone())

    def _keep(self, before: Review, review: Review) -> bool:
        try:
            self.store.keep_edits(review.edits)
            self.store.sync_labels(before, review)
        except GuideError as error:
            st.session_state["review_problem"] = str(error)
            return False
        self.store.forget_draft()  # it no longer holds what was edited
        return True


def open_bundle(folder: Path) -> ReviewedBundle:
    """The bundle in `folder` with its waiting edits; raises GuideError where it cannot be reviewed."""
    store = ReviewStore(folder)
    edits = json.dumps([to_plain(edit) for edit in store.edits()])
    bundle, review = _edited(str(folder), stamp(folder), edits)
    ids = [one.id for one in review.demonstrations.items]
    return ReviewedBundle(store, bundle, review, find_videos(ids, video_places(store)))


def video_places(store: ReviewStore) -> tuple[Path, ...]:
    """Where the videos of the demonstrations may lie."""
    job = training_jobs(store).read(store.bundle.name)
    inputs = () if job is None else job.request.inputs
    return state.video_places(
        store.bundle, store.videos(), inputs, recordings_folder(os.environ), demo_folder(os.environ)
    )


def training_jobs(store: ReviewStore) -> TrainingJobs:
    """The training jobs of the folder in which this bundle lies."""
    return TrainingJobs(store.bundle.parent, cache_folder(os.environ))


@st.cache_resource(max_entries=KEPT_BUNDLES, show_spinner="Reading the demonstrations")
def _begun(folder: str, stamped: tuple[tuple[str, int, int], ...]) -> tuple[Bundle, Review]:
    """The bundle and a review without edits, anew when a file changed."""
    bundle = read_bundle(Path(folder))
    return bundle, begin_review(bundle)


@st.cache_resource(max_entries=KEPT_EDITS, show_spinner=False)
def _edited(folder: str, stamped: tuple[tuple[str, int, int], ...], edits: str) -> tuple[Bundle, Review]:
    """The bundle and its review, anew when a file or an edit changed; what was seen is shared, labels are not."""
    bundle, review = _begun(folder, stamped)
    try:
        return bundle, review.edited(*(from_plain(edit) for edit in json.loads(edits)))
    except InputError:  # edits of another version of the program: better none than half of them
        return bundle, review


def pictures(opened: ReviewedBundle) -> tuple[Still, ...]:
    """The pictures of the steps as the edits leave them."""
    folder, places = opened.store.bundle, tuple(sorted(opened.videos.items()))
    # Names and marks move no picture: nothing is cut out again for them.
    edits = json.dumps([to_plain(edit) for edit in opened.review.edits if not is_quick([edit])])
    return _pictures(str(folder), stamp(folder), edits, places, opened)


@st.cache_resource(max_entries=KEPT_EDITS, show_spinner="Cutting pictures out of the videos")
def _pictures(
    folder: str, stamped: tuple[tuple[str, int, int], ...], edits: str, videos: tuple[tuple[str, Path], ...],
    _opened: ReviewedBundle,
) -> tuple[Still, ...]:  # fmt: skip
    """Made anew when a file, an edit or a video's place changed: a step that was split may have none in the bundle."""
    return state.pictures(_opened.bundle, _opened.review, dict(videos))


@st.cache_resource(max_entries=2, show_spinner=False)
def networks(folder: str, stamped: tuple[tuple[str, int, int], ...]) -> Networks:
    """The networks of a version, cached: starting them takes time."""
    return start_networks(read_bundle(Path(folder)), "cpu")


def teach(opened: ReviewedBundle, say: Tell = say_nothing) -> None:
    """Relearns and writes the draft; InputError where something was edited meanwhile."""
    taught = relearn(opened.bundle, opened.review, part_of(say, 0.0, 0.97))
    if opened.store.edits() != tuple(opened.review.edits):
        raise InputError("The result was discarded: changes were made meanwhile, here or in another window.")
    say(0.97)
    opened.store.write_draft(opened.bundle, opened.review, taught, opened.videos)

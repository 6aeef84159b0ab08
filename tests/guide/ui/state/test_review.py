"""What the Review page shows, as plain values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.domain import Segment
from guide.errors import InputError
from guide.networks import start_networks
from guide.procedure.model import GivenRule
from guide.record.timeline import colour
from guide.teach.edited import segments_of
from guide.teach.edits import Give, Label, Merge, Name, Split
from guide.teach.relearn import begin_review
from guide.teach.stills import read_stills
from guide.teach.trial import try_demonstration
from guide.teach.videos import find_videos
from guide.ui.state import review as state
from guide.ui.state.bundles import BundleView, view_bundle
from tests.tiny import Learned

STEPS = {1: "1 open", 2: "2 fit"}


def test_cards_follow_the_edits(frames_task: Learned) -> None:
    review = begin_review(frames_task.bundle)
    before = state.cards(review, state.pictures(frames_task.bundle, review, {}))
    assert [card.number for card in before] == [1, 2, 3, 4]
    assert all(card.pictures for card in before if "in 0 of" not in card.seen)
    assert before[0].pictures[0].caption.startswith("recording 0")
    edited = review.edited(Merge((2, 1)), Name(2, "fit board"))
    after = state.cards(edited, state.pictures(frames_task.bundle, edited, {}))
    assert [card.label for card in after] == ["2 fit board", "step 3", "step 4"]
    assert {picture.moment.step for picture in after[0].pictures} == {2}


def test_a_part_that_was_split_off_stands_beside_the_other_with_pictures_of_its_own(frames_task: Learned) -> None:
    review = begin_review(frames_task.bundle).edited(Split(2, 0.5), Split(1, 0.9))
    ids = [one.id for one in review.demonstrations.items]
    videos = find_videos(ids, [Path(one) for one in frames_task.options.inputs])
    assert [step.number for step in state.beside(review)] == [1, 6, 2, 5, 3, 4]
    assert not all(card.pictures for card in state.cards(review, state.pictures(frames_task.bundle, review, {})))
    cards = state.cards(review, state.pictures(frames_task.bundle, review, videos))
    assert all(len(card.pictures) > 1 for card in cards if card.number in (1, 2, 5, 6))
    assert [step.number for step in state.beside(review.undone())] == [1, 2, 5, 3, 4]


def test_a_picture_that_is_there_is_not_cut_out_again(frames_task: Learned, monkeypatch: pytest.MonkeyPatch) -> None:
    review = begin_review(frames_task.bundle)
    ids = [one.id for one in review.demonstrations.items]
    videos = find_videos(ids, [Path(one) for one in frames_task.options.inputs])
    every = read_stills(frames_task.bundle, review.demonstrations, review.start.labels)
    first = next(still for still in every if still.moment.step == 1)
    monkeypatch.setattr(state, "read_stills", lambda *_: [first])
    moments = [still.moment for still in state.pictures(frames_task.bundle, review, videos) if still.moment.step == 1]
    assert first.moment in moments
    assert 1 < len(moments) == len(set(moments))


def test_a_step_has_one_colour_on_every_page_and_no_other_step_has_it(frames_task: Learned) -> None:
    review = begin_review(frames_task.bundle)
    view = view_bundle(frames_task.folder)
    assert isinstance(view, BundleView)
    assert [card.colour for card in state.cards(review, ())] == [step.colour for step in view.steps]
    assert [step.colour for step in view.steps] == [colour(number) for number in (1, 2, 3, 4)]
    assert len({colour(number) for number in range(21)}) == 21


def test_a_pair_switched_off_stays_in_sight(features_task: Learned) -> None:
    review = begin_review(features_task.bundle)
    rows = state.pairs(features_task.bundle, review)
    assert rows
    assert all(row.is_watched for row in rows)
    first = rows[0]
    off = review.edited(Give(GivenRule("before", (first.first, first.then), holds=False)))
    again = state.pairs(features_task.bundle, off)
    assert len(again) == len(rows)
    assert again[0].when_broken == "nothing (relaxed)"
    assert "style=dashed" in state.graph(off)
    assert "dashed" not in state.graph(review)


def test_given_rules_are_listed_drawn_and_outrank_counts(features_task: Learned) -> None:
    review = begin_review(features_task.bundle)
    row = state.pairs(features_task.bundle, review)[0]
    turned = GivenRule("before", (row.then, row.first))
    given = review.edited(Give(turned), Give(GivenRule("either", (1, 4), holds=False)))
    assert [words for words, _ in state.given_rows(given)] == [
        f"step {row.then} before step {row.first}",
        "step 1 or step 4 (relaxed)",
    ]
    rows = {(one.first, one.then): one.when_broken for one in state.pairs(features_task.bundle, given)}
    assert rows[row.then, row.first] == "alert (given)"
    assert rows[row.first, row.then] == "nothing", "what was learned goes against it"
    assert f'{row.then} -> {row.first} [label="given", penwidth=2];' in state.graph(given)
    assert f"{row.first} -> {row.then} " not in state.graph(given)


def test_a_hostile_name_is_quoted_in_the_graph(features_task: Learned) -> None:
    review = begin_review(features_task.bundle).edited(Name(1, 'a"]; evil [label="x'))
    assert '\\"]; evil' in state.graph(review)


def test_warnings_say_what_goes_away_and_what_is_named_twice(features_task: Learned) -> None:
    review = begin_review(features_task.bundle)
    assert state.warnings(review) == ()
    labelled = review.edited(Label("a", (Segment(1, 0.0, 5.0), Segment(2, 5.0, 9.0))))
    assert "No labelled recording holds step 3, step 4" in state.warnings(labelled)[0]
    assert "Two steps are called “cut”" in state.warnings(review.edited(Name(1, "cut"), Name(2, "cut")))[0]


def test_typed_rows_become_segments() -> None:
    rows: list[dict[str, object]] = [
        {"start": 5, "end": 7.5, "step": "2 fit"},
        {"start": 0.0, "end": 5.0, "step": "1 open"},
        {"start": None, "end": 3.0, "step": "1 open"},
        {"start": 1.0, "end": 3.0, "step": "no such"},
    ]
    assert state.typed_segments(rows, STEPS) == (Segment(1, 0.0, 5.0), Segment(2, 5.0, 7.5))
    with pytest.raises(InputError, match="row 1 ends at 3 s"):
        state.typed_segments([{"start": 4.0, "end": 3.0, "step": "1 open"}], STEPS)


@settings(derandomize=True, deadline=None)
@given(st.recursive(st.none() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=8))
def test_whatever_a_browser_sends_is_segments_in_order_or_nothing(rows: Any) -> None:
    found = state.drawn_segments({"segments": rows}, 10.0, STEPS)
    for one in found or ():
        assert one.step in STEPS
        assert 0 <= one.start < one.end <= 10.0


def test_what_was_drawn_comes_back() -> None:
    sent = {"segments": [[2, 5.0, 10.004], [1, 0, 5.0]], "stamp": 3}
    assert state.drawn_segments(sent, 10.0, STEPS) == (Segment(1, 0.0, 5.0), Segment(2, 5.0, 10.0))
    assert state.drawn_segments({"segments": [[1, 0.0, 5.0], [2, 4.0, 6.0]]}, 10.0, STEPS) is None
    assert state.drawn_segments(None, 10.0, STEPS) is None


def test_a_trial_is_told(features_task: Learned) -> None:
    review = begin_review(features_task.bundle)
    networks = start_networks(features_task.bundle, "cpu", 1)
    trial = try_demonstration(features_task.bundle, networks, review.demonstrations, 0)
    view = state.trial_view(trial, review.demonstrations, review.start, 0)
    assert "of 4 steps seen" in view.summary
    assert [block["step"] for block in view.truth] == [
        segment.step for segment in segments_of(review.start, review.demonstrations)[0]
    ]


def test_videos_are_looked_for_where_they_were_last(tmp_path: Path) -> None:
    ours = (Path("recordings"), Path("demo/train"))
    places = state.video_places(tmp_path / "demo", "said", ["learned"], *ours)
    assert places == (Path("said"), Path("learned"), Path("recordings/demo"), Path("demo/train"))
    assert state.video_places(tmp_path / "box", "", [], *ours) == (Path("recordings/box"),)

"""Labelling a recording on the Review page: a timeline to drag, a table to type, keys while the video plays."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, TypeAlias

import streamlit as st
from streamlit.components import v1

from guide.domain import KeyStep, Segment
from guide.errors import GuideError
from guide.record.timeline import colour
from guide.teach.demonstrations import Demonstration
from guide.teach.edited import segments_of
from guide.teach.edits import Label, Name
from guide.teach.gain import leave_one_out
from guide.teach.videos import playable
from guide.ui import review_unsaved
from guide.ui.background_job import PROGRESS_S, BackgroundJob, background_jobs, draw_progress, start_job
from guide.ui.review_bundle import ReviewedBundle, open_bundle
from guide.ui.state import review as state
from guide.ui.state.folders import plain

Typed: TypeAlias = tuple[Segment, ...] | None
TIMELINE = Path(__file__).parent / "timeline"


@functools.cache
def _timeline() -> Callable[..., Any]:
    """The component that draws the timeline; declared when first used, since nothing is done at import."""
    declared: Callable[..., Any] = v1.declare_component("guide_timeline", path=str(TIMELINE))
    return declared


def draw(opened: ReviewedBundle) -> None:
    """Draws the labelling of one recording."""
    items = opened.review.demonstrations.items
    other: int | None = st.session_state.get(_other_key(opened))  # the page's columns depend on it
    left, right, *beside = st.columns([5, 4] if other is None else [4, 5, 5], gap="medium")
    with left:
        chosen, compared = st.columns(2, gap="small")
        with chosen:
            place = _choose(opened)
        with compared:
            _choose_other(opened, place)
        buttons = st.container(horizontal=True)  # here, where they are seen on a small laptop; drawn after the timeline
        _draw_gain(opened)
    with right:
        _draw_video(opened, items[place].id, "review_video")
    if other is not None:
        with beside[0]:
            _draw_video(opened, items[other].id, "review_other")
    draft, typed = _draw_labels(opened, place, other)
    with buttons:
        _draw_buttons(opened, place, draft, typed)
        _draw_new_step(opened)


def _choose(opened: ReviewedBundle) -> int:
    """The place of the recording to label; the choice stays when one more is labelled, and is then told so."""
    items, labelled = opened.review.demonstrations.items, sorted(opened.review.result.labelled)
    kept = f"review_place_{opened.name}"
    place = st.selectbox(
        "Recording",
        range(len(items)),
        index=min(int(st.session_state.get(kept, 0)), len(items) - 1),
        format_func=lambda at: f"{items[at].id}{' (labelled)' if at in labelled else ''}",
        key=f"review_recording_{opened.name}_{labelled}",  # one field goes on showing the words that were chosen
        help="Correct one or two from beginning to end: the others then follow them.",
    )
    st.session_state[kept] = place
    return place


def _choose_other(opened: ReviewedBundle, place: int) -> None:
    """A second recording to look at beside it: each moment shows what the other did at the same place of its work."""
    items = opened.review.demonstrations.items
    others = [at for at in range(len(items)) if at != place]
    if st.session_state.get(_other_key(opened)) == place:
        st.session_state[_other_key(opened)] = None
        st.rerun()  # its video and its line were laid out already
    if others:
        st.selectbox(
            "Beside it", others, index=None, format_func=lambda at: f"{items[at].id}", key=_other_key(opened),
            placeholder="another recording", help="Shows what the other did here, by the steps as they are known.",
        )  # fmt: skip


def _other_key(opened: ReviewedBundle) -> str:
    return f"review_other_{opened.name}"


def _draw_video(opened: ReviewedBundle, recording: str, key: str) -> None:
    video = opened.videos.get(recording)
    shown = None
    if video is not None:
        with st.spinner("Making the video playable"):
            shown = playable(video, opened.store.folder / "clips" / f"{recording}-whole")
    with st.container(key=key):
        if shown is None:
            st.info("The video of this recording was not found. Labels can be dragged and typed without it.")
        else:
            st.video(str(shown), muted=True)


def _draw_new_step(opened: ReviewedBundle) -> None:
    """Steps that nobody found must be named before they can be labelled."""
    key = f"review_new_{len(_extra(opened))}"

    def add() -> None:
        number = max([opened.review.result.highest, *_steps(opened)]) + 1
        try:
            if text := str(st.session_state.get(key, "")).strip():
                _extra(opened).append(KeyStep(number, Name(number, text).name))
        except GuideError as error:
            st.session_state["review_problem"] = str(error)

    words = "A step that is missing"
    st.text_input(
        words, placeholder=f"{words}: its name, then Enter", key=key, max_chars=80, on_change=add,
        label_visibility="collapsed",
    )  # fmt: skip


def _extra(opened: ReviewedBundle) -> list[KeyStep]:
    found: list[KeyStep] = st.session_state.setdefault(f"review_extra_{opened.name}", [])
    known = {step.number for step in opened.review.result.steps}
    found[:] = [step for step in found if step.number not in known]
    return found


def _steps(opened: ReviewedBundle) -> dict[int, str]:
    """The steps that can be labelled, by number, as they are shown."""
    every = [*opened.review.result.steps, *_extra(opened)]
    return {step.number: state.label(step) for step in every}


def _draw_labels(opened: ReviewedBundle, place: int, other: int | None) -> tuple[dict[str, Any], Typed]:
    """The timeline and the table; gives the labels as they stand in each now."""
    one = opened.review.demonstrations.items[place]
    ends = opened.review.demonstrations.ends[one.id]
    draft, steps = _draft(opened, place), _steps(opened)
    sent = _timeline()(
        segments=[[part.step, round(part.start, 3), round(part.end, 3)] for part in draft["segments"]],
        steps=[[number, text, colour(number)] for number, text in steps.items()],
        duration=ends,
        frame=state.frame_s(opened.videos.get(one.id)),
        times=[round(float(at), 3) for at in one.times],
        stamp=draft["stamp"],
        other=None if other is None else _beside(opened, place, other),
        key=_timeline_key(opened, place),
        default=None,
    )
    _take(opened, place, sent)  # no rerun: the timeline shows it already, and a click that came with it would be lost
    with st.expander("Type the times instead", icon=":material/table:"):
        typed = _draw_table(opened, one, draft, steps)
    return draft, typed


def _timeline_key(opened: ReviewedBundle, place: int) -> str:
    return f"review_timeline_{opened.name}_{place}"


def _take(opened: ReviewedBundle, place: int, sent: object) -> bool:
    """Whether the timeline sent something newer than what the page holds, which it then holds."""
    draft, one = _draft(opened, place), opened.review.demonstrations.items[place]
    if not isinstance(sent, dict) or not isinstance(sent.get("stamp"), int) or sent["stamp"] <= draft["stamp"]:
        return False
    drawn = state.drawn_segments(sent, opened.review.demonstrations.ends[one.id], _steps(opened))
    if drawn is None:
        return False
    draft.update(segments=drawn, stamp=sent["stamp"], is_changed=True)
    _keep(opened, one.id, draft)
    return True


def _beside(opened: ReviewedBundle, place: int, other: int) -> dict[str, Any]:
    """The other recording's steps, and where each step of this one was done there."""
    every = segments_of(opened.review.result, opened.review.demonstrations)
    one = opened.review.demonstrations.items[other]
    return {
        "name": one.id,
        "duration": opened.review.demonstrations.ends[one.id],
        "segments": [[part.step, part.start, part.end] for part in every[other]],
        "pairs": state.matched(every[place], every[other]),
    }


def _draw_buttons(opened: ReviewedBundle, place: int, draft: dict[str, Any], typed: Typed) -> None:
    st.button(
        "Save these labels", type="primary", icon=":material/save:", disabled=typed is None,
        help="They wait until you learn the changes; nothing goes live yet.", on_click=_save,
        args=(opened, place, typed),
    )  # fmt: skip
    if draft["is_changed"]:
        st.button(
            "Begin again", icon=":material/restart_alt:", help="Gives up what was not saved.", on_click=_begin_again,
            args=(opened, place),
        )  # fmt: skip


def _begin_again(opened: ReviewedBundle, place: int) -> None:
    _draft(opened, place).update(began="", is_changed=False)
    review_unsaved.forget(opened.store.folder, opened.review.demonstrations.items[place].id)


def _draw_table(opened: ReviewedBundle, one: Demonstration, draft: dict[str, Any], steps: dict[int, str]) -> Typed:
    """The table of times; gives what stands in it, nothing where that makes no sense."""
    rows = st.data_editor(
        state.label_rows(draft["segments"], steps) or [{"start": None, "end": None, "step": None}],
        num_rows="dynamic",
        hide_index=True,
        key=f"review_table_{opened.name}_{one.id}_{draft['stamp']}",
        column_config={
            "start": st.column_config.NumberColumn("from (s)", min_value=0.0, format="%.2f"),
            "end": st.column_config.NumberColumn("to (s)", min_value=0.0, format="%.2f"),
            "step": st.column_config.SelectboxColumn("step", options=list(steps.values())),
        },
    )
    try:
        drawn, typed = (
            state.on_frames(each, one.times, opened.review.demonstrations.rate)
            for each in (draft["segments"], state.typed_segments(rows, steps))
        )
    except GuideError as error:
        st.error(plain(str(error)))
        return None
    if typed != drawn and st.button("Take over what was typed"):
        draft.update(segments=typed, stamp=draft["stamp"] + 1, is_changed=True)
        _keep(opened, one.id, draft)
        st.rerun()
    return typed


def _draft_key(opened: ReviewedBundle, place: int) -> str:
    return f"review_draft_{opened.name}_{place}"


def _draft(opened: ReviewedBundle, place: int) -> dict[str, Any]:
    """The labels of a recording as they stand on the page: at first those that wait, were found or given.

    Their stamp only grows, so that the timeline knows what is newer than what was drawn there.
    """
    key, began = _draft_key(opened, place), _began(opened)
    kept: dict[str, Any] | None = st.session_state.get(key)
    if kept is None or (kept["began"] != began and not kept["is_changed"]):
        unsaved = _unsaved(opened, place, began)
        segments = (
            segments_of(opened.review.result, opened.review.demonstrations)[place] if unsaved is None else unsaved
        )
        stamp = 0 if kept is None else kept["stamp"] + 1
        kept = {"segments": segments, "stamp": stamp, "began": began, "is_changed": unsaved is not None}
        st.session_state[key] = kept
    return kept


def _began(opened: ReviewedBundle) -> str:
    """The state of the review that labels were drawn upon."""
    return f"{opened.bundle.facts['files']['demonstrations.npz']['sha256']} {len(opened.review.edits)}"


def _unsaved(opened: ReviewedBundle, place: int, began: str) -> tuple[Segment, ...] | None:
    """What was drawn and not saved before the page was loaded anew, with the steps that were named for it."""
    one = opened.review.demonstrations.items[place]
    ends = opened.review.demonstrations.ends[one.id]
    found = review_unsaved.read(opened.store.folder, one.id, began, ends, _steps(opened))
    if found is None:
        return None
    known = set(_steps(opened))
    _extra(opened).extend(step for step in found.steps if step.number not in known)
    return found.segments


def _keep(opened: ReviewedBundle, recording: str, draft: dict[str, Any]) -> None:
    """Keeps what was drawn through a reload; it is saved, and counts, with the button."""
    labels = review_unsaved.Unsaved(tuple(draft["segments"]), tuple(_extra(opened)))
    review_unsaved.keep(opened.store.folder, recording, draft["began"], labels)


def _save(opened: ReviewedBundle, place: int, typed: Typed) -> None:
    """Saves the labels before the page is drawn anew; the timeline stays as it is, since it shows them."""
    draft, one = _draft(opened, place), opened.review.demonstrations.items[place]
    is_newer = _take(opened, place, st.session_state.get(_timeline_key(opened, place)))  # drawn since the page was
    try:
        drawn = state.on_frames(draft["segments"], one.times, opened.review.demonstrations.rate)
        segments = drawn if is_newer or typed is None else typed
        numbers = {part.step for part in segments}
        new = tuple((step.number, step.name) for step in _extra(opened) if step.number in numbers)
        if opened.add(Label(one.id, segments, new)):
            began, stamp = _began(open_bundle(opened.store.bundle)), draft["stamp"] + (segments != drawn)
            draft.update(segments=segments, stamp=stamp, began=began, is_changed=False)
            review_unsaved.forget(opened.store.folder, one.id)
    except GuideError as error:
        st.session_state["review_problem"] = str(error)


def _draw_gain(opened: ReviewedBundle) -> None:
    """What another labelled recording would gain, where two are labelled; its place is taken from the beginning."""
    result = opened.review.result
    if len(result.labelled) < 2:
        which = "a second recording" if result.labelled else "two recordings"
        st.caption(f"Label {which} to see what one more would gain.")
        return
    name, basis = f"gain_{opened.store.bundle}", _basis(opened)
    job = background_jobs().get(name)
    if job is not None and job.state == "running":
        st.fragment(draw_progress, run_every=PROGRESS_S)(name, "Leaving out one labelled recording after the other")
        return
    _tell_gain(job, basis)
    is_told = job is not None and job.state == "done" and job.basis == basis
    if not is_told and st.button("What would another one gain?", icon=":material/trending_up:", key="review_gain"):
        given = [each if at in result.labelled else None for at, each in enumerate(result.labels)]
        collection = opened.review.demonstrations.collection()
        start_job(name, lambda tell: leave_one_out(collection, given, tell).words, basis)
        st.rerun()


def _tell_gain(job: BackgroundJob[str] | None, basis: Hashable) -> None:
    """The answer, also to a question that was asked before something changed; or why there is none."""
    if job is None:
        return
    if job.state == "done":
        late = "" if job.basis == basis else " That was before the labels were changed: ask again."
        st.info(plain(f"{job.answer}{late}"), icon=":material/trending_up:")
    elif job.state == "cancelled":
        st.caption("Cancelled before it was answered.")
    else:
        st.error(plain(job.problem), icon=":material/error:")


def _basis(opened: ReviewedBundle) -> Hashable:
    """What an answer is about: the recordings as they are learned, and what was changed since."""
    learned = opened.bundle.facts["files"]["demonstrations.npz"]["sha256"]
    return learned, len(opened.review.edits), tuple(sorted(opened.review.result.labelled))

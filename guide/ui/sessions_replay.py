"""A session again: its video with the step track under it, its alerts beside it, and its exports."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import streamlit as st

from guide.procedure.wording import ACTION_WORDS
from guide.record.page import about, clock
from guide.ui import sessions_track
from guide.ui.state import sessions as state
from guide.ui.state.folders import plain, source_words
from guide.ui.state.sessions import ReplayView, SessionRow

NAMES: dict[state.ExportKind, str] = {
    "html": "Report (HTML)",
    "csv": "Table (CSV)",
    "json": "JSON",
    "vtt": "Subtitles (WebVTT)",
    "eaf": "ELAN",
}
MOST_ROWS = 500
HEIGHT_SHARE = 0.29  # of the page's width; 350 pixels at 1280
FEW_ALERTS, ALERTS_PX, STEPS_PX = 3, 340, 213


def draw(folder: Path, found: Sequence[SessionRow]) -> None:
    """Draws the chosen session, the newest at first, later the one that was replayed last."""
    titles = {row.id: row.title for row in found}
    if st.session_state.get("sessions_chosen") not in titles:
        before = st.session_state.get("sessions_replayed")
        st.session_state["sessions_chosen"] = before if before in titles else found[0].id
    name = st.selectbox(
        "Session", list(titles), format_func=titles.__getitem__, key="sessions_chosen", label_visibility="collapsed"
    )
    st.session_state["sessions_replayed"] = name  # what is chosen is forgotten when another view is drawn
    view = state.view_replay(folder, name)
    if view.row.state == "open":
        st.info(
            "This session is still being recorded: this is what there is so far.", icon=":material/fiber_manual_record:"
        )
    if view.row.state == "interrupted":
        st.warning(plain(view.cut_off), icon=":material/content_cut:")
    _draw_verdict(view)
    part, begin = _part(view)
    share = _video_share(view, part)
    video, alerts = st.columns([share, 1 - share], gap="medium")
    with video:
        _draw_video(view, part, begin)
        wanted = sessions_track.draw_track(view, part, key=f"track_{name}")
    with alerts:
        wanted = _draw_alerts(view, part) or wanted
        _draw_exports(view)
        _draw_more(view)
    if wanted is not None:
        st.session_state["sessions_moment"] = (name, wanted)
        st.rerun()


def _draw_verdict(view: ReplayView) -> None:
    """The verdict; where there is none, the words on how it was cut off say why."""
    words = plain(view.row.verdict)
    match view.report.ending:
        case "complete":
            st.success(words, icon=":material/check:")
        case "look":
            st.warning(words, icon=":material/warning:")
        case "not_complete":
            st.error(words, icon=":material/close:")


def _part(view: ReplayView) -> tuple[int, float]:
    """Which part of the video is shown, and where in it the video begins; an alert in another part asks for it."""
    name, at = st.session_state.get("sessions_moment", ("", 0.0))
    key = f"sessions_part_{view.row.id}"
    moment = st.session_state.pop("sessions_moment", None)
    if moment is not None and name == view.row.id:
        st.session_state[key] = view.part(at)
        st.session_state["sessions_begin"] = (name, view.part(at), at)
    part = 0
    if len(view.clips) > 1:
        st.session_state.setdefault(key, 0)
        parts = range(len(view.clips))
        words = "Part of the video"
        part = st.segmented_control(words, parts, format_func=lambda at: f"Part {at + 1}", required=True, key=key) or 0
    for_session, for_part, begin = st.session_state.get("sessions_begin", ("", 0, 0.0))
    if (for_session, for_part) != (view.row.id, part) or not view.clips:
        return part, 0.0
    return part, max(0.0, begin - state.LEAD_S - view.clips[part].start)


def _video_share(view: ReplayView, part: int) -> float:
    """How much of the page's width the video gets: so much that the track under it is seen without scrolling."""
    aspect = view.clips[part].aspect if view.clips else state.USUAL_ASPECT
    return min(max(HEIGHT_SHARE * aspect, 0.3), 0.6)


def _draw_video(view: ReplayView, part: int, begin: float) -> None:
    if not view.clips:
        st.info(plain(view.why_no_video), icon=":material/videocam_off:")
        return
    path = view.clips[part].path
    kind = "video/webm" if path.suffix == ".webm" else "video/mp4"
    st.video(str(path), format=kind, start_time=begin, autoplay=begin > 0, muted=True)


def _draw_alerts(view: ReplayView, part: int) -> float | None:
    st.markdown(f"**Alerts**: {view.standing}" if view.alerts else "**Alerts**")
    if not view.alerts:
        st.caption("No alert was raised in this session.")
        return None
    with st.container(height=ALERTS_PX if len(view.alerts) > FEW_ALERTS else "content", border=False):
        return sessions_track.draw_alerts(view, part, key=f"alerts_{view.row.id}")


def _draw_exports(view: ReplayView) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("**Export**")
        for kind, (file, mime) in state.EXPORTS.items():
            st.download_button(
                NAMES[kind],
                partial(state.export, view, kind),
                file_name=f"{view.row.id}-{file}",
                mime=mime,
                on_click="ignore",
                key=f"export_{kind}_{view.row.id}",
                icon=":material/download:",
            )


def _draw_more(view: ReplayView) -> None:
    facts = view.report.session.facts
    with st.expander("Steps, actions and notes", expanded=len(view.alerts) <= 1):
        st.markdown("**Steps in the order in which they were done**")
        st.dataframe(
            [
                {
                    "from": one["start"],
                    "to": one["end"],
                    "seconds": one["seconds"],
                    "step": one["name"],
                }
                for one in view.blocks[:MOST_ROWS]
            ],
            hide_index=True,
            height=STEPS_PX if len(view.blocks) > 5 else "content",
        )
        if view.unanswered:
            st.markdown("**Questions that nobody answered**")
            for words in view.unanswered[:MOST_ROWS]:
                st.caption(plain(words))
        st.markdown("**What the operator did**")
        if not view.report.actions:
            st.caption("Nobody intervened.")
        else:
            st.dataframe(
                [
                    {
                        "at": clock(one.at),
                        "action": ACTION_WORDS[one.kind],
                        "about": about(view.report, one),
                        "person": one.person,
                        "comment": one.comment,
                    }
                    for one in view.report.actions[:MOST_ROWS]
                ],
                hide_index=True,
            )
        for note in view.report.notes[:MOST_ROWS]:
            st.caption(plain(f"{note.at:.0f} s: {note.note}"))
        st.caption(
            plain(
                f"Source {source_words(facts.source)}, procedure's version {facts.bundle_hash}, "
                f"{view.report.session.frames} frames"
            )
        )

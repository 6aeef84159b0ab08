"""The card that says how good a procedure is; what it tells is worked out beside the page and kept."""

from __future__ import annotations

import streamlit as st

from guide.ui.background_job import PROGRESS_S, background_jobs, draw_progress, start_job
from guide.ui.shell import go_to
from guide.ui.state.bundles import BundleView
from guide.ui.state.folders import plain, stamp
from guide.ui.state.quality import Quality, find_quality, read_quality
from guide.ui.state.review import LABEL

TITLE = "Following each recording by what the others teach"


def draw(view: BundleView, is_asked: bool) -> None:
    """The card of a bundle; where nothing is known yet it is worked out, at once if `is_asked`."""
    folder = view.folder
    name, basis = f"quality_{folder}", stamp(folder)
    job, found = background_jobs().get(name), read_quality(folder)
    with st.container(border=True, key="quality"):
        st.markdown("##### How good it is")
        if found is not None:
            _draw_quality(view, found)
        elif job is not None and job.state == "running":
            st.fragment(draw_progress, run_every=PROGRESS_S)(name, TITLE)
        elif job is not None and job.basis == basis and job.problem:
            st.caption(plain(job.problem))
        elif (is_asked and job is None) or st.button("Work it out", icon=":material/fact_check:", help=f"{TITLE}."):
            start_job(name, lambda tell: find_quality(folder, tell).headline, basis)
            st.rerun()
        else:
            st.caption("Each recording is followed as if it were live, by what the others teach: a minute or so.")


def _draw_quality(view: BundleView, found: Quality) -> None:
    names = {step.number: step.label for step in view.steps}
    icon = ":material/check_circle:" if found.is_good else ":material/warning:"
    st.markdown(f"{icon} **{plain(found.headline)}**")
    st.markdown("\n".join(f"- **{plain(name)}.** {plain(words)}" for name, words in found.rows(names)))
    with st.expander("Step by step", icon=":material/table:"):
        rows = [
            {
                "step": names[one.number],
                "in recordings": f"{one.present} of {found.recordings}",
                "named right live": "–" if one.right is None else f"{100 * one.right:.0f} %",
                "often called instead": one.taken_for(names),
            }
            for one in found.steps
        ]
        st.dataframe(rows, hide_index=True)
    if st.button("Label a recording", icon=":material/edit_note:", key="quality_label"):
        go_to("review", review_bundle=view.folder, review_part=LABEL)

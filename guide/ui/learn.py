"""The page on which a procedure is learned: recordings, a few choices, start; then how it goes and what was found."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import streamlit as st

from guide.errors import GuideError
from guide.ui import learn_film, learn_progress, learn_result, uploads
from guide.ui.state import learn as state
from guide.ui.state.folders import exported_folder, plain, recordings_folder
from guide.ui.training import HOW_TO_INSTALL, TrainingJob, TrainingJobs, TrainingRequest, cache_folder, missing_packages

NEW = ""  # no procedure can be called so
DROP, FILM, FOLDER = "Drop videos", "Film now", "Name a folder"
AUTO, GIVEN = "Find it out", "Give it"
LEARN_FROM, COMPARE = "Learn from them", "Only compare the result with them"
PRESETS = {"default": "Recommended: quick, no download", "paper": "As in the paper: hours, downloads a larger network"}
TOO_LARGE = f"A larger one: put it into a folder on this computer, choose “{FOLDER}” above and name that folder."
THUMBNAIL_PX = 80
FEWEST, USUAL_STEPS, MOST_STEPS = 2, 7, 99
DEMO_NAME, DEMO_STEPS = "demo-again", 9


def page() -> None:
    """Draws the page for the folders that the environment names."""
    trainings = TrainingJobs(exported_folder(os.environ), cache_folder(os.environ))
    draw(trainings, recordings_folder(os.environ))


def draw(trainings: TrainingJobs, recordings: Path) -> None:
    """Draws the page: a new procedure, or one that is being learned or was."""
    st.header("Learn a procedure")
    if lacks := missing_packages():
        _tell_missing(lacks)
    jobs = {job.name: job for job in trainings.find()}
    _prefill_filmed()
    chosen = _choose(jobs)
    if chosen != NEW:
        _draw_job(trainings, recordings, jobs[chosen])
        return
    if not jobs:
        _offer_demo(recordings)
    _draw_form(trainings, recordings)


def _tell_missing(lacks: tuple[str, ...]) -> None:
    st.warning(
        f"Learning needs {plain(' and '.join(lacks))}, which this installation lacks. Procedures that were learned "
        "elsewhere work without. To learn here, run this in a terminal, then start the dashboard again:",
        icon=":material/download:",
    )
    st.code(HOW_TO_INSTALL, language=None, wrap_lines=True)


def _choose(jobs: dict[str, TrainingJob]) -> str:
    """The procedure to show: at first the one that is being learned, or was last, for who closed the page meanwhile."""
    newest = next((name for name, job in jobs.items() if job.state == "running"), next(iter(jobs), NEW))
    if "learn_wanted" in st.session_state:
        st.session_state["learn_choice"] = st.session_state.pop("learn_wanted")
    elif "learn_choice" not in st.session_state:
        st.session_state["learn_choice"] = newest
    if st.session_state["learn_choice"] not in jobs:
        st.session_state["learn_choice"] = NEW
    if not jobs:
        st.markdown(
            "Film a task a few times, by different people if you can. The steps that all have in common are found."
        )
        return NEW
    chosen: str = st.selectbox(
        "Procedure",
        [NEW, *jobs],
        format_func=lambda name: name or "A new one",
        key="learn_choice",
        label_visibility="collapsed",
        width=420,
    )
    return chosen


def _offer_demo(recordings: Path) -> None:
    """For those who have nothing at hand: the demo's recordings, with labels to compare with."""
    folder = state.demo_folder(os.environ)
    if folder is None:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("Nothing filmed yet?", width="content")
        request = TrainingRequest(DEMO_NAME, (str(folder),), k=DEMO_STEPS, checked=str(folder))
        st.button(
            "Fill in the demo's recordings", icon=":material/edit_note:", on_click=_prefill, args=(request, recordings),
            help="Learning begins only when you start it.",
        )  # fmt: skip


def _draw_job(trainings: TrainingJobs, recordings: Path, job: TrainingJob) -> None:
    if job.state == "running":
        learn_progress.draw_running(trainings, job.name)
        return
    if job.state == "finished":
        learn_result.draw(trainings, job)
    else:
        learn_progress.draw_ended(trainings, job)
    with st.container(horizontal=True):
        st.button("Learn another procedure", icon=":material/add:", on_click=_begin_new, help="From other recordings.")
        st.button(
            "Learn again, with other choices", icon=":material/tune:",
            on_click=_prefill, args=(job.request, recordings),
            help="From the same recordings; what is learned now stays until then.",
        )  # fmt: skip
        st.button("Remove from this list", icon=":material/close:", on_click=_forget, args=(trainings, job.name))
    st.caption("Taking it off this list deletes neither recordings nor the procedure.")


def _begin_new() -> None:
    st.session_state["learn_choice"] = NEW


def _forget(trainings: TrainingJobs, name: str) -> None:
    try:
        trainings.forget(name)
    except GuideError as error:  # somebody began it anew in another browser
        st.error(plain(str(error)), icon=":material/block:")


def _prefill(request: TrainingRequest, recordings: Path) -> None:
    """The choices of a training in the form again."""
    is_dropped = request.inputs == (str(recordings / request.name),)
    st.session_state["learn_source"] = DROP if is_dropped else FOLDER
    st.session_state["learn_folder"] = "" if is_dropped else request.inputs[0]
    st.session_state["learn_choice"] = NEW
    st.session_state["learn_name"] = request.name
    st.session_state["learn_how"] = AUTO if not request.k else GIVEN
    if request.k:
        st.session_state["learn_k"] = request.k
    st.session_state["learn_labels"] = request.labels or request.checked
    st.session_state["learn_use"] = COMPARE if request.checked else LEARN_FROM
    st.session_state["learn_preset"] = request.preset
    st.session_state["learn_config"] = request.config


def _prefill_filmed() -> None:
    """A phone was sent here to film for a procedure: it is filled in, once."""
    if name := st.query_params.pop(learn_film.FILMED, ""):
        st.session_state.update(learn_source=FILM, learn_name=name, learn_choice=NEW)


def _draw_form(trainings: TrainingJobs, recordings: Path) -> None:
    st.markdown("##### 1. What is it called?")
    typed = st.text_input("Name of the procedure", placeholder="for example: fit the lamp", key="learn_name", width=420)
    name = uploads.clean_name(typed)
    if typed.strip() and name != typed.strip():
        st.caption(f"It is kept as {plain(name)}." if name else "Letters or digits are needed.")
    elif not name:
        st.caption("First a name: the files you drop below are kept under it.")
    is_free = _ask_to_replace(trainings, name)
    st.markdown("##### 2. Recordings of it")
    inputs = _ask_recordings(recordings, name)
    st.markdown("##### 3. A few choices")
    request = _ask_choices(TrainingRequest(name, inputs))
    is_ready = bool(name and inputs and is_free and not missing_packages())
    hint = "It goes on when this page is closed, and can be stopped and resumed."
    if st.button("Start learning", type="primary", icon=":material/play_arrow:", disabled=not is_ready, help=hint):
        _start(trainings, request)
    st.caption(_how_long(trainings, request) if is_ready else _what_lacks(name, inputs, is_free))


def _how_long(trainings: TrainingJobs, request: TrainingRequest) -> str:
    """How long it will take, by what trainings on this computer took, else a guess; the page may be closed."""
    minutes = sum(_minutes(text, state.count_videos(Path(text))) for text in request.inputs)
    jobs = trainings.find()
    takes_s = state.expected_s(minutes, request.preset, jobs)
    if not minutes or takes_s is None:
        return "The time is estimated once a procedure was learned here. You may close the page meanwhile."
    video, takes = learn_progress.span(60 * minutes), learn_progress.span(takes_s)
    is_measured = state.measured_rate(request.preset, jobs) is not None
    where = "as measured here before" if is_measured else "a first guess"
    return f"About {takes} for {video} of video, {where}. You may close the page meanwhile."


@st.cache_data(max_entries=8, show_spinner=False)
def _minutes(folder: str, count: int) -> float:
    """Counted anew when there is another number of videos."""
    return state.count_minutes(Path(folder))


@st.cache_data(max_entries=200, show_spinner=False)
def _thumbnail(path: Path, size: int) -> bytes | None:
    return state.thumbnail(path)


def _what_lacks(name: str, inputs: tuple[str, ...], is_free: bool) -> str:
    if not name:
        return "Give it a name first."
    if not inputs:
        return f"At least {FEWEST} recordings are needed, better ten."
    return "" if is_free else "Choose another name, or say that the old one may be replaced."


def _ask_to_replace(trainings: TrainingJobs, name: str) -> bool:
    if not name or not (trainings.exported / name).exists():
        return True
    return st.checkbox(f"Replace the procedure {plain(name)} that is already there", key=f"learn_replace_{name}")


def _ask_recordings(recordings: Path, name: str) -> tuple[str, ...]:
    """What to learn from, as paths; nothing as long as it is too little."""
    st.session_state.setdefault("learn_source", DROP)
    choices = [DROP, FILM, FOLDER]
    how = st.segmented_control("How", choices, label_visibility="collapsed", required=True, key="learn_source")
    if how == FOLDER:
        return _ask_folder()
    folder = recordings / name
    found = state.list_recordings(folder) if name else ()
    if how == FILM:
        learn_film.draw(name, len(found))
        learn_film.await_films(folder, tuple(one.path.name for one in found))
    with st.container(key="film-files" if how == FILM else "files"):  # films go through the same field
        _take_files(folder, is_named=bool(name))
    _tell_problems(folder)
    for one in found:
        with st.container(horizontal=True, vertical_alignment="center"):
            if picture := _thumbnail(one.path, one.size):
                st.image(picture, width=THUMBNAIL_PX, alt=f"From {one.path.name}")
            st.markdown(f":material/movie: {plain(one.path.name)} :small[{plain(one.facts)}]", width="stretch")
            _draw_remove(one.path)
    return (str(folder),) if len(found) >= FEWEST else ()


def _draw_remove(path: Path) -> None:
    """A way to delete a recording; asked twice, since it may be the only copy."""
    with st.popover("Remove", icon=":material/delete:", type="tertiary"):
        st.markdown(f"The copy of {plain(path.name)} that is kept here is deleted.")
        st.button("Yes, delete it", key=f"learn_drop_{path.name}", on_click=_remove, args=(path,))


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        st.error(f"{plain(path.name)} cannot be removed ({plain(str(error.strerror))}): check who owns it.")


def _take_files(folder: Path, is_named: bool) -> None:
    """The field for files; what comes is stored at once and the field emptied, so that no memory is held."""
    turn = st.session_state.setdefault("learn_turn", 0)
    files = st.file_uploader(
        "Videos of the whole task, one recording a file" + ("" if is_named else ": can be dropped once it has a name"),
        type=list(uploads.SUFFIXES),
        accept_multiple_files=True,
        key=f"learn_files_{turn}",
        max_upload_size=uploads.LARGEST_MB,
        disabled=not is_named,
    )
    st.html(uploads.if_refused(TOO_LARGE))
    if not files:
        return
    problems = []
    for file in files:
        try:
            uploads.store(file, file.name, folder)
        except GuideError as error:
            problems.append(str(error))
    st.session_state["learn_turn"] = turn + 1
    st.session_state["learn_problems"] = {folder.name: problems}
    st.rerun()


def _tell_problems(folder: Path) -> None:
    for problem in st.session_state.get("learn_problems", {}).get(folder.name, ()):
        st.error(plain(problem), icon=":material/block:")


def _ask_folder() -> tuple[str, ...]:
    text = st.text_input(
        "Folder on this computer", placeholder="/home/me/videos/lamp", key="learn_folder", help="Its sub-folders count."
    ).strip()
    if not text:
        return ()
    folder = Path(text).expanduser()
    if not folder.is_dir():
        st.error(f"There is no folder {plain(text)} on this computer: check the path.", icon=":material/block:")
        return ()
    found, others = state.count_videos(folder), state.count_other_recordings(folder)
    if found + others < FEWEST:
        said = "there is only one" if found + others else "none was found"
        st.error(
            f"At least {FEWEST} recordings are needed; {said} in {plain(text)} and the folders in it: name another.",
            icon=":material/block:",
        )
        return ()
    st.caption(f"{found} videos there" if found else f"{others} recordings there, as tables of features or stills")
    return (str(folder),)


def _ask_choices(request: TrainingRequest) -> TrainingRequest:
    left, right = st.columns(2)
    with left:
        st.session_state.setdefault("learn_how", AUTO)
        how = st.segmented_control("Number of steps", [AUTO, GIVEN], required=True, key="learn_how")
        k = 0
        if how == GIVEN:
            st.session_state.setdefault("learn_k", USUAL_STEPS)
            k = int(st.number_input("Steps", 1, MOST_STEPS, key="learn_k", width=160))
    with right:
        labels = st.text_input(
            "Folder with labels, if you have some",
            key="learn_labels",
            help="A CSV or ELAN file named like its recording, for one or two of them: the surest way to better steps.",
        ).strip()
        use = st.radio("Labels", [LEARN_FROM, COMPARE], key="learn_use", horizontal=True) if labels else LEARN_FROM
    with st.expander("More choices"):
        preset = st.selectbox("Preset", list(PRESETS), format_func=PRESETS.__getitem__, key="learn_preset")
        config = st.text_input("Settings file (TOML)", key="learn_config", help="See docs/training.md.").strip()
    learned, compared = (labels, "") if use == LEARN_FROM else ("", labels)
    return replace(request, k=k, preset=preset, config=config, labels=learned, checked=compared)


def _start(trainings: TrainingJobs, request: TrainingRequest) -> None:
    try:
        trainings.start(request)
    except GuideError as error:
        st.error(plain(str(error)), icon=":material/block:")
        return
    st.session_state["learn_wanted"] = request.name
    st.rerun()

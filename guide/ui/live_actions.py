"""What an operator can press on the Live page: controls, alerts with their buttons and comment, and undo."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest

import streamlit as st

from guide.errors import GuideError
from guide.ui import live_html as html
from guide.ui.client import Client
from guide.ui.shell import page_link
from guide.ui.state.folders import plain
from guide.ui.state.live import AlertView, LiveView, view_live

MOST_CARDS = 3
SNOOZE_S = 60.0
KEPT_SESSIONS = 32
CURRENT = 0  # no step has this number
GONE = "The alert was withdrawn or answered meanwhile: the comment was not saved."
KEYS = (
    ("N", "next step"), ("P", "previous step"), ("D", "mark done"), ("T", "not yet"), ("Space", "pause, go on"),
    ("B", "begin anew, play again"),
    ("A", "acknowledge the first alert"), ("W", "it was done"), ("F", "false alarm"), ("S", "snooze"),
    ("Y", "yes, to a question"), ("X", "no, to a question"), ("U", "undo"), ("M", "sound on, off"),
)  # fmt: skip
ANSWERS = (
    ("Acknowledge", "acknowledge", "A"), ("It was done", "was_done", "W"), ("False alarm", "false_alarm", "F"),
    ("Snooze", "snooze", "S"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SessionActions:
    """An operator's actions on one session; a refused one is explained on the page.

    >>> SessionActions(Client(8765, "secret"), "20300102-030405-00ff", "127.0.0.1").session
    '20300102-030405-00ff'
    """

    client: Client
    session: str
    host: str

    def view(self) -> LiveView | None:
        try:
            return fetch_view(self.client, self.session)
        except GuideError:
            return None  # the part that is drawn every moment says so

    def still(self, step: int, number: int) -> str:
        """The address of a demonstration's picture of a step."""
        return self.client.still(self.session, step, number, self.host)

    def act(self, action: Mapping[str, object]) -> None:
        self._try(lambda: self.client.act(self.session, action))

    def act_on(self, kind: str, alert: int) -> None:
        """Answers an alert, with the comment that was typed."""
        action: dict[str, object] = {"kind": kind, "target": alert}
        if comment := _typed():
            action["comment"] = comment
        if kind == "snooze":
            action["snooze_s"] = SNOOZE_S
        if kind == "acknowledge":
            self._try(lambda: self._acknowledge(action))
        else:
            self.act(action)

    def _acknowledge(self, action: Mapping[str, object]) -> None:
        """Acknowledges once: a second click, before the page is drawn anew, changes nothing."""
        state, comment = self.client.state(self.session), action.get("comment", "")
        is_seen = any(one["id"] == action["target"] and one["acknowledged"] for one in state["alerts"])
        said = {one["comment"] for one in state["actions"] if one["target"] == action["target"]}
        if not is_seen or (comment and comment not in said):
            self.client.act(self.session, action)

    def mark(self, kind: str) -> None:
        """Marks the chosen step; the current one is the one that is current now, not when the page was drawn."""
        step, view = int(st.session_state.get("marked_step", CURRENT)), self.view()
        if step == CURRENT and view is not None:
            step = view.now.step or (view.next[0].step if view.next else CURRENT)
        self.act({"kind": kind, "step": step or None})

    def keep_comment(self, alert: int) -> None:
        """Saves the typed comment with an alert, which acknowledges it; does nothing without a comment."""
        if not _typed():
            return
        view = self.view()
        if view is not None and all(one.id != alert for one in view.alerts):
            st.session_state.update(live_acted=True, live_trouble=GONE)
            return
        self.act_on("acknowledge", alert)

    def end(self) -> None:
        self._try(lambda: self.client.end(self.session))

    def play_again(self, replay_request: Mapping[str, object]) -> None:
        """Plays a recording from its beginning, as a session of its own; the one so far is ended and kept."""
        self._try(lambda: self._play_again(replay_request))

    def _play_again(self, replay_request: Mapping[str, object]) -> None:
        self.client.end(self.session, is_cut=True)
        state = self.client.start(replay_request)
        st.query_params.clear()
        st.query_params["session"] = str(state["session"])

    def _try(self, action: Callable[[], object]) -> None:
        st.session_state["live_acted"] = True
        try:
            action()
        except GuideError as error:
            st.session_state["live_trouble"] = str(error)


def fetch_view(client: Client, session: str) -> LiveView:
    """The session's state as a view; raises LostError or NoSessionError where the server does not give it."""
    return view_live(client.state(session), _titles(session))


@st.cache_resource(max_entries=KEPT_SESSIONS, show_spinner=False)
def _titles(session: str) -> dict[int, str]:
    """The titles of a session's alerts, withdrawn ones included; shared by all browsers."""
    return {}


def draw_head(actions: SessionActions, view: LiveView) -> None:
    """The session in a line, sound, keys and end."""
    trouble = st.session_state.pop("live_trouble", "")
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="head"):
        st.html(html.head(view), width="stretch")
        if view.is_over:
            page_link("sessions", "Replay it on Sessions", ":material/history:")
            st.button("Start another", type="primary", icon=":material/play_arrow:", key="again", on_click=leave)
        else:
            muted = bool(st.session_state.get("muted", False))
            icon = ":material/volume_off:" if muted else ":material/volume_up:"
            st.button("Sound is off" if muted else "Sound is on", icon=icon, key="mute", shortcut="M", on_click=_mute)
            with st.container(key="keys", width="content"), st.popover("Keys", icon=":material/keyboard:"):
                st.markdown(_keys())
            with st.popover("End", icon=":material/stop:"):  # it cannot be undone, so it takes two clicks
                st.markdown(_ends_what(view))
                st.button("End the session", type="primary", key="end", on_click=actions.end)
    if trouble:
        st.warning(plain(trouble))


def _ends_what(view: LiveView) -> str:
    """What ending means. No steps are named: this is drawn seldom, and some may be done by the time it is read."""
    told = "This ends the session for everybody who looks at it."
    return f"{told} Steps that are not done by now will count as missed." if view.lacking else told


def _keys() -> str:
    """The keys as a table of two halves side by side: one below the other they are higher than a small laptop."""
    half = (len(KEYS) + 1) // 2
    rows = [f"| **{key}** | {what} |" for key, what in KEYS[:half]]
    rest = [f" **{key}** | {what} |" for key, what in KEYS[half:]]
    head = "| Key | What it does | Key | What it does |"
    return "\n".join(
        [head, "|---|---|---|---|", *(left + right for left, right in zip_longest(rows, rest, fillvalue=""))]
    )


def draw_controls(actions: SessionActions, steps: Sequence[tuple[int, str]]) -> None:
    """Next, previous, pause, restart; and a step to mark done or not."""
    view = actions.view()
    is_paused = view is not None and view.is_paused
    words, kind, icon = ("Go on", "resume", "play_arrow") if is_paused else ("Pause", "pause", "pause")
    with st.container(horizontal=True, gap="xsmall", key="controls"):
        _button(actions, "Previous", "previous", "P", "skip_previous")
        _button(actions, "Next", "next", "N", "skip_next")
        _button(actions, words, kind, "Space", icon, key="pause")
        if view is not None and view.replay_request is not None:
            st.button(
                "Restart", key="do_restart", icon=":material/restart_alt:", shortcut="B", on_click=actions.play_again,
                args=(view.replay_request,),
                help="Plays the recording from its beginning. What was seen so far is kept.",
            )  # fmt: skip
        else:
            _button(actions, "Restart", "restart", "B", "restart_alt")
    names = dict(steps)
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", key="marks"):
        st.selectbox(
            "Step", [CURRENT, *names], key="marked_step", label_visibility="collapsed", width=190,
            format_func=lambda number: names.get(number, "the current step"),
        )  # fmt: skip
        st.button(
            "Mark done",
            key="mark_done",
            icon=":material/check:",
            shortcut="D",
            on_click=actions.mark,
            args=("mark_done",),
        )
        st.button(
            "Not yet", key="not_yet", icon=":material/close:", shortcut="T", on_click=actions.mark, args=("not_yet",)
        )
    _draw_all_if_acted()


def draw_alerts(actions: SessionActions) -> None:
    """The question, the alerts and the newest actions."""
    view = actions.view()
    if view is None:
        return
    if view.question is not None:
        with st.container(border=True, key="question"):
            st.html(html.question(view.question.text))
            with st.container(horizontal=True, gap="xsmall"):
                for words, answer, key in (("Yes", True, "Y"), ("No", False, "X")):
                    action = {"kind": "answer", "target": view.question.id, "answer": answer}
                    st.button(words, key=f"answer_{words}", shortcut=key, on_click=actions.act, args=(action,))
    with _answering(actions, view):
        for place, alert in enumerate(view.alerts[:MOST_CARDS]):
            _draw_alert(actions, alert, place == 0, view.is_over)
        if len(view.alerts) > MOST_CARDS:
            with st.expander(f"{len(view.alerts) - MOST_CARDS} more", key="more_alerts"):
                for alert in view.alerts[MOST_CARDS:]:
                    _draw_alert(actions, alert, False, view.is_over)
    if not view.alerts and view.question is None:
        st.success("No alert.", icon=":material/check_circle:")
    _draw_newest(actions, view)
    _draw_all_if_acted()


@contextmanager
def _answering(actions: SessionActions, view: LiveView) -> Iterator[None]:
    """Around the alerts, if there are any: one box for a comment for all of them; every button takes it along."""
    if not view.alerts:
        yield
        return
    first = view.alerts[0]
    does = "saves it" + (
        "" if first.is_acknowledged else f" and acknowledges the {'first ' if len(view.alerts) > 1 else ''}alert"
    )
    with st.form("answers", clear_on_submit=True, border=False):
        # First of all buttons, so that Enter means this one; the style sheet moves it below the alerts.
        with st.container(horizontal=True, gap="xsmall", key="comment-row"):
            st.text_input(
                "Comment", key="comment", placeholder=f"Add a comment (Enter {does})", max_chars=1000,
                label_visibility="collapsed",
            )  # fmt: skip
            st.form_submit_button(
                "Save", key="keep_comment",
                help=f"The same as Enter: {does}. Every other button saves the comment too.",
                on_click=actions.keep_comment, args=(first.id,),
            )  # fmt: skip
        yield


def _draw_alert(actions: SessionActions, alert: AlertView, is_first: bool, is_over: bool) -> None:
    standing = "quiet" if alert.is_acknowledged or alert.is_snoozed else alert.severity
    snapshot = actions.client.snapshot(actions.session, alert.id, actions.host) if alert.has_snapshot else ""
    with st.container(border=True, key=f"alert-{standing}-{alert.id}"):
        st.html(html.alert(alert, snapshot))
        with st.container(horizontal=True, gap="xsmall"):
            for words, kind, key in ANSWERS:
                if is_applicable(kind, alert) and not (is_over and kind == "snooze"):
                    st.form_submit_button(
                        words, key=f"{kind}_{alert.id}", shortcut=key if is_first else None, on_click=actions.act_on,
                        args=(kind, alert.id),
                    )  # fmt: skip


def is_applicable(kind: str, alert: AlertView) -> bool:
    """Whether an answer applies to an alert: only a missed step can have been done."""
    if kind == "acknowledge":
        return not alert.is_acknowledged
    return alert.can_be_done if kind == "was_done" else kind != "snooze" or not alert.is_snoozed


def _draw_newest(actions: SessionActions, view: LiveView) -> None:
    for place, action in enumerate(view.undoable):
        with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", key=f"action-{place}"):
            st.caption(plain(action.words), width="stretch")
            st.button(
                "Undo", key=f"undo_{action.number}", icon=":material/undo:", type="tertiary",
                shortcut="U" if place == 0 else None, on_click=actions.act,
                args=({"kind": "undo", "target": action.number},),
            )  # fmt: skip


def _button(actions: SessionActions, words: str, kind: str, shortcut: str | None, icon: str, key: str = "") -> None:
    """A button for an action without a target; one `key` for two actions keeps it the same button."""
    st.button(
        words, key=key or f"do_{kind}", icon=f":material/{icon}:", shortcut=shortcut, on_click=actions.act,
        args=({"kind": kind},),
    )  # fmt: skip


def _draw_all_if_acted() -> None:
    """After a press this part shows at once what it did, and the rest of the page right after."""
    if st.session_state.pop("live_acted", False):
        st.rerun(scope="app")


def _typed() -> str:
    return str(st.session_state.get("comment", "") or "").strip()


def _mute() -> None:
    st.session_state["muted"] = not st.session_state.get("muted", False)


def leave() -> None:
    """Back to the start page, whatever runs."""
    st.query_params.clear()
    st.query_params["new"] = "1"

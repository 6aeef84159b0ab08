"""What an operator can press on the Live page: controls, alerts with their buttons and comment, and undo."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest

import streamlit as st

from guide.errors import GuideError
from guide.procedure.wording import ANSWERS, KEYS, KeyAction, key_of
from guide.ui import live_html as html
from guide.ui.client import Client
from guide.ui.shell import page_link
from guide.ui.state.folders import plain
from guide.ui.state.live import LiveView, view_live
from guide.ui.state.live_alerts import AlertView
from guide.ui.state.live_words import sentence

MOST_CARDS = 3
SNOOZE_S = 60.0
KEPT_SESSIONS = 32
CURRENT = 0  # no step has this number
GONE = "The alert was withdrawn or answered meanwhile: the comment was not saved."
ASKED = "live_asked"  # what is to be confirmed first: the session, and end or restart
HINTS: Mapping[str, str] = {
    "previous": "The latest step is forgotten.",
    "next": "The likeliest next step is being done.",
    "pause": "Nothing is said meanwhile, and the time does not count.",
    "resume": "The guide follows and speaks again.",
    "restart": "Begins the task again; it asks first.",
    "mark_done": "The chosen step counts as done.",
    "not_yet": "The chosen step counts as not done.",
    "mute": "Spoken prompts, on or off.",
    "quit": "Ends the session for everybody; it asks first.",
    "undo": "Takes this back.",
}


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

    def ask(self, what: str | None) -> None:
        """Asks whether to end or begin anew, or asks no more."""
        st.session_state.update({"live_acted": True, ASKED: what and (self.session, what)})

    @property
    def asked(self) -> str:
        """What is to be confirmed first, if anything."""
        session, what = st.session_state.get(ASKED) or ("", "")
        return what if session == self.session else ""

    def end(self) -> None:
        self.ask(None)
        self._try(lambda: self.client.end(self.session))

    def restart(self, replay_request: Mapping[str, object] | None) -> None:
        """Begins anew; a recording is played from its beginning."""
        self.ask(None)
        if replay_request is None:
            self.act({"kind": "restart"})
        else:
            self.play_again(replay_request)

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
            words = "Sound is off" if muted else "Sound is on"
            st.button(words, icon=icon, key="mute", shortcut=_key("mute"), help=HINTS["mute"], on_click=_mute)
            with st.container(key="keys", width="content"), st.popover("Keys", icon=":material/keyboard:"):
                st.markdown(_keys())
            st.button("End", icon=":material/stop:", key="ask_end", shortcut=None if actions.asked else _key("quit"),
                      help=HINTS["quit"], on_click=actions.ask, args=("end",))  # fmt: skip
    if trouble:
        st.warning(plain(sentence(trouble)))
    if actions.asked and not view.is_over:
        _draw_asked(actions, view)


def _draw_asked(actions: SessionActions, view: LiveView) -> None:
    """What cannot be undone takes two clicks: says what it means, and asks. The same key again means yes."""
    is_end = actions.asked == "end"
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="asked"):
        st.markdown(_ends_what(view) if is_end else _restarts_what(view), width="content")
        if is_end:
            st.button("End the session", type="primary", key="end", shortcut=_key("quit"), on_click=actions.end)
        else:
            st.button("Begin anew", type="primary", key="restart", shortcut=_key("restart"), on_click=actions.restart,
                      args=(view.replay_request,))  # fmt: skip
        st.button("Cancel", key="ask_nothing", on_click=actions.ask, args=(None,))


def _ends_what(view: LiveView) -> str:
    """What ending means. No steps are named: this is drawn seldom, and some may be done by the time it is read."""
    told = "This ends the session for everybody who is watching it."
    return f"{told} Steps that are not done by now will count as missed." if view.lacking else told


def _restarts_what(view: LiveView) -> str:
    if view.replay_request is not None:
        return "This plays the recording from the beginning. What was seen so far is kept as a separate session."
    return "This starts the task again: nothing counts as done any more."


def _key(action: KeyAction) -> str:
    return key_of(action).title()


def _keys() -> str:
    """The keys as a table of two halves side by side: one below the other they are higher than a small laptop."""
    known = [(key.title(), words) for key, (action, words) in KEYS.items() if action != "help"]
    half = (len(known) + 1) // 2
    rows = [f"| **{key}** | {what} |" for key, what in known[:half]]
    rest = [f" **{key}** | {what} |" for key, what in known[half:]]
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
        _button(actions, "Previous", "previous", _key("previous"), "skip_previous")
        _button(actions, "Next", "next", _key("next"), "skip_next")
        _button(actions, words, kind, _key("pause"), icon, key="pause")
        st.button(
            "Restart", key="ask_restart", icon=":material/restart_alt:", on_click=actions.ask, args=("restart",),
            shortcut=None if actions.asked else _key("restart"), help=HINTS["restart"],
        )  # fmt: skip
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
            shortcut=_key("mark_done"),
            help=HINTS["mark_done"],
            on_click=actions.mark,
            args=("mark_done",),
        )
        st.button(
            "Not yet", key="not_yet", icon=":material/close:", shortcut=_key("not_yet"), help=HINTS["not_yet"],
            on_click=actions.mark, args=("not_yet",),
        )  # fmt: skip
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
                for word, is_yes in (("yes", True), ("no", False)):
                    action = {"kind": "answer", "target": view.question.id, "answer": is_yes}
                    key = key_of("yes" if is_yes else "no").title()
                    st.button(word.title(), key=f"answer_{word}", shortcut=key, on_click=actions.act, args=(action,))
    with _answering(actions, view):
        for place, alert in enumerate(view.alerts[:MOST_CARDS]):
            _draw_alert(actions, alert, place == 0, view.is_over)
        if len(view.alerts) > MOST_CARDS:
            with st.expander(f"{len(view.alerts) - MOST_CARDS} more", key="more_alerts"):
                for alert in view.alerts[MOST_CARDS:]:
                    _draw_alert(actions, alert, False, view.is_over)
    if not view.alerts and view.question is None:
        is_green = not view.is_over or view.ending == "complete"
        (st.success if is_green else st.info)("No alert.", icon=":material/check_circle:" if is_green else None)
    if view.watching:
        st.caption(view.watching)
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
            for kind, (words, meaning) in ANSWERS.items():
                if is_applicable(kind, alert) and not (is_over and kind == "snooze"):
                    st.form_submit_button(
                        words, key=f"{kind}_{alert.id}", shortcut=_key(kind) if is_first else None,
                        on_click=actions.act_on, args=(kind, alert.id), help=meaning,
                    )  # fmt: skip
        if is_first and alert.can_be_done:
            told = (ANSWERS[kind] for kind in ("acknowledge", "was_done", "false_alarm") if is_applicable(kind, alert))
            st.html(html.meanings(told))


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
                shortcut=_key("undo") if place == 0 else None, help=HINTS["undo"], on_click=actions.act,
                args=({"kind": "undo", "target": action.number},),
            )  # fmt: skip


def _button(actions: SessionActions, words: str, kind: str, shortcut: str | None, icon: str, key: str = "") -> None:
    """A button for an action without a target; one `key` for two actions keeps it the same button."""
    st.button(
        words, key=key or f"do_{kind}", icon=f":material/{icon}:", shortcut=shortcut, help=HINTS[kind],
        on_click=actions.act, args=({"kind": kind},),
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

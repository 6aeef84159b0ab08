"""An operator's actions at the terminal of `watch`: one key each, the same actions that the server takes."""

from __future__ import annotations

import contextlib
import os
import re
import select
import termios
import threading
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from guide.domain import Alert, Guidance, Question
from guide.errors import InputError
from guide.procedure.actions import Action, in_force, read_action
from guide.procedure.wording import KEYS as SHARED_KEYS
from guide.procedure.wording import KeyAction
from guide.session import Session

_HERE = {key: known for key, known in SHARED_KEYS.items() if known[0] != "mute"}  # a terminal makes no sound
KEYS: dict[str, KeyAction] = {" " if key == "space" else key: action for key, (action, _) in _HERE.items()}
HELP = (
    f"keys: {', '.join(f'{key} {words}' for key, (_, words) in _HERE.items())}; "
    "type a number first to choose the alert, step or action"
)
ASKS: dict[KeyAction, str] = {
    "restart": "restart? No step will count as done: press b again for yes, any other key for no.",
    "quit": "end the session? What is not done counts as missed: press q again for yes, any other key for no.",
}
LARGEST = 10_000  # no alert, step or action has a longer number
MOST_KEYS = 256  # taken at once
ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|.)?")
"""Arrows and the like send several characters, none of them a key of ours."""
POLL_S = 0.2
JOIN_S = 2.0

Shown = Callable[[Action, tuple[Guidance, ...]], None]


class OperatorKeys:
    """An operator's key presses at the terminal, as actions on a session that a loop follows.

    The loop holds `lock` while it changes the session or shows it, and sets `at`. Keys are taken one by one by `press`,
    which gives words for the person, or none where the action itself was shown.

    >>> OperatorKeys(session=None).press("?")[:17]
    'keys: n next step'
    """

    def __init__(self, session: Session, person: str = "") -> None:
        self.lock = threading.Lock()
        self.at = 0.0
        """Seconds of the newest frame."""
        self.shown: Shown = lambda action, said: None
        """Called with an action that was taken and the guidance that followed."""
        self.end: Callable[[], None] = lambda: None
        """Ends the session properly."""
        self._session, self._person = session, person
        self._number = 0
        self._asked: KeyAction | None = None

    def press(self, key: str) -> str:
        """Handles a key; digits are kept as the target of the next one."""
        if key.isascii() and key.isdecimal():
            self._number = (10 * self._number + int(key)) % LARGEST
            return ""
        number, self._number = self._number or None, 0
        kind = KEYS.get(key.lower())
        asked, self._asked = self._asked, None
        if kind is None or kind == "help":
            return HELP if kind or key.isprintable() else ""
        if kind in ASKS and asked != kind:
            self._asked = kind
            return ASKS[kind]
        if kind == "quit":
            self.end()
            return "the session is being ended"
        try:
            with self.lock:
                self._act(kind, number)
        except InputError as error:
            return str(error)
        return ""

    def _act(self, kind: KeyAction, number: int | None) -> None:
        action = read_action(self._plain(kind, number), self.at, self._person)
        said = self._session.act(action)
        self.shown(self._session.tracker.actions[-1], said)

    def _plain(self, kind: KeyAction, number: int | None) -> dict[str, Any]:
        """The action as a client of the server would ask for it."""
        tracker = self._session.tracker
        match kind:
            case "yes" | "no":
                return {"kind": "answer", "target": number or self._newest(Question), "answer": kind == "yes"}
            case "acknowledge" | "was_done" | "false_alarm" | "snooze":
                return {"kind": kind, "target": number or self._newest(Alert, kind == "acknowledge")}
            case "mark_done":
                following = [one.step for one in tracker.progress.next_steps]
                return {"kind": kind, "step": number or _first(following, "no step is left to be marked as done")}
            case "not_yet":
                return {
                    "kind": kind,
                    "step": number or _first(list(tracker.progress.done[::-1]), "no step is done yet"),
                }
            case "undo":
                taken = [action.number for action in reversed(in_force(tracker.actions))]
                return {"kind": kind, "target": number or _first(taken, "there is no action to take back")}
            case "pause":
                return {"kind": "resume" if tracker.attended.is_paused else "pause"}
            case _:
                return {"kind": kind}

    def _newest(self, kind: type[Alert] | type[Question], is_unseen: bool = False) -> int:
        """The number of the newest open alert or question; with `is_unseen`, of one that nobody acknowledged."""
        tracker = self._session.tracker
        seen = tracker.acknowledged if is_unseen else ()
        standing = [one.id for one in reversed(tracker.standing) if isinstance(one, kind) and one.id not in seen]
        return _first(standing, f"no {kind.__name__.lower()} stands")


def _first(found: list[int], words: str) -> int:
    if not found:
        raise InputError(f"{words}.")
    return found[0]


@contextmanager
def reading_keys(operator: OperatorKeys, say: Callable[[str], None], descriptor: int = 0) -> Iterator[None]:
    """Reads single keys from the terminal, Ctrl-C excepted; the terminal is restored afterwards.

    Nothing happens where there is no terminal, or it belongs to another program, as for one started with `&`.
    """
    if not is_at_terminal(descriptor):
        yield
        return
    earlier = termios.tcgetattr(descriptor)
    tty.setcbreak(descriptor, termios.TCSANOW)
    stop = threading.Event()
    thread = threading.Thread(target=_listen, args=(operator, say, descriptor, stop), name="keys", daemon=True)
    say(HELP)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(JOIN_S)
        with contextlib.suppress(termios.error):  # the terminal was closed
            if is_at_terminal(descriptor):
                termios.tcsetattr(descriptor, termios.TCSADRAIN, earlier)


def is_at_terminal(descriptor: int = 0) -> bool:
    """Whether this is a terminal in whose foreground we run: changing it otherwise would stop the program."""
    try:
        return os.isatty(descriptor) and os.tcgetpgrp(descriptor) == os.getpgrp()
    except OSError:
        return False


def _listen(operator: OperatorKeys, say: Callable[[str], None], descriptor: int, stop: threading.Event) -> None:
    while not stop.is_set():
        if not is_at_terminal(descriptor):
            stop.wait(POLL_S)
            continue
        try:
            ready, _, _ = select.select([descriptor], [], [], POLL_S)
            keys = os.read(descriptor, MOST_KEYS).decode("utf-8", "ignore") if ready else ""
        except OSError:
            keys, ready = "", [descriptor]
        if ready and not keys:  # the terminal was closed: the session goes on without
            return
        for key in ESCAPES.sub("", keys):
            if words := operator.press(key):
                say(words)

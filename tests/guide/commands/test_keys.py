"""Keys at the terminal: each is the action it says, a number chooses its target, and the terminal is left as it was."""

from __future__ import annotations

import fcntl
import os
import pty
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from guide.commands.keys import HELP, KEYS, OperatorKeys, reading_keys
from guide.domain import Guidance, KeyStep, Ordering, Question
from guide.procedure.actions import KINDS, Action
from guide.procedure.attended import AttendedTracker
from guide.procedure.model import Procedure, Rules
from guide.record.store import Store
from tests.server import step_picture
from tests.stream_server import mjpeg_parts, serving
from tests.tiny import Learned

STEPS = (KeyStep(1, "cut"), KeyStep(2, "fold"), KeyStep(3, "glue"), KeyStep(4, "press"))
TASK = Procedure(
    STEPS, 4, (Ordering((1, 2, 3, 4), 4),),
    rules=Rules(edges=((1, 3), (2, 4)), asked_edges=((3, 4),), required=(1, 2), asked_steps=(3,)),
)  # fmt: skip


class Stand:
    """As much of a session as keys are about."""

    def __init__(self) -> None:
        self.tracker = AttendedTracker(TASK)
        self.taken: list[Action] = []
        self.said: list[Guidance] = []
        self.ended = 0
        self.operator = OperatorKeys(self, "shift 2")  # type: ignore[arg-type]
        self.operator.at = 9.5
        self.operator.shown, self.operator.end = self._shown, self._end

    def act(self, action: Action) -> tuple[Guidance, ...]:
        return self.tracker.act(action)

    def press(self, keys: str) -> list[str]:
        return [words for words in map(self.operator.press, keys) if words]

    def _shown(self, action: Action, said: tuple[Guidance, ...]) -> None:
        self.taken.append(action)
        self.said += said

    def _end(self) -> None:
        self.ended += 1


@pytest.fixture
def stand() -> Stand:
    return Stand()


def flagged(stand: Stand) -> None:
    """Step 3 was begun without 1, step 4 without 2: two alerts stand."""
    for number, step in enumerate((3, 4)):
        stand.tracker.push(step, float(number))
    assert [one.id for one in stand.tracker.standing] == [1, 2]


def test_every_action_has_a_key() -> None:
    reached = {*KEYS.values(), "resume", "answer"}  # the key of a pause ends it too; yes and no are answers
    assert set(KINDS) <= reached
    assert all(f"{'space' if key == ' ' else key} " in HELP for key in KEYS)


@pytest.mark.parametrize(
    ("keys", "kind", "target"),
    [
        ("a", "acknowledge", 2),
        ("1a", "acknowledge", 1),
        ("w", "was_done", 2),
        ("1W", "was_done", 1),
        ("f", "false_alarm", 2),
        ("s", "snooze", 2),
    ],
)
def test_a_key_is_about_the_newest_alert_unless_a_number_says_which(
    stand: Stand, keys: str, kind: str, target: int
) -> None:
    flagged(stand)
    assert stand.press(keys) == []
    [action] = stand.taken
    assert (action.kind, action.target, action.person, action.at) == (kind, target, "shift 2", 9.5)


def test_what_was_seen_is_passed_over_by_the_next_seen(stand: Stand) -> None:
    flagged(stand)
    assert stand.press("aaa") == ["no alert stands."]
    assert [action.target for action in stand.taken] == [2, 1]


def test_steps_are_marked_and_taken_back(stand: Stand) -> None:
    stand.tracker.push(1, 1.0)
    assert stand.press("d4dtu") == []
    assert [(one.kind, one.step, one.target) for one in stand.taken] == [
        ("mark_done", 2, None), ("mark_done", 4, None), ("not_yet", 4, None), ("undo", None, 3),
    ]  # fmt: skip
    assert set(stand.tracker.progress.done) >= {1, 2, 4}


def test_the_course_is_set_right(stand: Stand) -> None:
    stand.tracker.push(1, 1.0)
    assert stand.press("np  ") == []
    assert [one.kind for one in stand.taken] == ["next", "previous", "pause", "resume"]


def test_a_restart_and_an_end_are_asked_for_twice(stand: Stand) -> None:
    stand.tracker.push(1, 1.0)
    assert [words[:8] for words in stand.press("bnb")] == ["restart?", "restart?"]
    assert [one.kind for one in stand.taken] == ["next"]
    assert stand.press("b") == []
    assert stand.taken[-1].kind == "restart"
    assert [words[:8] for words in stand.press("qbq")] == ["end the ", "restart?", "end the "]
    assert stand.ended == 0
    assert stand.press("q") == ["the session is being ended"]
    assert stand.ended == 1


def test_a_question_is_answered(stand: Stand) -> None:
    asked = [one for step in (1, 2, 4) for one in stand.tracker.push(step, float(step)) if isinstance(one, Question)]
    assert asked
    assert stand.press("x") == []
    assert (stand.taken[0].kind, stand.taken[0].target, stand.taken[0].answer) == ("answer", asked[-1].id, False)
    assert stand.press("y") == ["no question stands."]


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("a", "no alert stands."),
        ("u", "there is no action to take back."),
        ("t", "no step is done yet."),
        ("7d", "this procedure has no step 7."),
        ("9u", "there is no action 9 to take back."),
        ("?", HELP),
        ("z", HELP),
        ("1?", HELP),
    ],
)
def test_what_cannot_be_done_is_said(stand: Stand, keys: str, words: str) -> None:
    assert stand.press(keys) == [words]
    assert stand.taken == []


def test_other_characters_do_nothing(stand: Stand) -> None:
    assert stand.press("\x00\n\t\x7f") == []
    assert stand.press("99999999999999999999d") == ["this procedure has no step 9999."]


def test_nothing_is_touched_without_a_terminal_of_ours(stand: Stand) -> None:
    reading, writing = os.pipe()
    outer, inner = pty.openpty()  # a terminal, but not the one this process belongs to
    said: list[str] = []
    try:
        for descriptor in (reading, inner):
            with reading_keys(stand.operator, said.append, descriptor):
                os.write(writing, b"q")
    finally:
        for descriptor in (reading, writing, outer, inner):
            os.close(descriptor)
    assert (said, stand.ended) == ([], 0)


class Seat:
    """The command at a terminal of its own, on an endless stream."""

    def __init__(self, command: list[str]) -> None:
        self.outer, self._inner = pty.openpty()
        self.before = termios.tcgetattr(self._inner)
        self.process = subprocess.Popen(
            command, stdin=self._inner, stdout=self._inner, stderr=self._inner, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )  # fmt: skip
        self.said = ""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        try:
            while data := os.read(self.outer, 4096):
                self.said += data.decode("utf-8", "replace")
        except OSError:
            return

    def wait_for(self, words: str, timeout_s: float = 60.0) -> None:
        deadline = time.monotonic() + timeout_s
        while words not in self.said:
            assert time.monotonic() < deadline, self.said
            time.sleep(0.02)

    def press(self, keys: str) -> None:
        os.write(self.outer, keys.encode())

    def modes(self) -> list[object]:
        return termios.tcgetattr(self._inner)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for descriptor in (self._inner, self.outer):
            os.close(descriptor)


@pytest.fixture
def seat(frames_task: Learned, tmp_path: Path) -> Iterator[Seat]:
    parts = [step_picture(1 + number // 30 % 4, number, 5) for number in range(240)]
    with serving(mjpeg_parts(parts * 10, rate=15.0, stays_up=True)) as address:
        words = ["--device", "cpu", "--confirm-s", "0.3", "--bridge-s", "0.3", "--lag-s", "0.4", "--person", "shift 2"]
        command = [sys.executable, "-m", "guide", "watch", address, "--bundle", str(frames_task.folder), *words]
        seated = Seat([*command, "--record", "--no-pictures", "--data", str(tmp_path)])
        yield seated
        seated.close()


def test_a_person_at_the_terminal_acts_and_ends_the_session(seat: Seat, tmp_path: Path) -> None:
    seat.wait_for("keys: n next step")
    seat.wait_for("▶")
    assert seat.modes() != seat.before
    seat.press("\x1b[A")  # an arrow is no key of ours
    seat.press("3d")
    seat.wait_for("☞ 1 mark done")
    seat.press(" u")
    seat.wait_for("☞ 2 pause")
    seat.wait_for("☞ 3 undo 2")
    seat.press("q")
    seat.wait_for("end the session?")
    seat.press("q")
    seat.wait_for("the session is being ended")
    assert seat.process.wait(60) == 0, seat.said
    seat.wait_for("recorded as")
    assert seat.modes() == seat.before
    assert "Traceback" not in seat.said
    with Store(tmp_path) as store:
        kept = store.find("last")
        assert kept.state == "finished"
        actions = store.contents(kept.id).actions
    assert [(one.kind, one.person) for one in actions] == [
        ("mark_done", "shift 2"), ("pause", "shift 2"), ("undo", "shift 2"),
    ]  # fmt: skip


def test_ctrl_c_still_ends_it_and_the_terminal_is_as_before(seat: Seat) -> None:
    seat.wait_for("▶")
    seat.press("\x03")
    assert seat.process.wait(60) == 0, seat.said
    seat.wait_for("timeline: ")
    assert seat.modes() == seat.before

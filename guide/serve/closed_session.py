"""What can still be said of a session that is over: its alerts are answered, also those that its end has raised."""

from __future__ import annotations

from collections.abc import Callable

from guide.domain import Guidance
from guide.errors import InputError
from guide.procedure.actions import Action
from guide.procedure.attended import AttendedTracker

ANSWERS = ("acknowledge", "was_done", "false_alarm", "answer")

Keep = Callable[[Action, tuple[Guidance, ...]], None]


class Afterwards:
    """Takes answers to alerts and takes them back; `keep` stores them with the session, if it is stored.

    >>> from guide.procedure.model import Procedure
    >>> Afterwards(AttendedTracker(Procedure((), 1))).act(Action("pause"))
    Traceback (most recent call last):
    ...
    guide.errors.InputError: this session is over: start another one.
    """

    def __init__(self, tracker: AttendedTracker, keep: Keep | None = None) -> None:
        self.tracker, self._keep = tracker, keep

    def act(self, action: Action) -> tuple[Guidance, ...]:
        """What is said because of an answer; InputError where it is none, or its alert is not known."""
        if action.kind not in ANSWERS and not self._takes_answer_back(action):
            raise InputError("this session is over: start another one.")
        said = self.tracker.act(action)
        if self._keep is not None:
            self._keep(self.tracker.actions[-1], said)
        return said

    def _takes_answer_back(self, action: Action) -> bool:
        taken = next((one for one in self.tracker.actions if one.number == action.target), None)
        return action.kind == "undo" and taken is not None and taken.kind in ANSWERS

"""A session that is over: its alerts can still be answered, those raised at its end included."""

from __future__ import annotations

from collections.abc import Callable

from guide.domain import Guidance
from guide.errors import InputError
from guide.procedure.actions import Action
from guide.procedure.attended import AttendedTracker

ANSWERS = ("acknowledge", "was_done", "false_alarm", "answer")

Keep = Callable[[Action, tuple[Guidance, ...]], None]


class ClosedSession:
    """Accepts answers to alerts and undoes them; `keep` stores them with the session, if it is stored.

    >>> from guide.procedure.model import Procedure
    >>> ClosedSession(AttendedTracker(Procedure((), 1))).act(Action("pause"))
    Traceback (most recent call last):
    ...
    guide.errors.InputError: this session is over: start another one.
    """

    def __init__(self, tracker: AttendedTracker, keep: Keep | None = None) -> None:
        self.tracker, self._keep = tracker, keep

    def act(self, action: Action) -> tuple[Guidance, ...]:
        """The guidance that follows from an answer; InputError for any other action or an unknown alert."""
        if action.kind not in ANSWERS and not self._undoes_answer(action):
            raise InputError("this session is over: start another one.")
        said = self.tracker.act(action)
        if self._keep is not None:
            self._keep(self.tracker.actions[-1], said)
        return said

    def _undoes_answer(self, action: Action) -> bool:
        undone = next((one for one in self.tracker.actions if one.number == action.target), None)
        return action.kind == "undo" and undone is not None and undone.kind in ANSWERS

"""A session that is over: its alerts can still be answered, those raised at its end included."""

from __future__ import annotations

from collections.abc import Callable

from guide.domain import Guidance
from guide.errors import InputError
from guide.procedure.actions import Action
from guide.procedure.attended import AttendedTracker
from guide.procedure.ending import judge
from guide.procedure.wording import LATE_ANSWERS
from guide.serve.state import Plain, answers_object, progress_object

Keep = Callable[[Action, tuple[Guidance, ...]], None]


class ClosedSession:
    """Accepts answers to alerts and undoes them; `keep` stores them with the session, if it is stored.

    `why_not` says why what was done cannot be judged, if so.

    >>> from guide.procedure.model import Procedure
    >>> ClosedSession(AttendedTracker(Procedure((), 1))).act(Action("pause"))
    Traceback (most recent call last):
    ...
    guide.errors.InputError: this session is over: start another one.
    """

    def __init__(self, tracker: AttendedTracker, why_not: str = "", keep: Keep | None = None) -> None:
        self.tracker, self._why_not, self._keep = tracker, why_not, keep

    def shown(self) -> Plain:
        """What answers change of the session's state: alerts, questions, actions, what is done, and the verdict."""
        ending = judge(self.tracker, self._why_not)
        return {
            **answers_object(self.tracker),
            "progress": progress_object(self.tracker),
            "ending": {"kind": ending.kind, "words": ending.words},
        }

    def act(self, action: Action) -> tuple[Guidance, ...]:
        """The guidance that follows from an answer; InputError for any other action or an unknown alert."""
        if action.kind not in LATE_ANSWERS and not self._undoes_answer(action):
            raise InputError("this session is over: start another one.")
        said = self.tracker.act(action)
        if self._keep is not None:
            self._keep(self.tracker.actions[-1], said)
        return said

    def _undoes_answer(self, action: Action) -> bool:
        undone = next((one for one in self.tracker.actions if one.number == action.target), None)
        return action.kind == "undo" and undone is not None and undone.kind in LATE_ANSWERS

"""A session that is over: its alerts can still be answered, those raised at its end included."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from guide.domain import Belief, Guidance
from guide.errors import InputError
from guide.procedure.actions import Action
from guide.procedure.attended import AttendedTracker
from guide.session import act_after_end

ALLOWED = ("acknowledge", "was_done", "false_alarm", "answer", "undo")

Keep = Callable[[Action, tuple[Guidance, ...], AttendedTracker], None]


class ClosedSession:
    """Accepts answers to alerts and takes actions back; `keep` stores that with the session, if it is stored.

    `endings` are what was done in all, by the restart since which that counts.

    >>> from guide.procedure.model import Procedure
    >>> ClosedSession(AttendedTracker(Procedure((), 1))).act(Action("pause"))
    Traceback (most recent call last):
    ...
    guide.errors.InputError: this session is over: start another one.
    """

    def __init__(
        self, tracker: AttendedTracker, keep: Keep | None = None, endings: Mapping[int, Belief] | None = None
    ) -> None:
        self.tracker, self._keep, self._endings = tracker, keep, endings or {}

    def act(self, action: Action) -> tuple[Guidance, ...]:
        """The guidance that follows from an answer or an undo; InputError for any other action or an unknown target."""
        if action.kind not in ALLOWED:
            raise InputError("this session is over: start another one.")
        said = act_after_end(self.tracker, self._endings, action)
        if self._keep is not None:
            self._keep(self.tracker.actions[-1], said, self.tracker)
        return said

"""A session that is over: its alerts can still be answered, those raised at its end included."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from guide.domain import Belief, Guidance
from guide.errors import InputError
from guide.procedure.actions import Action
from guide.procedure.attended import AttendedTracker
from guide.procedure.ending import judge
from guide.procedure.wording import LATE_ANSWERS
from guide.serve.state import Plain, answers_object, done_object
from guide.session import act_after_end

Keep = Callable[[Action, tuple[Guidance, ...], AttendedTracker], None]


class ClosedSession:
    """Accepts answers to alerts and takes actions back; `keep` stores that with the session, if it is stored.

    `endings` are what was done in all, by the restart since which that counts.

    `why_not` says why what was done cannot be judged, if so.

    >>> from guide.procedure.model import Procedure
    >>> ClosedSession(AttendedTracker(Procedure((), 1))).act(Action("pause"))
    Traceback (most recent call last):
    ...
    guide.errors.InputError: this session is over: start another one.
    """

    def __init__(
        self,
        tracker: AttendedTracker,
        why_not: str = "",
        keep: Keep | None = None,
        endings: Mapping[int, Belief] | None = None,
    ) -> None:
        self.tracker, self._why_not, self._keep, self._endings = tracker, why_not, keep, endings or {}

    def shown(self) -> Plain:
        """What answers change of the session's state: alerts, questions, actions, what is done, and the verdict."""
        ending = judge(self.tracker, self._why_not)
        return {
            **done_object(self.tracker),
            **answers_object(self.tracker),
            "ending": {"kind": ending.kind, "words": ending.words},
        }

    def act(self, action: Action) -> tuple[Guidance, ...]:
        """The guidance that follows from an answer or an undo; InputError for any other action or an unknown target."""
        if action.kind not in (*LATE_ANSWERS, "undo"):
            raise InputError("this session is over: start another one.")
        said = act_after_end(self.tracker, self._endings, action)
        if self._keep is not None:
            self._keep(self.tracker.actions[-1], said, self.tracker)
        return said

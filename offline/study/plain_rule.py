"""What every order checker must beat: saying nothing, and the plain rule "never done without that before it"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from guide.procedure.scores import Checked
from guide.procedure.sequences import NamedSequence


class PlainRule:
    """Flags a step that was never done without one before it that is not done, or that was never done at all.

    That is counted over all demonstrations that hold the step, however few; nothing else is learnt.

    >>> from guide.procedure.sequences import NamedStep
    >>> cut, glue = (NamedStep(name, at, at + 1) for at, name in enumerate(("cut", "glue")))
    >>> PlainRule([NamedSequence("a", (cut, glue))]).flags(NamedSequence("b", (glue, cut)))
    (True, False)
    """

    def __init__(self, taught: Sequence[NamedSequence]) -> None:
        self._needed: dict[str, frozenset[str]] = {}
        for one in taught:
            names = tuple(dict.fromkeys(step.name for step in one.done))
            for place, name in enumerate(names):
                self._needed[name] = self._needed.get(name, frozenset(names)) & {*names[:place]}

    def flags(self, sequence: NamedSequence) -> tuple[bool, ...]:
        """Whether each step is a mistake."""
        names = [step.name for step in sequence.done]
        return tuple(
            name not in self._needed or not self._needed[name] <= {*names[:place], name}
            for place, name in enumerate(names)
        )

    def check(self, checked: Checked) -> Checked:
        """The same sequence under this rule; every step that is flagged is an alarm."""
        flagged = self.flags(checked.sequence)
        false = sum(flag and not step.is_mistake for flag, step in zip(flagged, checked.sequence.done, strict=True))
        return replace(checked, flagged=flagged, missed=(), alerts=(), false_alarms=false)

"""Labels that people gave for some of the recordings, laid on the frames that are learned from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from guide.domain import BACKGROUND, KeyStep, Labels, Times
from guide.errors import InputError
from guide.teach.annotations import LabelFile, read_label_folder, segments_to_labels


class Timed(Protocol):
    """A recording that says when its frames were taken."""

    @property
    def id(self) -> str: ...

    @property
    def times(self) -> Times: ...


@dataclass(frozen=True, slots=True)
class Given:
    """The label files by recording id, and the steps they name.

    >>> from guide.domain import Segment
    >>> Given({"a": LabelFile((Segment(2, 0.0, 1.0),), {2: "fold"})}).steps
    (KeyStep(number=2, name='fold', is_optional=False, is_repeatable=False, say=''),)
    """

    files: dict[str, LabelFile]

    @property
    def steps(self) -> tuple[KeyStep, ...]:
        """The steps with their numbers as given; one without a name is named after its number."""
        names: dict[int, str] = {}
        for file in self.files.values():
            for segment in file.segments:
                names.setdefault(segment.step, file.names.get(segment.step) or f"step {segment.step}")
        return tuple(KeyStep(number, names[number]) for number in sorted(names) if number > BACKGROUND)

    @property
    def fingerprint(self) -> str:
        """Names what was given: other labels lead to other steps."""
        text = repr([(id_, self.files[id_].segments) for id_ in sorted(self.files)])
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def changes(self) -> tuple[str, ...]:
        """What lenient reading changed."""
        return tuple(change for file in self.files.values() for change in file.changes)

    def labels(self, recordings: Sequence[Timed]) -> list[Labels | None]:
        """The labels (T,) of each recording's frames, None for those without a file.

        Raises InputError where a step is so short that no frame falls into it.
        """
        laid = [
            segments_to_labels(self.files[one.id].segments, one.times) if one.id in self.files else None
            for one in recordings
        ]
        seen = {int(number) for labels in laid if labels is not None for number in labels}
        if lost := [step.label for step in self.steps if step.number not in seen]:
            raise InputError(
                f"every labelled step needs frames, but none falls into {', '.join(lost)}: "
                "label it longer, or raise --fps."
            )
        return laid


def read_given(folder: Path, durations: Mapping[str, float], lenient: bool = False) -> Given:
    """The labels in a folder; raises InputError where a file is wrong, or where all of them name no step.

    `durations` says for every recording by its id when it ends.
    `lenient` repairs what it can; the files' `changes` say what.
    """
    given = Given(read_label_folder(folder, durations, lenient=lenient))
    if not given.steps:
        raise InputError(f"the label files in {folder} should name key-steps, but hold none: label at least one step.")
    return given

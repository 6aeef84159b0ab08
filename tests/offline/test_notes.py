"""Notes stand on the Learn page: none may need knowledge of the method."""

from __future__ import annotations

import re

import numpy as np
import pytest

from guide.domain import KeyStep
from guide.procedure.explain import watching
from guide.procedure.model import Procedure, Rules
from guide.teach.collection import Collection
from offline.keysteps.base import unused
from offline.keysteps.choose import choose_k
from offline.keysteps.correspond import CorrespondAndCut
from offline.keysteps.fcm import FuzzySettings, collapse_notes
from offline.second_look import Gain, gain_in_words

OF_THE_METHOD = re.compile(
    r"fuzz|cluster|partition|coefficient|procut|c-means|member|prototype|embed|paired? off|nats|entrop"
    r"|information|frames?\b|key-step|label any|demonstration|--\w|`",
    re.IGNORECASE,
)
ROWS = [np.random.default_rng(seed).normal(size=(40, 4)).astype(np.float32) for seed in range(3)]


def notes() -> list[str]:
    """One of each kind, made by what makes them in learning."""
    one, two = np.array([0.5, 0.6, 0.55]), np.array([0.7, 0.75, 0.8])
    rules = Rules(required=(2,), asked_steps=(1,))
    return [
        *collapse_notes(np.full((20, 4), 0.25), FuzzySettings()),
        *unused([np.array([0, 0, 2])], 3),
        *CorrespondAndCut().find(Collection.at_rate(ROWS[:2], 2.0), k=2, seed=0).notes,
        *(choose_k(Collection.at_rate(rows, 2.0), 0, numbers).reason
          for rows, numbers in ((ROWS[:1], [4]), (ROWS, [4]), (ROWS, [4, 5]))),
        *(gain_in_words(gain) for gain in (None, Gain(one, two), Gain(two, one))),
        watching(Procedure((KeyStep(1, "cut"), KeyStep(2, "fold"), KeyStep(3, "glue")), 8, rules=rules)),
    ]  # fmt: skip


def test_every_kind_of_note_is_made() -> None:
    assert len(notes()) == 10


@pytest.mark.parametrize("note", notes())
def test_a_note_is_for_a_trainer(note: str) -> None:
    assert OF_THE_METHOD.search(note) is None, note

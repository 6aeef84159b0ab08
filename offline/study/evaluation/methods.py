"""What is compared: each finder, on each embedding it needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from guide.errors import InputError
from offline.keysteps.registry import FINDERS
from offline.losses.registry import LOSS_NAMES
from offline.study.tables import FLOORS

RAW: Final = "raw"
"""In the place of a loss: no embedder, what the trunk saw."""
BLIND: Final = ("random", "uniform", "equal")
"""Finders that look at nothing."""
OWN_EMBEDDING: Final = ("cte",)
"""Finders that learn from the features themselves."""
CHANCE: Final = ("random",)
FEWEST_DRAWS: Final = 3
"""Random labels are drawn this often at least: they cost nothing, and one draw says little."""


@dataclass(frozen=True, slots=True)
class Method:
    """A finder, and the loss of the embedding it works on where it needs one.

    >>> Method("pcm", "tc3i").name, Method("equal").name
    ('tc3i + pcm', 'equal')
    """

    clusterer: str
    loss: str | None = None

    @property
    def name(self) -> str:
        return self.clusterer if self.loss is None else f"{self.loss} + {self.clusterer}"

    def seeds(self, asked: int) -> range:
        """The seeds it is run with: one where chance plays no part."""
        if self.clusterer in CHANCE:
            return range(max(asked, FEWEST_DRAWS))
        return range(1 if self.clusterer in BLIND else asked)


def split_names(text: str, known: Sequence[str], what: str) -> tuple[str, ...]:
    """The names in a list with commas, each once; raises InputError on one that is not known, or on none."""
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        came = ", ".join(repr(name) for name in unknown) or "nothing"
        raise InputError(f"{what} are some of {', '.join(known)}, with commas between, got {came}: choose from these.")
    return names


def choose_methods(losses: str, clusterers: str) -> tuple[Method, ...]:
    """Every clusterer, once for each loss where it needs an embedding; random and equal split always."""
    wanted = split_names(clusterers, tuple(FINDERS), "key-step finders (--cluster)")
    chosen = split_names(losses, (*LOSS_NAMES, RAW), "losses (--losses)")
    alone = [Method(name) for name in (*FLOORS, *wanted) if name in (*BLIND, *OWN_EMBEDDING)]
    looking = [
        Method(name, loss) for loss in chosen for name in wanted if name not in BLIND and name not in OWN_EMBEDDING
    ]
    return tuple(dict.fromkeys([*alone, *looking]))

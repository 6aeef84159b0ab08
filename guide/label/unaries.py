"""What each label would cost for a frame: from fuzzy memberships, from the appearance recogniser, or from both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from guide.domain import BACKGROUND, UNKNOWN
from guide.errors import BundleError
from guide.label.elapsed import Elapsed
from guide.label.membership import memberships, squared_distances
from guide.label.recogniser import Recogniser, log_posterior

Costs = NDArray[np.float64]  # (C,), one a label, in [0, 1]
Row = NDArray[np.float64]  # (1, d), a moment as the recogniser has it

UNKNOWN_SOFTNESS = 0.05  # share of the distance limit over which a frame goes from known to unknown


class Unaries(Protocol):
    """Costs (C,) of the labels in `steps` for what is seen at one moment."""

    @property
    def steps(self) -> tuple[int, ...]: ...

    @property
    def reluctance(self) -> float:
        """By how many nats background must be ahead to be shown."""
        ...

    @property
    def elapsed(self) -> Elapsed | None:
        """What is usually done how long after the beginning, where that is known."""
        ...

    def along(self, appearance: NDArray[np.float32]) -> Row | None:
        """What is seen (P,) as the recogniser has it, (1, d), where there is one: several rooms ask for it."""
        ...

    def costs(
        self, appearance: NDArray[np.float32], embedding: NDArray[np.float32], along: Row | None = None
    ) -> Costs: ...

    def label_costs(self, appearance: NDArray[np.float32], costs: Costs) -> Costs:
        """Costs (C,) for labels, which may go by how things look at their usual time, where `costs` are for all else.

        Unknown activity is as `costs` have it.
        """
        ...


@dataclass(frozen=True, slots=True)
class EmbeddingUnaries:
    """One minus the fuzzy membership in each prototype, the paper's t-links.

    >>> unaries = EmbeddingUnaries(np.array([[0.0], [2.0]]), 1.2)
    >>> unaries.costs(np.zeros(1, np.float32), np.zeros(1, np.float32)).round(3).tolist()
    [0.0, 1.0]
    """

    centres: NDArray[np.float64]  # (K, D)
    fuzzifier: float
    numbers: tuple[int, ...] = ()
    """The key-step of each prototype; 1..K where none are given."""

    @property
    def steps(self) -> tuple[int, ...]:
        return self.numbers or tuple(range(1, len(self.centres) + 1))

    @property
    def reluctance(self) -> float:
        return 0.0

    @property
    def elapsed(self) -> Elapsed | None:
        return None

    def along(self, appearance: NDArray[np.float32]) -> Row | None:
        return None

    def costs(self, appearance: NDArray[np.float32], embedding: NDArray[np.float32], along: Row | None = None) -> Costs:
        _require_fit(embedding, self.centres.shape[1:], "prototypes")
        return np.asarray(1.0 - memberships(embedding[None], self.centres, self.fuzzifier)[0])

    def label_costs(self, appearance: NDArray[np.float32], costs: Costs) -> Costs:
        return costs


@dataclass(frozen=True, slots=True)
class AppearanceUnaries:
    """One minus the recogniser's probability of each step, of background and of unknown activity."""

    recogniser: Recogniser

    @property
    def steps(self) -> tuple[int, ...]:
        return (*(int(number) for number in self.recogniser.numbers), UNKNOWN)

    @property
    def reluctance(self) -> float:
        return self.recogniser.for_labels.reluctance

    @property
    def elapsed(self) -> Elapsed | None:
        return self.recogniser.elapsed

    def along(self, appearance: NDArray[np.float32]) -> Row:
        _require_fit(appearance, self.recogniser.mean.shape, "recogniser")
        return self.recogniser.along(appearance[None])

    def costs(self, appearance: NDArray[np.float32], embedding: NDArray[np.float32], along: Row | None = None) -> Costs:
        seen = self.along(appearance) if along is None else along
        return np.asarray(costs_of(self.recogniser, squared_distances(seen, self.recogniser.centres))[0])

    def label_costs(self, appearance: NDArray[np.float32], costs: Costs) -> Costs:
        usual = self.recogniser.in_order
        return costs if usual is None else label_costs_of(usual, usual.distances(appearance[None]), costs[None])[0]


def costs_of(recogniser: Recogniser, distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Costs (T, C + 1) of a recogniser's classes and of unknown activity, from squared distances (T, C)."""
    known = np.exp(log_posterior(distances, recogniser.temperature))
    limit = recogniser.distance_limit
    excess = (distances.min(1) - limit) / (UNKNOWN_SOFTNESS * max(limit, 1e-9))
    unknown = 1.0 / (1.0 + np.exp(-np.clip(excess, -50, 50)))[:, None]
    return np.asarray(1.0 - np.concatenate([known * (1.0 - unknown), unknown], axis=1))


def label_costs_of(
    usual: Recogniser, distances: NDArray[np.float64], costs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Costs (T, C + 1) for labels, from squared distances (T, C) of what they go by; the last column as in `costs`."""
    known = np.exp(log_posterior(distances, usual.temperature))
    return np.asarray(1.0 - np.concatenate([known * costs[:, -1:], 1.0 - costs[:, -1:]], axis=1))


def shown(
    costs: Costs, steps: Sequence[int], reluctance: float, elapsed: Elapsed | None = None, elapsed_s: float = 0.0
) -> Costs:
    """Costs (C,) of the labels in `steps` as they are shown: background put back by so many nats, and each label
    weighed by what is usually done so long after the beginning. Unknown activity stays as it was.

    >>> shown(np.array([0.5, 0.6, 0.9]), (0, 1, -1), np.log(4)).round(2).tolist()
    [0.79, 0.31, 0.9]
    """
    numbers, chances = np.asarray(steps), 1.0 - costs
    is_known = numbers != UNKNOWN
    weighed = np.where(numbers == BACKGROUND, np.exp(-reluctance), 1.0) * chances
    if elapsed is not None:
        weighed[is_known] *= elapsed.weights_at(elapsed_s)
    share = chances[is_known].sum() / max(weighed[is_known].sum(), np.finfo(np.float64).tiny)
    return np.asarray(1.0 - np.where(is_known, np.minimum(share * weighed, 1.0), chances))


@dataclass(frozen=True, slots=True)
class BothUnaries:
    """The mean of both for the key-steps; background and unknown activity as the appearance has them."""

    embedding: EmbeddingUnaries
    appearance: AppearanceUnaries

    @property
    def steps(self) -> tuple[int, ...]:
        return self.appearance.steps

    @property
    def reluctance(self) -> float:
        return self.appearance.recogniser.reluctance

    @property
    def elapsed(self) -> Elapsed | None:
        return self.appearance.elapsed

    def along(self, appearance: NDArray[np.float32]) -> Row | None:
        return self.appearance.along(appearance)

    def costs(self, appearance: NDArray[np.float32], embedding: NDArray[np.float32], along: Row | None = None) -> Costs:
        costs = self.appearance.costs(appearance, embedding, along)
        paper = dict(zip(self.embedding.steps, self.embedding.costs(appearance, embedding), strict=True))
        pairs = zip(self.steps, costs, strict=True)
        return np.array([0.5 * (cost + paper[step]) if step > BACKGROUND else cost for step, cost in pairs])

    def label_costs(self, appearance: NDArray[np.float32], costs: Costs) -> Costs:
        return costs


def _require_fit(row: NDArray[np.float32], shape: tuple[int, ...], what: str) -> None:
    if row.shape != shape:
        raise BundleError(f"the bundle's {what} take {shape}, its networks give {row.shape}: export it again.")

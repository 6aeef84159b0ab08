"""The energy that live and offline labelling share: t-links (unaries) and n-links that decay with temporal distance.

    E(labels) = sum_t unary[t, labels_t] + sum_(i,j) w_ij [labels_i != labels_j]

A Potts model: equal labels cost nothing, different labels cost the more the closer their frames are in time. Links
stay within one recording. Labels here are columns of the unaries, 0..K-1; what a column means is the caller's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from guide.domain import Labels, Times

Unaries = NDArray[np.float64]  # (T, K)

KEPT_PAIRS = 512  # frames up to which pairs are kept: a live window asks again and again, a long recording once


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """How strongly frames close in time hold together.

    `weight` is given in seconds of contrary evidence, not per link. The unaries of a stretch grow with the number of
    its frames, hence with the working rate; were a link's cost fixed, doubling the rate would change the labels.
    So one change costs weight x rate: that makes a labelling independent of the rate, and the total link strength of
    a frame with it (up to the coarseness of counting whole frames within the radius).

    >>> LinkSettings().capped(step_s=8.0).weight
    2.0
    """

    weight: float = 5.0
    """What one change of label costs, in seconds during which every frame speaks fully for the other label. With 5, a
    stretch stands alone when it lasts 10 s; on cooking features scores move by under 2 points between 2 and 10."""
    radius_s: float = 5.0
    """Frames farther apart than this are not linked; 0 links only next frames."""
    decay_s: float = 2.5
    """A link this long has lost all but 1/e of its strength: at the radius a link is worth a seventh of the first."""
    most: int = 12
    """At most this many links from a frame to later ones; above rate x radius, links are spread over the radius."""

    def __post_init__(self) -> None:
        if self.weight < 0 or self.radius_s < 0 or self.decay_s <= 0 or self.most < 1:
            raise ValueError(f"links need weight and radius >= 0, decay > 0, at least one link, got {self}")

    def capped(self, step_s: float) -> LinkSettings:
        """The same, weakened where steps of `step_s` seconds on average are too short to stand against it.

        A stretch stands alone when it is longer than twice the weight: with a quarter of the average step, steps
        half as long as the average do.
        """
        return replace(self, weight=min(self.weight, step_s / 4), radius_s=min(self.radius_s, step_s / 4))


@dataclass(frozen=True, slots=True)
class Links:
    """The n-links of one recording of `size` frames: frame `first[n]` < `second[n]`, cost `weight[n]` if they differ.

    >>> Links(3, np.array([0, 1]), np.array([1, 2]), np.array([0.5, 0.25])).change_costs()
    array([0.5 , 0.25])
    """

    size: int
    first: NDArray[np.int64]  # (L,)
    second: NDArray[np.int64]  # (L,)
    weight: NDArray[np.float64]  # (L,)

    def __post_init__(self) -> None:
        if not self.first.shape == self.second.shape == self.weight.shape or self.first.ndim != 1:
            raise ValueError(f"links need three (L,) arrays, got {self.first.shape}, {self.second.shape}")
        if len(self.first) and not (
            self.first.min() >= 0 and self.second.max() < self.size and (self.first < self.second).all()
        ):
            raise ValueError(f"links run from an earlier to a later of {self.size} frames")
        if (np.diff(self.first) < 0).any():
            raise ValueError("links are sorted by their earlier frame")
        if (self.weight < 0).any():
            raise ValueError("a link's cost is not negative")

    @property
    def is_chain(self) -> bool:
        """Whether only next frames are linked, so that dynamic programming is exact."""
        return bool((self.second - self.first == 1).all())

    @property
    def reach(self) -> int:
        """The longest link, in frames."""
        return int((self.second - self.first).max(initial=0))

    def change_costs(self) -> NDArray[np.float64]:
        """What one change of label after frame t costs when no other is near: (size - 1,)."""
        opened = np.bincount(self.first, self.weight, self.size)
        closed = np.bincount(self.second, self.weight, self.size)
        # Rounding may leave -1e-17 where every link is closed again.
        return np.maximum(np.cumsum(opened - closed)[:-1], 0.0)


def link_offsets(rate: float, settings: LinkSettings) -> NDArray[np.int64]:
    """How many frames ahead a frame is linked, at `rate` frames a second: increasing, always with the next frame."""
    farthest = max(1, int(settings.radius_s * rate + 1e-9))
    count = min(farthest, settings.most)
    return np.unique(np.linspace(1, farthest, count).round().astype(np.int64))


def build_links(times: Times, rate: float, settings: LinkSettings) -> Links:
    """The n-links of one recording with frame times (T,) in seconds, taken at about `rate` frames a second.

    Scaled so that a change of label far from any other costs weight x rate (see LinkSettings). The pairs a change cuts
    are d of each offset d, hence the division by sum d f(d).
    """
    if rate <= 0:
        raise ValueError(f"the working rate is above 0, got {rate}")
    offsets, scale = _scaled(rate, settings)
    # Half a frame of slack: true timestamps jitter about the working rate.
    reach_s = (offsets[-1] + 0.5) / rate
    pairs = _kept_pairs if len(times) <= KEPT_PAIRS else _pairs
    first, second = pairs(len(times), offsets)
    gap_s = times[second] - times[first]
    near = gap_s <= reach_s
    return Links(len(times), first[near], second[near], scale * np.exp(-gap_s[near] / settings.decay_s))


@lru_cache(maxsize=8)
def _scaled(rate: float, settings: LinkSettings) -> tuple[tuple[int, ...], float]:
    """How many frames ahead frames are linked, and the cost of a link over no time."""
    offsets = link_offsets(rate, settings)
    scale = settings.weight * rate / float((offsets * np.exp(-offsets / rate / settings.decay_s)).sum())
    return tuple(offsets.tolist()), scale


def _pairs(count: int, offsets: tuple[int, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The earlier and the later frames of all links among so many frames."""
    second = np.add.outer(np.arange(count), offsets).reshape(-1)
    first = np.repeat(np.arange(count), len(offsets))
    within = second < count
    return first[within], second[within]


@lru_cache(maxsize=8)
def _kept_pairs(count: int, offsets: tuple[int, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The same, kept: a live window asks for the same pairs with every frame."""
    first, second = _pairs(count, offsets)
    first.setflags(write=False)
    second.setflags(write=False)
    return first, second


def check_unary(unary: Unaries, size: int) -> None:
    """Refuses what would hang a cut or mislead it: unaries that are not (size, K) finite numbers."""
    if unary.ndim != 2 or unary.shape[0] != size or unary.shape[1] == 0:
        raise ValueError(f"a cut of {size} frames needs unaries ({size}, K), got {unary.shape}")
    if not np.isfinite(unary).all():
        raise ValueError("a cut needs finite unaries: an embedding or a prototype holds NaN or infinity")


def energy(unary: Unaries, links: Links, labels: Labels) -> float:
    """E of labels (T,) (columns of unary (T, K))."""
    alone = unary[np.arange(len(labels)), labels].sum()
    together = links.weight[labels[links.first] != labels[links.second]].sum()
    return float(alone + together)

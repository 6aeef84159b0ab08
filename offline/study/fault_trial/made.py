"""The recordings that are followed: one left out of learning, as it was, and with a fault made in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from guide.domain import Labels, Times
from offline.features import RecordingFeatures
from offline.study.counterfactual.faults import KINDS, Kind, Rules, Variant
from offline.study.counterfactual.pieces import Index, Layout, lasting, retime, splices
from offline.study.counterfactual.plan import variants_of
from offline.study.counterfactual.truth import known_at
from offline.study.evaluation.task import LabelledTask
from offline.study.flags import Planted

FAULTS: Final[tuple[Kind, ...]] = ("missed", "out_of_order", "repeated")


@dataclass(frozen=True, slots=True)
class Made:
    """A recording made from one left out: what is seen in it, which frames of the source these are, and the fault."""

    features: RecordingFeatures
    index: Index  # (M,)
    planted: Planted
    source_times: Times  # (T,)

    def in_source(self, at: float) -> float:
        """The moment of the source that is shown at a moment of this recording."""
        place = int(np.searchsorted(self.features.times, at, side="right")) - 1
        return float(self.source_times[self.index[max(place, 0)]])

    def is_near_splice(self, after_s: float) -> NDArray[np.bool_]:
        """Which frames (M,) come within so many seconds after frames that did not come before them in the source."""
        times, begins = self.features.times[:, None], self.features.times[splices(self.index)]
        return np.asarray(((times >= begins) & (times <= begins + after_s)).any(axis=1))


def make_all(task: LabelledTask, number: int, each: int, seed: int) -> Iterator[Made]:
    """A recording as it was, and up to `each` ways to leave a step out of it, to exchange two and to repeat one.

    Only what breaks a rule of all other recordings is a fault: where orders are free nothing is exchanged.
    """
    layout, rules = Layout.of(task.truth[number]), Rules.learn(_orders(task.truth))
    known = Rules.learn(_orders([labels for other, labels in enumerate(task.truth) if other != number]))
    yield from _made(task.recordings[number], layout, variants_of("none", layout, rules, _rng(seed, number, "none"), 1))
    for kind in FAULTS:
        variants = variants_of(kind, layout, rules, _rng(seed, number, kind), each)
        yield from _made(task.recordings[number], layout, [one for one in variants if _is_known(one, known)][:each])


def shuffle_all(task: LabelledTask, number: int, count: int, seed: int) -> Iterator[Made]:
    """A recording with its steps in `count` other orders, fewer where it has fewer."""
    layout = Layout.of(task.truth[number])
    rules = Rules.learn([])
    shuffled = variants_of("shuffled", layout, rules, _rng(seed, number, "shuffled"), count)
    yield from _made(task.recordings[number], layout, shuffled)


def _orders(truth: list[Labels] | tuple[Labels, ...]) -> list[tuple[int, ...]]:
    return [Layout.of(labels).steps for labels in truth]


def _rng(seed: int, number: int, kind: Kind) -> np.random.Generator:
    """Of each recording its own: else the same steps would be left out of all that are alike."""
    return np.random.default_rng([seed, KINDS.index(kind), number])


def _is_known(variant: Variant, known: Rules) -> bool:
    """Whether the others alone show that this is a fault."""
    if variant.kind != "out_of_order":
        return True
    return (variant.before, variant.step) in known.before


def _made(source: RecordingFeatures, layout: Layout, variants: list[Variant]) -> Iterator[Made]:
    for number, variant in enumerate(variants):
        index = layout.index(variant.order)
        times = retime(index, source.times, source.rate)
        duration = float(lasting(source.times, source.rate)[index].sum())
        planted = Planted(variant.kind, variant.step, variant.before, known_at(variant, layout, times, duration))
        id_ = f"{source.id}_{variant.kind}_{number}"
        rows = np.asarray(source.pooled)[index]
        features = RecordingFeatures(id_, source.rate, times, rows, mean_width=source.mean_width)
        yield Made(features, index, planted, source.times)

"""The plan: so many of each kind, from all sources, the same for the same seed."""

from __future__ import annotations

from collections import Counter

import numpy as np

from offline.study.counterfactual.pieces import Layout
from offline.study.counterfactual.plan import plan

LAYOUTS = [Layout.of(np.array(labels)) for labels in ([1, 2, 3, 4], [1, 3, 2, 4], [1, 2, 3, 4])]


def test_counts_names_and_sources() -> None:
    planned = plan(LAYOUTS, {"none": 2, "missed": 6, "out_of_order": 3, "repeated": 1, "shuffled": 2}, seed=1)
    assert Counter(each.variant.kind for each in planned) == {
        "none": 2, "missed": 6, "out_of_order": 3, "repeated": 1, "shuffled": 2
    }  # fmt: skip
    assert [each.name for each in planned][:3] == ["01_none", "02_none", "03_missed"]
    assert Counter(each.source for each in planned if each.variant.kind == "missed") == {0: 2, 1: 2, 2: 2}
    assert len({(each.source, each.variant) for each in planned}) == len(planned)


def test_the_seed_decides() -> None:
    counts = {"missed": 5, "out_of_order": 3, "shuffled": 2}
    first = plan(LAYOUTS, counts, seed=3)  # type: ignore[arg-type]
    assert plan(LAYOUTS, counts, seed=3) == first  # type: ignore[arg-type]
    assert plan(LAYOUTS, counts, seed=4) != first  # type: ignore[arg-type]


def test_no_more_than_the_sources_allow() -> None:
    assert len(plan(LAYOUTS, {"none": 10}, seed=1)) == 3
    assert plan([], {"none": 1, "missed": 1}, seed=1) == []


def test_one_kind_does_not_hang_on_another() -> None:
    alone = [each.variant for each in plan(LAYOUTS, {"missed": 4}, seed=1)]
    beside = [each.variant for each in plan(LAYOUTS, {"none": 3, "missed": 4}, seed=1) if each.variant.kind == "missed"]
    assert alone == beside

"""The benchmark at a small size: it labels every frame, and our cut is never beaten on the same energy."""

from __future__ import annotations

import numpy as np
import pytest

from guide.teach.collection import Collection, Found
from offline.keysteps.fcm import FuzzySettings, fuzzy_clusters
from offline.keysteps.pcm import ProCut
from offline.study.benchmarks import naive_procut
from offline.study.benchmarks.naive_procut import drawn_collection, pcm_cost, race


def test_the_cost_is_of_labelling_every_drawn_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[Found] = []
    find = ProCut.find

    def keep(self: ProCut, collection: Collection, k: int, seed: int) -> Found:
        found.append(find(self, collection, k, seed))
        return found[-1]

    monkeypatch.setattr(ProCut, "find", keep)
    cost = pcm_cost(2500, width=8, k=3)
    assert cost.frames == 2000  # whole recordings only
    assert [len(labels) for labels in found[0].labels] == [1000, 1000]
    assert set(np.concatenate(found[0].labels).tolist()) == {1, 2, 3}


def test_our_cut_is_never_above_the_published_one_on_the_same_energy() -> None:
    result = race(2000, width=8, k=4)
    for rival in (result.random_start, result.our_start):
        assert rival.cut_energy <= rival.energy + 1e-9
        assert rival.seconds > 0
    assert result.energy == pytest.approx(result.our_start.energy, rel=0.01)


def test_a_sample_of_the_frames_gives_nearly_the_energy_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def small() -> FuzzySettings:
        return FuzzySettings(most_frames=1000)

    monkeypatch.setattr(naive_procut, "FuzzySettings", small)
    result = race(4000, width=32, k=4)
    assert result.energy == pytest.approx(result.our_start.energy, rel=0.02)


def test_our_energy_is_below_that_of_one_label_and_of_each_frame_alone() -> None:
    collection, settings = drawn_collection(2000, width=8, k=4), FuzzySettings()
    unaries = naive_procut._unaries(collection, fuzzy_clusters(collection, 4, 0, settings).centres, settings.fuzzifier)
    alone = naive_procut._total(unaries, [unary.argmin(1) for unary in unaries], collection)
    one_label = min(float(sum(unary[:, step].sum() for unary in unaries)) for step in range(4))
    assert race(2000, width=8, k=4).energy < min(alone, one_label)

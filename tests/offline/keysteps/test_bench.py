"""The bench's numbers at a small size: that they are there and that our cut is never beaten on the same energy."""

from __future__ import annotations

from offline.keysteps.bench import drawn_collection, pcm_cost, race


def test_drawn_collection_is_seeded() -> None:
    one, two = drawn_collection(2000, width=8, k=3), drawn_collection(2000, width=8, k=3)
    assert one.lengths == (1000, 1000)
    assert (one.embeddings[1] == two.embeddings[1]).all()


def test_cost_counts_frames() -> None:
    cost = pcm_cost(2000, width=8, k=3)
    assert cost.frames == 2000
    assert cost.seconds > 0
    assert cost.peak_mb > 10


def test_our_cut_is_never_above_the_published_one_on_the_same_energy() -> None:
    result = race(2000, width=8, k=4)
    assert result.cut_energy <= result.rival_cut_energy + 1e-9
    assert result.energy > 0

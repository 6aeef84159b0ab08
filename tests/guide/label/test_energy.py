"""The energy: worked by hand, and links that mean the same at any working rate."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.label.energy import Links, LinkSettings, build_links, check_unary, energy, link_offsets


def test_energy_worked_by_hand() -> None:
    unary = np.array([[0.0, 1.0], [0.25, 0.75], [1.0, 0.0]])
    links = Links(3, np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([2.0, 0.5, 4.0]))
    # 0 + 0.25 + 0, and frame 2 differs from both others: 0.5 + 4.
    assert energy(unary, links, np.array([0, 0, 1])) == 4.75
    assert energy(unary, links, np.array([1, 1, 1])) == 1.75


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.integers(1, 8), st.integers(1, 4), st.integers(0, 1000))
def test_energy_equals_the_plain_double_loop(size: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    unary, labels = rng.random((size, k)), rng.integers(k, size=size)
    times = np.cumsum(rng.uniform(0.3, 0.7, size=size))
    links = build_links(times, 2.0, LinkSettings(radius_s=1.5))
    weight = {(i, j): w for i, j, w in zip(links.first, links.second, links.weight, strict=True)}
    expected = sum(unary[t, labels[t]] for t in range(size))
    for i in range(size):
        for j in range(i + 1, size):
            expected += weight.get((i, j), 0.0) * (labels[i] != labels[j])
    assert energy(unary, links, labels) == pytest.approx(expected)


def test_links_decay_with_time_and_end_at_the_radius() -> None:
    links = build_links(np.arange(20) / 2.0, 2.0, LinkSettings(radius_s=2.0, decay_s=1.0))
    from_first = links.weight[links.first == 0]
    assert links.second[links.first == 0].tolist() == [1, 2, 3, 4]
    np.testing.assert_allclose(from_first[1:] / from_first[:-1], np.exp(-0.5))


@pytest.mark.parametrize("rate", [0.5, 1.0, 2.0, 5.0, 29.97])
@pytest.mark.parametrize("radius_s", [0.0, 1.0, 5.0])
def test_a_change_costs_the_same_seconds_at_any_rate(rate: float, radius_s: float) -> None:
    chosen = LinkSettings(weight=3.0, radius_s=radius_s)
    costs = build_links(np.arange(400) / rate, rate, chosen).change_costs()
    assert costs[200] / rate == pytest.approx(3.0)


def test_total_strength_of_a_frame_hardly_depends_on_the_rate() -> None:
    strengths = []
    for rate in (2.0, 4.0, 8.0):
        links = build_links(np.arange(400) / rate, rate, LinkSettings(most=1000))
        strengths.append(links.weight[(links.first == 200) | (links.second == 200)].sum())
    assert max(strengths) / min(strengths) < 1.2


def test_change_cost_counts_every_pair_across_it() -> None:
    links = build_links(np.arange(30) / 2.0, 2.0, LinkSettings(radius_s=3.0))
    for after in (0, 7, 28):
        labels = (np.arange(30) > after).astype(np.int64)
        assert links.change_costs()[after] == pytest.approx(energy(np.zeros((30, 2)), links, labels))


def test_chain_settings_link_next_frames_only() -> None:
    links = build_links(np.arange(5.0), 1.0, LinkSettings(radius_s=0.0))
    assert links.is_chain
    assert len(links.first) == 4
    assert not build_links(np.arange(5.0), 1.0, LinkSettings(radius_s=2.0)).is_chain


def test_a_gap_in_the_stream_is_not_linked() -> None:
    links = build_links(np.array([0.0, 0.5, 60.0, 60.5]), 2.0, LinkSettings())
    assert list(zip(links.first.tolist(), links.second.tolist(), strict=True)) == [(0, 1), (2, 3)]
    assert links.change_costs()[1] == pytest.approx(0.0)


def test_jitter_of_real_timestamps_drops_no_link() -> None:
    rng = np.random.default_rng(0)
    times = np.arange(100) / 2.0 + rng.uniform(0, 0.033, size=100)
    even = build_links(np.arange(100) / 2.0, 2.0, LinkSettings())
    assert len(build_links(times, 2.0, LinkSettings()).first) == len(even.first)


def test_many_frames_a_second_do_not_mean_many_links() -> None:
    offsets = link_offsets(30.0, LinkSettings(radius_s=5.0, most=12))
    assert len(offsets) == 12
    assert offsets[0] == 1
    assert offsets[-1] == 150


@pytest.mark.parametrize("size", [0, 1, 2])
def test_very_short_recordings(size: int) -> None:
    links = build_links(np.arange(float(size)), 1.0, LinkSettings())
    assert len(links.first) == max(0, size - 1)


def test_short_steps_weaken_the_links() -> None:
    assert LinkSettings().capped(step_s=2.0) == LinkSettings(weight=0.5, radius_s=0.5)
    assert LinkSettings().capped(step_s=60.0) == LinkSettings()


@pytest.mark.parametrize(
    ("first", "second", "weight", "told"),
    [
        ([1], [1], [1.0], "earlier to a later"),
        ([0], [3], [1.0], "of 3 frames"),
        ([1, 0], [2, 1], [1.0, 1.0], "sorted"),
        ([0], [1], [-1.0], "not negative"),
        ([0], [1, 2], [1.0], "three"),
    ],
)
def test_refuses_links_that_make_no_sense(first: list[int], second: list[int], weight: list[float], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Links(3, np.array(first), np.array(second), np.array(weight))


def test_refuses_unaries_that_would_hang_a_cut() -> None:
    with pytest.raises(ValueError, match="finite"):
        check_unary(np.array([[np.nan, 0.0]]), 1)
    with pytest.raises(ValueError, match="needs unaries"):
        check_unary(np.zeros((2, 2)), 3)


def test_refuses_settings_that_make_no_sense() -> None:
    with pytest.raises(ValueError, match="decay"):
        LinkSettings(decay_s=0.0)
    with pytest.raises(ValueError, match="rate"):
        build_links(np.arange(2.0), 0.0, LinkSettings())


@pytest.mark.parametrize("size", [1, 5, 64, 600])
def test_pairs_that_are_kept_are_those_made_anew(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for step_s in (0.2, 0.31, 0.2):
        times = step_s * np.arange(float(size))
        kept = build_links(times, 5.0, LinkSettings())
        with monkeypatch.context() as patch:
            patch.setattr("guide.label.energy.KEPT_PAIRS", -1)
            anew = build_links(times, 5.0, LinkSettings())
        for one, other in ((kept.first, anew.first), (kept.second, anew.second), (kept.weight, anew.weight)):
            np.testing.assert_array_equal(one, other)
        kept.first[:] = 0  # what is given out is the caller's

"""The cut against brute force, dynamic programming and its own promises."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import guide.label.cut as cut
from guide.domain import Labels
from guide.label.chain import chain
from guide.label.cut import Ground, _idle, expand, grow, settle, settle_all
from guide.label.energy import Links, LinkSettings, Unaries, build_links, energy


def problem(size: int, k: int, seed: int, radius_s: float = 2.0, weight: float = 1.0) -> tuple[Unaries, Links]:
    rng = np.random.default_rng(seed)
    links = build_links(np.arange(float(size)), 1.0, LinkSettings(weight=weight, radius_s=radius_s))
    return rng.random((size, k)), links


def in_runs(size: int, k: int, seed: int, run: int = 15) -> Unaries:
    """Unaries of steps about `run` frames long under noise."""
    rng = np.random.default_rng(seed)
    steps = np.repeat(rng.integers(k, size=size // run + 1), run)[:size]
    score = rng.normal(size=(size, k)) + 1.5 * np.eye(k)[steps]
    share: Unaries = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    return 1.0 - share


def brute(unary: Unaries, links: Links) -> Labels:
    every = (np.array(labels) for labels in product(range(unary.shape[1]), repeat=len(unary)))
    return min(every, key=lambda labels: energy(unary, links, labels))


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.integers(1, 8), st.integers(0, 10_000), st.floats(0.0, 3.0))
def test_two_labels_are_cut_exactly_from_any_start(size: int, seed: int, weight: float) -> None:
    unary, links = problem(size, 2, seed, radius_s=3.0, weight=weight)
    best = energy(unary, links, brute(unary, links))
    start = np.random.default_rng(seed).integers(2, size=size)
    for labels in (settle(unary, links), expand(unary, links), expand(unary, links, start)):
        assert energy(unary, links, labels) == pytest.approx(best, abs=1e-9)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.integers(2, 6), st.integers(3, 4), st.integers(0, 10_000), st.floats(0.0, 2.0))
def test_more_labels_stay_within_the_promised_bound(size: int, k: int, seed: int, weight: float) -> None:
    unary, links = problem(size, k, seed, weight=weight)
    best = brute(unary, links)
    alone = energy(unary, Links(size, *(np.zeros(0, dtype=np.int64),) * 2, np.zeros(0)), best)
    together = energy(unary, links, best) - alone
    for labels in (settle(unary, links), expand(unary, links)):
        got = energy(unary, links, labels)
        assert energy(unary, links, best) - 1e-9 <= got <= alone + 2 * together + 1e-9


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.integers(2, 40), st.integers(2, 5), st.integers(0, 10_000), st.floats(0.1, 2.0))
def test_chain_of_next_frame_links_is_exact(size: int, k: int, seed: int, weight: float) -> None:
    unary, links = problem(size, k, seed, radius_s=0.0, weight=weight)
    exact = energy(unary, links, chain(unary, links.change_costs()))
    assert energy(unary, links, settle(unary, links)) == pytest.approx(exact, abs=1e-9)
    # Expansions alone are exact for two labels; for more they can only be as good.
    grown = energy(unary, links, expand(unary, links))
    assert grown >= exact - 1e-9
    if k == 2:
        assert grown == pytest.approx(exact, abs=1e-9)


@settings(derandomize=True, deadline=None, max_examples=30)
@given(st.integers(2, 30), st.integers(2, 6), st.integers(0, 10_000))
def test_a_move_is_the_best_of_its_kind_and_energy_never_rises(size: int, k: int, seed: int) -> None:
    unary, links = problem(size, k, seed, weight=0.5)
    labels = np.random.default_rng(seed).integers(k, size=size)
    before = energy(unary, links, labels)
    for alpha in list(range(k)) * 2:
        grown = grow(unary, links, Ground.of(unary, links, labels), alpha)
        if grown is not None:
            assert ((grown == labels) | (grown == alpha)).all()
            after = energy(unary, links, grown)
            assert after <= before + 1e-12
            labels, before = grown, after


@settings(derandomize=True, deadline=None, max_examples=250)
@given(st.integers(1, 7), st.integers(3, 4), st.integers(0, 10_000), st.floats(0.0, 3.0))
def test_a_move_equals_the_best_expansion_by_brute_force(size: int, k: int, seed: int, weight: float) -> None:
    unary, links = problem(size, k, seed, weight=weight)
    alpha = seed % k
    labels = np.random.default_rng(seed).integers(k, size=size)
    taken = (np.array(each) for each in product((False, True), repeat=size))
    best = min(energy(unary, links, np.where(each, alpha, labels)) for each in taken)
    grown = grow(unary, links, Ground.of(unary, links, labels), alpha)
    assert energy(unary, links, labels if grown is None else grown) == pytest.approx(best, abs=1e-9)


@settings(derandomize=True, deadline=None, max_examples=30)
@given(st.integers(1, 60), st.integers(1, 6), st.integers(0, 10_000), st.floats(0.0, 4.0))
def test_settling_is_no_worse_than_the_chain_and_the_frames_alone(size: int, k: int, seed: int, weight: float) -> None:
    unary, links = in_runs(size, k, seed), problem(size, k, seed, radius_s=4.0, weight=weight)[1]
    got = energy(unary, links, settle(unary, links))
    start = chain(unary, links.change_costs())
    assert got <= energy(unary, links, start) + 1e-9
    changes = (start[1:] != start[:-1]) @ links.change_costs()
    assert energy(unary, links, start) <= unary[np.arange(size), start].sum() + changes + 1e-9
    assert got <= energy(unary, links, unary.argmin(axis=1)) + 1e-9


@settings(derandomize=True, deadline=None, max_examples=20)
@given(st.integers(1, 30), st.integers(2, 5), st.integers(0, 10_000))
def test_renaming_labels_renames_the_result(size: int, k: int, seed: int) -> None:
    unary, links = in_runs(size, k, seed), problem(size, k, seed)[1]
    order = np.random.default_rng(seed).permutation(k)
    got, renamed = settle(unary, links), order[settle(unary[:, order], links)]
    assert energy(unary, links, got) == pytest.approx(energy(unary, links, renamed), rel=0.02)


def test_a_glimpse_is_smoothed_and_a_step_is_kept() -> None:
    unary = np.tile([0.1, 0.9], (60, 1))
    unary[10] = unary[30:] = [0.9, 0.1]
    links = build_links(np.arange(60) / 2.0, 2.0, LinkSettings(weight=2.0))
    assert settle(unary, links).tolist() == [0] * 30 + [1] * 30


def test_strong_links_give_one_label_and_none_give_each_frame_its_own() -> None:
    unary = in_runs(50, 4, seed=0)
    times = np.arange(50.0)
    assert len(np.unique(settle(unary, build_links(times, 1.0, LinkSettings(weight=1e6))))) == 1
    free = settle(unary, build_links(times, 1.0, LinkSettings(weight=0.0)))
    np.testing.assert_array_equal(free, unary.argmin(axis=1))


def test_labels_do_not_depend_on_the_working_rate() -> None:
    slow = in_runs(200, 5, seed=3)
    fast = np.repeat(slow, 4, axis=0)
    at = [
        build_links(np.arange(len(u)) / rate, rate, LinkSettings(weight=2.0)) for u, rate in ((slow, 1.0), (fast, 4.0))
    ]
    same = settle(slow, at[0]) == settle(fast, at[1])[::4]
    assert same.mean() > 0.97


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_spans_of_a_long_recording_are_as_good_as_one_cut(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    unary = in_runs(600, 6, seed)
    links = build_links(np.arange(600) / 2.0, 2.0, LinkSettings(weight=2.0))
    start = energy(unary, links, chain(unary, links.change_costs()))
    whole = energy(unary, links, settle(unary, links))
    monkeypatch.setattr(cut, "SPAN", 120)
    monkeypatch.setattr(cut, "OVERLAP", 40)
    spans = energy(unary, links, settle(unary, links))
    assert spans <= start + 1e-9
    assert spans == pytest.approx(whole, rel=1e-3)


def test_a_held_span_counts_the_links_that_leave_it() -> None:
    unary, links = problem(30, 3, seed=1, radius_s=4.0)
    labels = np.random.default_rng(1).integers(3, size=30)
    span = slice(10, 20)
    inner, inner_links = cut._held(unary, links, labels, span, links.reach)
    differences = []
    for seed in range(5):
        other = labels.copy()
        other[span] = np.random.default_rng(seed).integers(3, size=10)
        differences.append(energy(unary, links, other) - energy(inner, inner_links, other[span]))
    np.testing.assert_allclose(differences, differences[0])


def test_refuses_unaries_that_are_not_numbers() -> None:
    unary, links = problem(4, 2, seed=0)
    unary[2, 1] = np.nan
    with pytest.raises(ValueError, match="finite"):
        expand(unary, links)
    with pytest.raises(ValueError, match="finite"):
        settle(unary, links)


@pytest.mark.parametrize(("size", "k"), [(0, 3), (1, 1), (1, 4), (5, 1)])
def test_very_small_recordings(size: int, k: int) -> None:
    unary, links = problem(size, k, seed=0)
    assert settle(unary, links).shape == (size,)


@settings(derandomize=True, deadline=None, max_examples=25)
@given(st.lists(st.integers(0, 40), min_size=0, max_size=5), st.integers(1, 4), st.integers(0, 1000), st.booleans())
def test_recordings_settled_together_are_as_good_as_one_by_one(
    sizes: list[int], k: int, seed: int, is_chain: bool
) -> None:
    radius_s = 0.0 if is_chain else 3.0
    recordings = [(in_runs(size, k, seed + n), problem(size, k, 0, radius_s)[1]) for n, size in enumerate(sizes)]
    together = settle_all(recordings)
    assert [len(labels) for labels in together] == sizes
    for (unary, links), labels in zip(recordings, together, strict=True):
        assert energy(unary, links, labels) == pytest.approx(energy(unary, links, settle(unary, links)), abs=1e-9)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=6), st.integers(1, 5), st.integers(0, 1000))
def test_moves_of_all_at_once_are_those_of_each(sizes: list[int], k: int, seed: int) -> None:
    recordings = [(in_runs(size, k, seed + n), problem(size, k, 0, 3.0, 0.8)[1]) for n, size in enumerate(sizes)]
    starts = [np.random.default_rng(seed + n).integers(k, size=size) for n, size in enumerate(sizes)]
    together = cut.expand_all(recordings, starts)
    for (unary, links), start, labels in zip(recordings, starts, together, strict=True):
        np.testing.assert_array_equal(labels, expand(unary, links, start))


def test_recordings_are_settled_in_groups_of_bounded_size(monkeypatch: pytest.MonkeyPatch) -> None:
    recordings = [(in_runs(30, 3, seed), problem(30, 3, 0)[1]) for seed in range(5)]
    whole = settle_all(recordings)
    monkeypatch.setattr(cut, "CHAIN_FRAMES", 50)
    assert [len(some) for some in cut._groups(recordings, cut.CHAIN_FRAMES)] == [2, 2, 1]
    for one, other in zip(whole, settle_all(recordings), strict=True):
        np.testing.assert_array_equal(one, other)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.integers(2, 30), st.integers(3, 12), st.integers(0, 10_000), st.floats(0.0, 3.0))
def test_labels_that_are_passed_over_gain_nothing(size: int, k: int, seed: int, weight: float) -> None:
    unary, links = problem(size, k, seed, weight=weight)
    unary[:, k // 2 :] += 0.5  # some that hardly anything speaks for
    labels = np.repeat(np.random.default_rng(seed).integers(k, size=size), 5)[:size]
    ground = Ground.of(unary, links, labels)
    for alpha in np.flatnonzero(_idle(unary, links, ground)):
        grown = grow(unary, links, ground, int(alpha))
        assert grown is None or energy(unary, links, grown) >= energy(unary, links, labels) - 1e-12


def test_of_many_labels_most_are_passed_over() -> None:
    unary, links = np.full((20, 40), 0.9), problem(20, 2, 0)[1]
    unary[:, 7] = 0.1
    labels = np.full(20, 7)
    assert _idle(unary, links, Ground.of(unary, links, labels)).sum() == 39

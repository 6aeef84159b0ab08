from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.errors import BundleError
from guide.label.elapsed import Clock, Elapsed, learn_elapsed
from guide.label.recogniser import Recogniser, RecogniserSettings, learn_recogniser
from guide.label.unaries import shown

NUMBERS = np.array([0, 1, 2])


def in_turn(lengths: list[int]) -> tuple[np.ndarray, np.ndarray]:
    labels = np.repeat([1, 2], lengths)
    return labels, np.arange(len(labels)) * 1.0


def test_the_usual_step_is_likelier_at_its_time() -> None:
    recordings = [in_turn([30, 50]), in_turn([40, 40]), in_turn([50, 30])]
    prior = learn_elapsed([labels for labels, _ in recordings], [times for _, times in recordings], NUMBERS)
    early, late = prior.weights_at(5.0), prior.weights_at(75.0)
    assert early[1] > early[2]
    assert late[2] > late[1]


def test_steps_at_any_time_are_alike() -> None:
    labels = np.tile([1, 2], 200)
    prior = learn_elapsed([labels] * 2, [np.arange(400.0)] * 2, np.array([1, 2]))
    assert np.allclose(prior.weights, 1.0, atol=0.02)


def test_a_label_never_seen_keeps_a_chance() -> None:
    labels, times = in_turn([40, 40])
    weights = learn_elapsed([labels], [times], NUMBERS).weights
    assert (weights[:, 0] > 0.1).all()  # no frame is background


@settings(derandomize=True, deadline=None)
@given(st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=60), min_size=1, max_size=4))
def test_weights_are_above_0_and_1_on_average(recordings: list[list[int]]) -> None:
    labels = [np.array(each) for each in recordings]
    prior = learn_elapsed(labels, [np.arange(len(each), dtype=np.float64) * 0.5 + 7.0 for each in labels], NUMBERS)
    assert (prior.weights > 0).all()
    assert np.allclose(prior.weights.mean(1), 1.0)


def test_the_density_is_the_smoothed_histogram() -> None:
    """Literally: a Gaussian about each frame's bin, with nothing before the first or after the last bin."""
    labels, times = in_turn([3, 8])
    prior = learn_elapsed([labels], [times], np.array([1, 2]))
    bins = (times / prior.bin_s).astype(int)
    places = np.arange(len(prior.weights))
    expected = np.zeros_like(prior.weights)
    for column, step in enumerate((1, 2)):
        for at in bins[labels == step]:
            kernel = np.exp(-0.5 * ((np.arange(-60, 61)) / 15.0) ** 2)
            expected[:, column] += np.where(abs(places - at) <= 60, np.exp(-0.5 * ((places - at) / 15.0) ** 2), 0.0) / (
                kernel.sum()
            )
    expected = 100 * expected / expected.sum(0) + 1.0
    assert np.allclose(prior.weights, expected / expected.mean(1, keepdims=True))


def test_the_prior_moves_what_is_shown_and_leaves_unknown_activity() -> None:
    costs = np.array([0.8, 0.5, 0.6, 0.9])  # background, 1, 2, unknown
    prior = Elapsed(np.array([[1.0, 0.5, 1.5]]), 10.0)
    left = 1 - shown(costs, (0, 1, 2, -1), 0.0, prior, 0.0)
    assert left[2] > left[1]
    assert left[3] == pytest.approx(0.1)
    assert left[:3].sum() == pytest.approx((1 - costs[:3]).sum())
    assert np.allclose(shown(costs, (0, 1, 2, -1), 0.0, prior, 99.0), costs)  # nobody took so long


def test_clear_evidence_overrules_the_prior() -> None:
    labels, times = in_turn([40, 40])
    prior = learn_elapsed([labels], [times], NUMBERS)
    costs = np.array([0.99, 0.99, 0.02])  # step 2 at the very beginning
    assert shown(costs, (0, 1, 2), 0.0, prior, 0.0).argmin() == 2


def test_a_pause_hardly_counts() -> None:
    clock = Clock(Elapsed(np.ones((9, 2)), bin_s=3.0))
    assert [clock.push(at) for at in (10.0, 12.0, 900.0, 901.0)] == [0.0, 2.0, 8.0, 9.0]


def learned() -> Recogniser:
    rows = np.array([[0.0, 1.0], [0.1, 0.9], [1.0, 0.0], [0.9, 0.1]])
    return learn_recogniser([rows], [np.array([1, 1, 2, 2])], RecogniserSettings())


def test_a_bundle_keeps_it_and_old_ones_have_none() -> None:
    arrays = learned().to_arrays()
    assert Recogniser.from_arrays(arrays).elapsed is None
    prior = {"elapsed": np.array([[0.5, 1.5]]), "elapsed_bin_s": np.array([2.0])}
    read = Recogniser.from_arrays({**arrays, **prior}).elapsed
    assert read is not None
    assert read.weights_at(1.0).tolist() == [0.5, 1.5]


@pytest.mark.parametrize(
    "spoilt",
    [
        {"elapsed": np.array([[0.5, np.nan]])},
        {"elapsed": np.array([[0.5, 0.0]])},
        {"elapsed": np.array([[0.5, 1.0, 1.0]])},
        {"elapsed": np.array([0.5, 1.5])},
        {"elapsed_bin_s": np.array([0.0])},
        {"elapsed_bin_s": np.array([1.0, 2.0])},
    ],
)
def test_a_spoilt_prior_is_refused(spoilt: dict[str, np.ndarray]) -> None:
    prior = {"elapsed": np.array([[0.5, 1.5]]), "elapsed_bin_s": np.array([2.0])}
    with pytest.raises(BundleError, match="elapsed"):
        Recogniser.from_arrays({**learned().to_arrays(), **prior, **spoilt})


def test_a_missing_width_is_refused() -> None:
    with pytest.raises(BundleError, match="elapsed_bin_s"):
        Recogniser.from_arrays({**learned().to_arrays(), "elapsed": np.array([[0.5, 1.5]])})

"""What is usually done by then: learned as a smoothed histogram, and never more than a nudge."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.domain import Labels, Times
from guide.label.clock_prior import Clock, ClockPrior, learn_clock_prior

NUMBERS = np.array([0, 1, 2])
STEPS = (0, 1, 2, -1)


def in_turn(lengths: list[int]) -> tuple[Labels, Times]:
    labels = np.repeat([1, 2], lengths)
    return labels, np.arange(len(labels), dtype=np.float64)


def test_the_usual_step_is_likelier_at_its_time() -> None:
    recordings = [in_turn([30, 50]), in_turn([40, 40]), in_turn([50, 30])]
    prior = learn_clock_prior([labels for labels, _ in recordings], [times for _, times in recordings], NUMBERS)
    early, late = prior.weights_at(5.0), prior.weights_at(75.0)
    assert early[1] > early[2]
    assert late[2] > late[1]


def test_steps_at_any_time_are_alike() -> None:
    labels = np.tile([1, 2], 200)
    prior = learn_clock_prior([labels] * 2, [np.arange(400.0)] * 2, np.array([1, 2]))
    assert np.allclose(prior.weights, 1.0, atol=0.02)


def test_a_label_never_seen_keeps_a_chance() -> None:
    labels, times = in_turn([40, 40])
    weights = learn_clock_prior([labels], [times], NUMBERS).weights
    assert (weights[:, 0] > 0.1).all()  # no frame is background


@settings(derandomize=True, deadline=None)
@given(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=60), min_size=1, max_size=4))
def test_weights_are_above_0_and_1_on_average(recordings: list[list[int]]) -> None:
    labels = [np.array(each) for each in recordings]
    times = [np.arange(len(each), dtype=np.float64) * 0.5 + 7.0 for each in labels]
    prior = learn_clock_prior(labels, times, NUMBERS)
    assert (prior.weights > 0).all()
    assert np.allclose(prior.weights.mean(1), 1.0)
    again = ClockPrior.from_arrays(prior.to_arrays(), len(NUMBERS))  # what is learned can be read
    np.testing.assert_array_equal(again.weights, prior.weights)
    assert (again.bin_s, again.background) == (prior.bin_s, prior.background)


def test_one_long_demonstration_among_glimpses_takes_no_endless_table() -> None:
    times = [np.zeros(1), np.zeros(1), np.arange(100.0)]
    prior = learn_clock_prior([np.ones(len(each), np.int64) for each in times], times, NUMBERS)
    assert len(prior.weights) <= 10_001
    assert (prior.weights_at(99.0) > 0).all()


def test_the_density_is_the_smoothed_histogram() -> None:
    """Literally: a Gaussian about each frame's bin, with nothing before the first or after the last bin."""
    labels, times = in_turn([60, 160])
    prior = learn_clock_prior([labels], [times], np.array([1, 2]))
    bins = (times / prior.bin_s).astype(int)
    places = np.arange(len(prior.weights))
    kernel = np.exp(-0.5 * (np.arange(-60, 61) / 15.0) ** 2)
    expected = np.zeros_like(prior.weights)
    for column, step in enumerate((1, 2)):
        for at in bins[labels == step]:
            bell = np.exp(-0.5 * ((places - at) / 15.0) ** 2) / kernel.sum()
            expected[:, column] += np.where(abs(places - at) <= 60, bell, 0.0)
    expected = 100 * expected / expected.sum(0) + 1.0
    assert np.allclose(prior.weights, expected / expected.mean(1, keepdims=True))


def test_the_prior_moves_what_is_shown_and_leaves_unknown_activity() -> None:
    memberships = np.array([0.15, 0.4, 0.35, 0.1])  # background, 1, 2, unknown
    clock = Clock(ClockPrior(np.array([[1.0, 0.5, 1.5]]), bin_s=10.0, background=1.0), STEPS)
    shown = clock.push(memberships, 0.0)
    assert shown[2] > shown[1]
    assert shown[3] == 0.1
    assert shown[:3].sum() == pytest.approx(memberships[:3].sum())
    np.testing.assert_allclose(shown[:3] / shown[1], np.array([0.15, 0.2, 0.525]) / 0.2)
    for at in range(1, 99):
        late = clock.push(memberships, at)
    np.testing.assert_allclose(late, memberships)  # nobody took so long


def test_background_is_put_back_at_any_time() -> None:
    memberships = np.array([0.5, 0.3, 0.1, 0.1])
    shares = (1.0, 0.5, 0.1)
    clocks = [Clock(ClockPrior(np.ones((1, 3)), bin_s=1.0, background=share), STEPS) for share in shares]
    for at in (0.0, 50.0, 99.0):  # also after all demonstrations
        shown = [clock.push(memberships, at) for clock in clocks]
        np.testing.assert_allclose(shown[0], memberships)
        for share, row in zip(shares, shown, strict=True):
            assert row[0] / row[1] == pytest.approx(share * 5 / 3)
            assert row[1] / row[2] == pytest.approx(3.0)  # among themselves steps stay as they were
            assert row.sum() == pytest.approx(1.0)
        assert shown[0].argmax() == 0 != shown[2].argmax()


@settings(derandomize=True, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=4, max_size=4), st.lists(st.floats(0.01, 3), min_size=3, max_size=3))
def test_shown_memberships_stay_between_0_and_1(shares: list[float], weights: list[float]) -> None:
    memberships = np.array(shares) / max(sum(shares), 1.0)
    shown = Clock(ClockPrior(np.array([weights]), bin_s=9.0, background=0.3), STEPS).push(memberships, 0.0)
    assert ((shown >= 0) & (shown <= 1)).all()
    assert shown[:3].sum() == pytest.approx(memberships[:3].sum())


def test_clear_evidence_overrules_the_prior() -> None:
    labels, times = in_turn([40, 40])
    clock = Clock(learn_clock_prior([labels], [times], NUMBERS, background=0.5), STEPS)
    assert clock.push(np.array([0.01, 0.01, 0.97, 0.01]), 0.0).argmax() == 2  # step 2 at the very beginning


def test_a_pause_hardly_counts_and_a_restart_begins_anew() -> None:
    rows = np.arange(1.0, 10.0)
    prior = ClockPrior(np.column_stack([rows, np.ones(9)]), bin_s=3.0, background=1.0)
    clock = Clock(prior, steps=(1, 2, -1))

    def elapsed_bins(at: float) -> int:
        """The bin that a frame is weighed with: its first weight is the number of the bin, from 1."""
        shown = clock.push(np.array([0.4, 0.4, 0.2]), at)
        return round(float(shown[0] / shown[1])) - 1

    # After 0, 2, 8 (a gap counts for two bins) and 9 seconds; time that runs back counts for nothing.
    assert [elapsed_bins(at) for at in (10.0, 12.0, 900.0, 901.0, 900.0)] == [0, 0, 2, 3, 3]
    clock.reset()
    assert elapsed_bins(905.0) == 0


def test_every_frame_of_a_short_recording_counts_in_full() -> None:
    labels, times = in_turn([4, 4])  # eight frames, fewer than bins
    prior = learn_clock_prior([labels], [times], NUMBERS)
    clock, even = Clock(prior, STEPS), np.array([0.25, 0.25, 0.25, 0.25])
    shown = np.stack([clock.push(even, float(at)) for at in times])
    weights = np.stack([prior.weights_at(float(at - times[0])) for at in times])
    np.testing.assert_allclose(shown[:, :3], 0.75 * weights / weights.sum(1, keepdims=True))
    assert weights[0, 1] > weights[-1, 1]


def test_one_long_recording_does_not_make_the_prior_broader() -> None:
    """Bins are wider where one recording is far longer than the others; the breadth stays the same in seconds."""
    labels, times = in_turn([400, 400])
    last = np.append(labels[:-1], NUMBERS[0]), np.append(times[:-1], 1000 * times[-1])
    usual = learn_clock_prior([labels] * 3, [times] * 3, NUMBERS)
    wide = learn_clock_prior([labels] * 3 + [last[0]], [times] * 3 + [last[1]], NUMBERS)
    assert wide.bin_s > 5 * usual.bin_s
    for share in (0.1, 0.4, 0.6, 0.9):
        one, other = (each.weights_at(share * times[-1]) for each in (usual, wide))
        np.testing.assert_allclose(other[1:] / other[1:].sum(), one[1:] / one[1:].sum(), atol=0.1)

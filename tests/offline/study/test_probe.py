"""The linear probe on data small enough to work out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from offline.study.probe import Probe, Share


def test_one_feature_worked_by_hand() -> None:
    # Rows -1, -1, 1, 1 are standardised as they are. With one-hot targets (bias 1/2 each) the weight of class 5 is
    # sum(x (y - 1/2)) / (sum(x^2) + strength n) = 2 / (4 + 4) = 1/4, that of class 0 the opposite.
    probe = Probe.fit(np.array([[-1.0], [-1.0], [1.0], [1.0]]), np.array([0, 0, 5, 5]), strength=1.0)
    assert probe.classes.tolist() == [0, 5]
    assert probe.bias == pytest.approx([0.5, 0.5])
    assert probe.weights[0] == pytest.approx([-0.25, 0.25])
    assert probe.tell(np.array([[-0.1], [0.1]])).tolist() == [0, 5]


def test_separable_classes_are_told_apart_for_unseen_rows() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), 30)
    corners = 10 * np.eye(4, 6)
    fit = corners[labels] + rng.normal(size=(120, 6))
    unseen = corners[labels] + rng.normal(size=(120, 6))
    assert (Probe.fit(fit, labels).tell(unseen) == labels).all()


def test_noise_is_told_no_better_than_by_chance() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 400)
    found = Probe.fit(rng.normal(size=(400, 8)), labels).tell(rng.normal(size=(400, 8)))
    assert (found == labels).mean() < 0.35


def test_unknown_activity_teaches_nothing() -> None:
    rows, labels = np.array([[-1.0], [1.0], [900.0]]), np.array([1, 2, -1])
    with_it, without = Probe.fit(rows, labels), Probe.fit(rows[:2], labels[:2])
    assert with_it.classes.tolist() == [1, 2]
    assert with_it.weights == pytest.approx(without.weights)


def test_a_constant_feature_does_no_harm() -> None:
    rows = np.array([[-1.0, 7.0], [1.0, 7.0]])
    probe = Probe.fit(rows, np.array([0, 1]))
    assert np.isfinite(probe.weights).all()
    assert probe.tell(np.array([[-1.0, 7.0], [1.0, 7.0]])).tolist() == [0, 1]


def test_shares_leave_unknown_activity_out() -> None:
    truth, found = np.array([0, 0, 1, 2, 2, -1]), np.array([0, 3, 1, 2, 0, 0])
    assert Share.of(truth, found) == Share(of_all=3 / 5, of_steps=2 / 3)


def test_shares_need_steps() -> None:
    with pytest.raises(ValueError, match="with a step among them"):
        Share.of(np.array([0, -1]), np.array([0, 0]))

"""The recogniser is discriminant analysis, knows strangers from steps, and survives the way through a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from guide.bundle import read_arrays
from guide.domain import Labels
from guide.errors import BundleError
from guide.label.recogniser import Recogniser, RecogniserSettings, learn_recogniser

SETTINGS = RecogniserSettings(components=20)


def make_recordings(seed: int, count: int = 4) -> tuple[list[NDArray[np.float64]], list[Labels]]:
    rng = np.random.default_rng(seed)
    directions = np.random.default_rng(99).normal(size=(4, 30)) * 2.0
    labels = [rng.integers(0, 4, size=80) for _ in range(count)]
    return [directions[truth] + rng.normal(size=(80, 30)) for truth in labels], labels


def test_steps_of_strangers_are_recognised() -> None:
    learned = learn_recogniser(*make_recordings(0), SETTINGS)
    rows, truth = make_recordings(1, count=1)
    guessed = learned.numbers[learned.log_posterior(rows[0]).argmax(1)]
    assert (guessed == truth[0]).mean() > 0.97


def test_in_single_precision_it_sees_the_same() -> None:
    learned = learn_recogniser(*make_recordings(0), SETTINGS)
    both = replace(learned, in_order=learned)
    rows = make_recordings(1, count=1)[0][0]
    assert both.quick.projection.dtype == both.quick.for_labels.projection.dtype == np.float32
    assert both.quick.for_labels.projection.shape == (30, 4), "labels ask only which step is likelier"
    for one in (both.quick, both.quick.for_labels):
        np.testing.assert_allclose(one.log_posterior(rows), learned.log_posterior(rows), atol=1e-3)
    np.testing.assert_allclose(both.quick.distances(rows), learned.distances(rows), rtol=1e-4)
    huge = replace(learned, projection=learned.projection * 1e300).quick
    assert not np.isfinite(huge.projection).all()


def test_few_directions_tell_steps_apart_as_well() -> None:
    learned = learn_recogniser(*make_recordings(0), RecogniserSettings(components=20))
    rows = make_recordings(1, count=1)[0][0]
    narrow = learned.narrow
    assert (learned.projection.shape, narrow.projection.shape) == ((30, 20), (30, 4))
    np.testing.assert_allclose(narrow.log_posterior(rows), learned.log_posterior(rows), atol=1e-9)
    beyond = learned.distances(rows) - narrow.distances(rows)
    assert (beyond > 0).all()
    np.testing.assert_allclose(beyond, np.broadcast_to(beyond[:, :1], beyond.shape), rtol=1e-9)
    np.testing.assert_allclose(narrow.narrow.log_posterior(rows), learned.log_posterior(rows), atol=1e-9)


def test_without_shrinkage_it_equals_the_textbook() -> None:
    rows, labels = make_recordings(0)
    learned = learn_recogniser(rows, labels, RecogniserSettings(components=30, shrinkage=0.0))
    x, y = np.concatenate(rows), np.concatenate(labels)
    means = np.stack([x[y == c].mean(0) for c in range(4)])
    residual = x - means[y]
    inverse = np.linalg.inv(residual.T @ residual / len(x))
    expected = np.stack([np.einsum("td,de,te->t", x - m, inverse, x - m) for m in means], axis=1)
    assert np.allclose(learned.distances(x), expected, rtol=1e-6)


def test_probabilities_are_calibrated_to_one() -> None:
    learned = learn_recogniser(*make_recordings(0), SETTINGS)
    rows, truth = make_recordings(2, count=1)
    posterior = np.exp(learned.log_posterior(rows[0]))
    assert np.allclose(posterior.sum(1), 1.0)
    assert posterior.max(1).mean() == pytest.approx((posterior.argmax(1) == truth[0]).mean(), abs=0.05)


def test_what_was_never_seen_is_unknown() -> None:
    learned = learn_recogniser(*make_recordings(0), SETTINGS)
    rows, _ = make_recordings(1, count=1)
    known, strange = (learned.distances(each).min(1) for each in (rows[0], rows[0] + 40.0))
    assert (known > learned.distance_limit).mean() < 0.05
    assert (strange > learned.distance_limit).all()


def test_more_features_than_frames() -> None:
    rng = np.random.default_rng(0)
    rows = [rng.normal(size=(10, 200)), rng.normal(size=(12, 200))]
    learned = learn_recogniser(rows, [np.arange(10) % 2, np.arange(12) % 2], SETTINGS)
    assert np.isfinite(learned.log_posterior(rows[0])).all()


def test_background_that_is_a_bit_of_everything_is_put_back() -> None:
    """Background frames look like one of the steps or like none: nearest means take many step frames for background."""
    rng = np.random.default_rng(5)
    means = np.array([[0.0, 0.0], [1.2, 0.0], [-1.2, 0.0], [0.0, 1.2]])
    labels = [rng.integers(0, 4, 400) for _ in range(4)]
    rows = [means[truth] + rng.normal(size=(400, 2)) * np.where(truth == 0, 1.0, 0.8)[:, None] for truth in labels]
    learned = learn_recogniser(rows, labels, SETTINGS)
    assert 0.0 < learned.reluctance < 4.0

    def fairness(reluctance: float) -> float:
        truth = np.concatenate(labels)
        scores = learned.log_posterior(np.concatenate(rows)) - reluctance * (learned.numbers == 0)
        right = learned.numbers[scores.argmax(1)] == truth
        return float(np.mean([right[truth == number].mean() for number in range(4)]))

    assert fairness(learned.reluctance) > fairness(0.0)


def test_without_background_nothing_is_put_back() -> None:
    rows, labels = make_recordings(0)
    assert learn_recogniser(rows, [each + 1 for each in labels], SETTINGS).reluctance == 0.0


def test_a_file_of_before_puts_nothing_back() -> None:
    arrays = learn_recogniser(*make_recordings(0), SETTINGS).to_arrays()
    assert Recogniser.from_arrays({**arrays, "scalars": arrays["scalars"][:2]}).reluctance == 0.0


def test_it_comes_back_from_a_file(tmp_path: Path) -> None:
    rows, labels = make_recordings(0)
    learned = learn_recogniser(rows, labels, SETTINGS)
    np.savez(tmp_path / "recogniser.npz", **learned.to_arrays())  # type: ignore[arg-type]
    read = Recogniser.from_arrays(read_arrays(tmp_path / "recogniser.npz"))
    assert np.array_equal(read.log_posterior(rows[0]), learned.log_posterior(rows[0]))
    assert read.reluctance == learned.reluctance
    assert read.for_labels is read


def test_the_one_for_labels_comes_back_too(tmp_path: Path) -> None:
    rows, labels = make_recordings(0)
    learned, usual = learn_recogniser(rows, labels, SETTINGS), learn_recogniser(rows[:2], labels[:2], SETTINGS)
    np.savez(tmp_path / "recogniser.npz", **replace(learned, in_order=usual).to_arrays())  # type: ignore[arg-type]
    read = Recogniser.from_arrays(read_arrays(tmp_path / "recogniser.npz"))
    assert np.array_equal(read.log_posterior(rows[0]), learned.log_posterior(rows[0]))
    assert np.array_equal(read.for_labels.log_posterior(rows[0]), usual.log_posterior(rows[0]))


@pytest.mark.parametrize("key", ["mean", "numbers", "projection", "scalars"])
def test_one_for_labels_that_does_not_fit_is_refused(key: str) -> None:
    learned = learn_recogniser(*make_recordings(0), SETTINGS)
    arrays = replace(learned, in_order=learned).to_arrays()
    with pytest.raises(BundleError, match="recogniser"):
        Recogniser.from_arrays({**arrays, f"in_order_{key}": arrays[key][1:] if key != "scalars" else -arrays[key]})
    with pytest.raises(BundleError, match="recogniser"):
        Recogniser.from_arrays({name: each for name, each in arrays.items() if name != f"in_order_{key}"})


@pytest.mark.parametrize(
    "spoilt",
    [
        {"centres": np.zeros((4, 3))},
        {"centres": np.zeros((0, 20)), "numbers": np.zeros(0)},
        {"numbers": np.array(1.0)},
        {"numbers": np.zeros((4, 1))},
        {"mean": np.zeros(2)},
        {"mean": np.array(0.0)},
        {"mean": np.zeros((30, 1))},
        {"scalars": np.zeros(1)},
        {"scalars": np.array(1.0)},
        {"scalars": np.array([1.0, 0.0])},
        {"scalars": np.array([1.0, 1.0, np.nan])},
        {"scalars": np.array([1.0, 1.0, -1.0])},
        {"scalars": np.array([1.0, -1.0])},
        {"scalars": np.array([1.0, np.inf])},
        {"scalars": np.array([0.0, 1.0])},
        {"scalars": np.array([-2.0, 1.0])},
        {"scalars": np.array([np.nan, 1.0])},
    ],
    ids=lambda spoilt: repr(spoilt)[:40],
)
def test_arrays_that_do_not_fit_are_refused(spoilt: dict[str, NDArray[np.float64]]) -> None:
    learned = learn_recogniser(*make_recordings(0), SETTINGS)
    with pytest.raises(BundleError, match="recogniser"):
        Recogniser.from_arrays({**learned.to_arrays(), **spoilt})

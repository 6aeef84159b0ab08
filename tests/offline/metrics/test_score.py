"""Score: fractions inside, percent when printed."""

from __future__ import annotations

import math

import pytest

from offline.metrics.score import Score, average, harmonic


def test_f1_is_the_harmonic_mean() -> None:
    assert Score.of(0.5, 0.25, 0.1).f1 == pytest.approx(1 / 3)
    assert harmonic(0.0, 0.0) == 0.0


def test_average_takes_the_mean_of_f1_not_the_f1_of_means() -> None:
    mean = average([Score.of(1.0, 0.0, 0.0), Score.of(0.0, 1.0, 0.0)])
    assert (mean.precision, mean.recall, mean.f1) == (0.5, 0.5, 0.0)


def test_a_figure_nobody_published_stays_unknown() -> None:
    half = Score(math.nan, 0.288, math.nan, math.nan)
    assert math.isnan(average([half, half]).f1)


def test_percent_is_refused() -> None:
    with pytest.raises(ValueError, match="fractions between 0 and 1"):
        Score(50.0, 50.0, 50.0, 50.0)


def test_an_average_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        average([])

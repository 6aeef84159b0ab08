"""What labels cost: one column a step, between 0 and 1, and the last column for what was never seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guide.domain import BACKGROUND, UNKNOWN
from guide.errors import BundleError
from guide.label.membership import memberships
from guide.label.recogniser import Recogniser
from guide.label.unaries import AppearanceUnaries, BothUnaries, EmbeddingUnaries, shown

CENTRES = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
# Background and two of the three steps: step 2 was never recognised.
RECOGNISER = Recogniser(np.zeros(2), np.eye(2), CENTRES, np.array([0, 1, 3]), distance_limit=9.0, temperature=1.0)
EMBEDDING = EmbeddingUnaries(CENTRES, 1.5)
APPEARANCE = AppearanceUnaries(RECOGNISER)
BOTH = BothUnaries(EMBEDDING, APPEARANCE)


def at(x: float, y: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.array([x, y], np.float32)


def test_the_embedding_has_a_column_for_each_prototype() -> None:
    assert EMBEDDING.steps == (1, 2, 3)
    here = at(1.0, 2.0)
    np.testing.assert_allclose(EMBEDDING.costs(at(9, 9), here), 1 - memberships(here[None], CENTRES, 1.5)[0])


def test_the_appearance_has_a_column_for_each_number_and_for_unknown() -> None:
    assert APPEARANCE.steps == (BACKGROUND, 1, 3, UNKNOWN)
    costs = APPEARANCE.costs(at(4.0, 0.0), at(0, 0))
    assert costs.argmin() == 1
    np.testing.assert_allclose(costs[:3], 1 - np.exp(RECOGNISER.log_posterior(np.array([[4.0, 0.0]]))[0]), atol=1e-6)
    assert costs[3] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(("distance", "unknown"), [(0.0, 0.0), (3.0, 0.5), (20.0, 1.0)])
def test_what_lies_beyond_the_limit_is_unknown(distance: float, unknown: float) -> None:
    """The limit is a squared distance of 9: three away is exactly on it."""
    costs = APPEARANCE.costs(at(-distance, 0.0), at(0, 0))
    assert 1 - costs[-1] == pytest.approx(unknown, abs=1e-6)


def test_both_is_the_mean_for_steps_and_the_appearance_for_the_rest() -> None:
    seen, embedded = at(3.0, 0.5), at(0.5, 3.0)
    one, two = APPEARANCE.costs(seen, embedded), EMBEDDING.costs(seen, embedded)
    expected = [one[0], (one[1] + two[0]) / 2, (one[2] + two[2]) / 2, one[3]]
    assert BOTH.steps == APPEARANCE.steps
    np.testing.assert_allclose(BOTH.costs(seen, embedded), expected)


def test_what_is_known_along_the_directions_is_not_worked_out_again() -> None:
    seen, elsewhere, embedded = at(3.0, 0.5), at(0.0, 4.0), at(0.5, 3.0)
    assert EMBEDDING.along(seen) is None
    for unaries in (APPEARANCE, BOTH):
        np.testing.assert_array_equal(unaries.costs(seen, embedded, unaries.along(seen)), unaries.costs(seen, embedded))
        np.testing.assert_array_equal(  # it is what is given that counts
            unaries.costs(seen, embedded, unaries.along(elsewhere)), unaries.costs(elsewhere, embedded)
        )


@given(st.tuples(*[st.floats(-1e3, 1e3, width=32)] * 4))
@settings(derandomize=True, deadline=None, max_examples=60)
def test_costs_are_between_0_and_1_and_probabilities_sum_to_1(place: tuple[float, float, float, float]) -> None:
    seen, embedded = at(*place[:2]), at(*place[2:])
    for unaries in (EMBEDDING, APPEARANCE, BOTH):
        costs = unaries.costs(seen, embedded)
        assert costs.shape == (len(unaries.steps),)
        assert ((costs >= -1e-12) & (costs <= 1 + 1e-12)).all()
    assert (1 - EMBEDDING.costs(seen, embedded)).sum() == pytest.approx(1)
    assert (1 - APPEARANCE.costs(seen, embedded)).sum() == pytest.approx(1)


def test_what_does_not_fit_is_refused() -> None:
    wide = np.zeros(3, np.float32)
    with pytest.raises(BundleError, match=r"prototypes take \(2,\), its networks give \(3,\)"):
        EMBEDDING.costs(at(0, 0), wide)
    with pytest.raises(BundleError, match="recogniser take"):
        APPEARANCE.costs(wide, at(0, 0))


@given(st.lists(st.floats(0.0, 1.0), min_size=4, max_size=4), st.floats(0.0, 4.0))
@settings(derandomize=True, deadline=None, max_examples=60)
def test_background_is_put_back_and_the_rest_share_what_it_loses(parts: list[float], nats: float) -> None:
    chances = (np.array(parts) + 1e-6) / (sum(parts) + 4e-6)
    left = 1 - shown(1 - chances, (BACKGROUND, 1, 3, UNKNOWN), nats)
    assert left.sum() == pytest.approx(1.0)
    assert left[3] == pytest.approx(chances[3])
    assert left[1] / left[2] == pytest.approx(chances[1] / chances[2])
    assert np.log(left[0] / left[1]) == pytest.approx(np.log(chances[0] / chances[1]) - nats)


def test_only_the_appearance_knows_background() -> None:
    assert EMBEDDING.reluctance == 0.0
    assert BOTH.reluctance == APPEARANCE.reluctance == RECOGNISER.reluctance


def test_labels_go_by_the_usual_order_where_it_was_learned() -> None:
    """The other recogniser has steps 1 and 3 exchanged; unknown activity stays what it was."""
    usual = replace(RECOGNISER, centres=CENTRES[[0, 2, 1]], temperature=2.0, reluctance=1.5)
    unaries = AppearanceUnaries(replace(RECOGNISER, in_order=usual))
    for place in (at(4.0, 0.1), at(-2.9, 0.0)):
        costs = unaries.costs(place, at(0, 0))
        np.testing.assert_array_equal(costs, APPEARANCE.costs(place, at(0, 0)))
        chances = 1 - unaries.label_costs(place, costs)
        assert chances[3] == pytest.approx(1 - costs[3])
        expected = np.exp(usual.log_posterior(place[None].astype(np.float64)))[0]
        np.testing.assert_allclose(chances[:3] / chances[:3].sum(), expected, atol=1e-9)
    assert unaries.reluctance == 1.5
    assert BothUnaries(EMBEDDING, unaries).reluctance == RECOGNISER.reluctance


def test_without_it_labels_go_by_what_all_else_goes_by() -> None:
    costs = np.array([0.1, 0.9, 0.9, 1.0])
    for unaries in (EMBEDDING, APPEARANCE, BOTH):
        assert unaries.label_costs(at(0, 0), costs) is costs

import pytest

from guide.domain import Segment
from guide.procedure.counts import longest_pause_s, reversal_risks, shrunk_rates, step_statistics
from guide.procedure.visits import Visit, visits_of


def recording(*steps: int) -> tuple[Visit, ...]:
    return visits_of([Segment(step, 2.0 * place, 2.0 * place + 1) for place, step in enumerate(steps)])


def test_presence_repeats_and_durations() -> None:
    found = step_statistics([recording(1, 2, 1), recording(2), recording(1)], 1)
    assert (found.present, found.repeated, found.most_visits) == (2, 1, 2)
    assert found.durations_s == (1.0, 1.0, 1.0, 1.0, 1.0)
    assert longest_pause_s([recording(1, 2)]) == 1.0


def test_rates_are_shrunk_to_the_pooled_one() -> None:
    rates = shrunk_rates({1: 0, 2: 0, 3: 2}, total=2)  # pooled 2 of 6
    assert rates == pytest.approx({1: (1 / 3) / 3, 2: (1 / 3) / 3, 3: (2 + 1 / 3) / 3})
    assert shrunk_rates({1: 0, 2: 0}, total=2) == {1: 0.0, 2: 0.0}


def test_far_pairs_are_surer_than_near_ones_and_more_demonstrations_than_few() -> None:
    few, many = (reversal_risks([recording(1, 2, 3, 4)] * count) for count in (2, 8))
    assert few[1, 4] < few[1, 3] < few[1, 2] < 0.1
    assert many[1, 2] < few[1, 2]


def test_a_wandering_step_is_riskier_than_a_settled_one() -> None:
    risks = reversal_risks([recording(9, 1, 2, 3, 4), recording(1, 9, 2, 3, 4), recording(1, 2, 9, 3, 4)] * 2)
    assert risks[9, 3] > risks[2, 3]
    assert risks[1, 9] > 0.1  # seen both ways


def test_the_usual_direction_is_the_one_weighed() -> None:
    assert set(reversal_risks([recording(2, 1), recording(2, 1), recording(1, 2)])) == {(2, 1)}

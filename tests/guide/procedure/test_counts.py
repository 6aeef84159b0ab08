import pytest

from guide.domain import Segment
from guide.procedure.counts import longest_pause_s, shrunk_rates, step_statistics
from guide.procedure.visits import Visit, visits_of


def recording(*steps: int) -> tuple[Visit, ...]:
    return visits_of([Segment(step, 2.0 * place, 2.0 * place + 1) for place, step in enumerate(steps)])


def test_presence_repeats_and_durations() -> None:
    found, never = step_statistics([recording(1, 2, 1), recording(2), recording(1)], [1, 7])
    assert (never.present, never.durations_s[2]) == (0, 0.0)
    assert (found.present, found.repeated, found.most_visits) == (2, 1, 2)
    assert found.durations_s == (1.0, 1.0, 1.0, 1.0, 1.0)
    assert longest_pause_s([recording(1, 2)]) == 1.0


def test_rates_are_shrunk_to_the_pooled_one() -> None:
    rates = shrunk_rates({1: 0, 2: 0, 3: 2}, total=2)  # pooled 2 of 6
    assert rates == pytest.approx({1: (1 / 3) / 3, 2: (1 / 3) / 3, 3: (2 + 1 / 3) / 3})
    assert shrunk_rates({1: 0, 2: 0}, total=2) == {1: 0.0, 2: 0.0}

from guide.domain import KeyStep, Segment
from guide.procedure.thresholds import choose_rules
from guide.procedure.visits import Visit, visits_of

STEPS = tuple(KeyStep(number, f"s{number}") for number in range(1, 6))


def recording(*steps: int, length_s: float = 10.0) -> tuple[Visit, ...]:
    return visits_of([Segment(step, 20.0 * place, 20.0 * place + length_s) for place, step in enumerate(steps)])


def test_two_equal_demonstrations_are_enough_for_every_rule() -> None:
    rules = choose_rules([recording(1, 2, 3, 4, 5)] * 2, STEPS, rate=0.2)
    assert len(rules.edges) == 10
    assert rules.required == rules.single == (1, 2, 3, 4, 5)
    assert dict(rules.longest_s)[1] == 40.0
    assert dict(rules.shortest_s)[1] == 2.5


def test_one_demonstration_only_asks() -> None:
    rules = choose_rules([recording(1, 2, 3)], STEPS, rate=0.2)
    assert rules.edges == ()
    assert rules.required == rules.single == ()
    assert rules.asked_edges == ((1, 2), (1, 3), (2, 3))
    assert rules.asked_steps == (1, 2, 3)


def test_free_neighbours_are_not_trusted_but_the_rest_is() -> None:
    demonstrations = [recording(1, 2, 3, 4, 5), recording(1, 3, 2, 4, 5)] * 3
    edges = choose_rules(demonstrations, STEPS, rate=0.2).edges
    assert {(1, 2), (1, 3), (2, 4), (3, 4), (4, 5)} <= set(edges)
    assert (2, 3) not in edges
    assert (3, 2) not in edges


def test_false_alarms_left_out_stay_within_the_rate() -> None:
    wild = [
        recording(1, 2, 3, 4, 5),
        recording(5, 4, 3, 2, 1),
        recording(3, 1),
        recording(2, 5, 2, 4),
        recording(4, 1, 3),
    ]
    for rate in (0.0, 0.2, 1.0):
        rules = choose_rules(wild * 2, STEPS, rate)
        assert rules.false_alarms <= rate


def test_given_flags_are_respected() -> None:
    steps = (KeyStep(1, "a", is_optional=True), KeyStep(2, "b", is_repeatable=True), KeyStep(3, "c"))
    rules = choose_rules([recording(1, 2, 3)] * 4, steps, rate=0.2)
    assert rules.required == (2, 3)
    assert rules.single == (1, 3)


def test_new_steps_silence_unknown_activity_only_where_they_count() -> None:
    demonstrations = [recording(1, 2, 3), recording(1, 2, 4, 3), recording(1, 5, 2, 3), recording(1, 2, 3)]
    assert choose_rules(demonstrations, STEPS, 0.2).is_unknown_flagged
    assert not choose_rules(demonstrations, STEPS, 0.2, are_true=True).is_unknown_flagged

"""What held in every recording, worked by hand."""

from __future__ import annotations

from offline.study.counterfactual.rules import Rules


def test_only_what_held_without_exception_is_a_rule() -> None:
    rules = Rules.learn([(1, 2, 3, 4), (2, 1, 3, 4), (1, 3, 2)])
    assert rules.before == {(1, 3), (1, 4), (2, 4), (3, 4)}
    assert rules.always == {1, 2, 3}
    assert rules.once == {1, 2, 3, 4}
    assert rules.successors(1) == {3, 4}


def test_a_step_that_comes_again_after_another_does_not_come_before_it() -> None:
    rules = Rules.learn([(1, 2, 1, 3), (1, 2, 3)])
    assert rules.before == {(1, 3), (2, 3)}
    assert rules.once == {2, 3}


def test_one_recording_makes_no_rule_of_order() -> None:
    assert Rules.learn([(1, 2)]).before == frozenset()


def test_broken_pairs() -> None:
    rules = Rules.learn([(1, 2, 3), (1, 2, 3)])
    assert rules.broken((3, 1, 2)) == {(1, 3), (2, 3)}
    assert rules.broken((3,)) == frozenset()

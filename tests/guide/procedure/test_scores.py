import pytest

from guide.procedure.scores import check, learn_names, never_flag, score, score_missed
from guide.procedure.sequences import NamedSequence, NamedStep


def sequence(names: str, wrong: str = "", left_out: str = "") -> NamedSequence:
    """One letter a step; those in `wrong` are marked as mistakes."""
    done = tuple(NamedStep(name, 10.0 * at, 10.0 * at + 8, name in wrong) for at, name in enumerate(names))
    return NamedSequence(names, done, tuple(left_out))


TASK = learn_names([sequence("abcd")] * 6)


def test_scores_by_hand() -> None:
    checked = [
        check(TASK, one) for one in (sequence("abcd"), sequence("acbd", wrong="c"), sequence("abd", left_out="c"))
    ]
    assert [one.flagged for one in checked] == [(False,) * 4, (False, True, True, False), (False,) * 3]
    scores = score(checked)  # 11 steps: 1 hit, 1 flag too many, 9 passed rightly
    assert scores.precision == 0.5
    assert scores.recall == 1.0
    assert scores.f1_mistake == pytest.approx(2 / 3)
    assert scores.f1_correct == pytest.approx(18 / 19)
    assert scores.f1_average == pytest.approx((2 / 3 + 18 / 19) / 2)
    assert scores.false_alarms_per_sequence == 0.0
    missed = score_missed(checked)
    assert (missed.precision, missed.recall, missed.f1) == (1.0, 1.0, 1.0)


def test_never_flagging_scores_the_correct_steps_only() -> None:
    silent = [never_flag(check(TASK, sequence("acbd", wrong="c")))]
    scores = score(silent)
    assert (scores.f1_mistake, scores.recall) == (0.0, 0.0)
    assert scores.f1_correct == pytest.approx(6 / 7)


def test_unmarked_alerts_are_false_alarms() -> None:
    checked = [check(TASK, sequence("acbd")), check(TASK, sequence("abxcd")), check(TASK, sequence("abcd"))]
    assert [one.false_alarms for one in checked] == [1, 1, 0]
    assert [alert.kind for alert in checked[1].alerts] == ["unknown"]
    assert score(checked).false_alarms_per_clean_sequence == pytest.approx(2 / 3)


def test_only_clean_sequences_teach() -> None:
    mixed = learn_names([sequence("abcd"), sequence("dcba", wrong="d"), sequence("abcd")])
    assert mixed.demonstrations == 2

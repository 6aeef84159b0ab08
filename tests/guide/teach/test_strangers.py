"""Nobody's own recordings say how strange they look, whichever way the others' directions are found."""

from __future__ import annotations

import numpy as np
import pytest

from guide.label.recogniser import RecogniserSettings, learn_recogniser
from guide.teach import strangers as module
from guide.teach.strangers import Lessons, manners_of, strangers


def make_lessons(count: int = 7, width: int = 200) -> Lessons:
    rng = np.random.default_rng(8)
    centres = 0.5 * rng.normal(size=(3, width))
    mixing = np.arange(1, width + 1) ** -0.4
    labels = [np.repeat([0, 1, 2], int(rng.integers(30, 40))) for _ in range(count)]
    rows = [
        ((centres[own] + 0.3 * rng.normal(size=width) + rng.normal(size=(len(own), width))) * mixing).astype(np.float32)
        for own in labels
    ]
    return Lessons(rows, labels, rows, labels)


def test_sums_and_rows_of_the_others_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    lessons, scale, numbers = make_lessons(), np.ones(200), np.arange(3)
    monkeypatch.setattr(module, "RecogniserSettings", lambda: RecogniserSettings(components=20))
    monkeypatch.setattr(module, "does_pay", lambda *_: True)
    quick = strangers(lessons, scale, numbers)
    monkeypatch.setattr(module, "does_pay", lambda *_: False)
    for one, other in zip(quick, strangers(lessons, scale, numbers), strict=True):
        np.testing.assert_allclose(one.distances, other.distances, rtol=1e-6)
        assert one.manners is not None
        assert other.manners is not None
        own, theirs = one.manners.distance(1, one.manner[40:70]), other.manners.distance(1, other.manner[40:70])
        assert own == pytest.approx(theirs, rel=1e-5)


def test_a_step_that_only_some_have_is_infinitely_far_for_them() -> None:
    rng = np.random.default_rng(2)
    labels = [np.repeat([1, 2], 20) if n else np.repeat([1, 7], 20) for n in range(4)]
    rows = [rng.normal(size=(40, 5)) + own[:, None] for own in labels]
    strange = strangers(Lessons(rows, labels, rows, labels), np.ones(5), np.array([1, 2, 7]))
    found = [each.distances for each in strange]
    assert np.isinf(found[0][:, 2]).all()
    assert all(np.isfinite(each).all() for each in found[1:])
    assert [each.shape for each in found] == [(40, 3)] * 4


def test_manners_of_a_stranger_come_from_the_others_alone() -> None:
    rng = np.random.default_rng(5)
    labels = [np.repeat([1, 2], 12) for _ in range(4)]
    rows = [rng.normal(size=(24, 5)) + 3.0 * own[:, None] for own in labels]
    rows[0] += 100.0  # whoever is so different must not teach how different people are
    lessons, scale = Lessons(rows, labels, rows, labels), np.ones(5)
    first, second = strangers(lessons, scale, np.array([1, 2]))[:2]
    alone = strangers(lessons.of([0, 1, 2, 3])._replace(features=[rows[1], *rows[1:]]), scale, np.array([1, 2]))[0]
    assert first.manners is not None
    assert second.manners is not None
    assert alone.manners is not None
    np.testing.assert_array_equal(first.manners.usual, alone.manners.usual)
    assert first.manner.shape == (24, first.manners.directions.shape[1])
    assert not np.allclose(first.manners.usual, second.manners.usual)


def test_manners_of_long_collections_come_from_every_so_many_th_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    labels = [np.repeat([1, 2], 40) for _ in range(3)]
    rows = [rng.normal(size=(80, 2)) + own[:, None] * [1.0, 2.0] for own in labels]
    recogniser = learn_recogniser(rows, labels, RecogniserSettings(2))
    monkeypatch.setattr("guide.teach.strangers.MOST_MANNERED", 60)
    thin, expected = manners_of(recogniser, rows, labels), [each[::4] for each in rows]
    monkeypatch.setattr("guide.teach.strangers.MOST_MANNERED", 10_000)
    whole = manners_of(recogniser, expected, [each[::4] for each in labels])
    assert thin is not None
    assert whole is not None
    np.testing.assert_array_equal(thin.usual, whole.usual)

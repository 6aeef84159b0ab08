"""From labels to all that the live side needs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from guide.teach.calibrate import LeftOut

from guide.domain import KeyStep, Labels, Segment
from guide.perceive.appearance import AppearanceSettings
from guide.procedure.learn import learn_procedure
from guide.procedure.model import Rules
from guide.teach.demonstrations import Demonstration, Demonstrations
from guide.teach.describe import FEWEST_REHEARSED, MOST_REHEARSED, describe, some
from guide.teach.rehearse import see_freely

RATE = 2.0
TRUTH: list[Labels] = [np.repeat([1, 2, 0, 3], 20), np.repeat([1, 2, 3, 0], 20)]
STEPS = [KeyStep(number, f"step {number}") for number in (1, 2, 3)]


@pytest.fixture
def demonstrations() -> Demonstrations:
    prototypes = np.random.default_rng(1).normal(0, 3, (4, 6))
    items = []
    for number, labels in enumerate(TRUTH):
        rng = np.random.default_rng(number)
        pooled = (prototypes[labels] + rng.normal(0, 0.3, (80, 6))).astype(np.float32)
        items.append(Demonstration(str(number), np.arange(80) / RATE, pooled, pooled[:, :4].copy()))
    return Demonstrations(tuple(items), RATE, AppearanceSettings.for_step(39.5 / 3))


def test_everything_follows_from_labels(demonstrations: Demonstrations) -> None:
    learned = describe(demonstrations, TRUTH, STEPS, ("a note",))
    assert learned.segments[0] == (Segment(1, 0.0, 10.0), Segment(2, 10.0, 20.0), Segment(3, 30.0, 40.0))
    assert learned.procedure.orderings[0].steps == (1, 2, 3)
    assert learned.procedure.orderings[0].count == 2
    assert learned.notes == ("a note",)
    rows, labels = np.concatenate(demonstrations.embeddings), np.concatenate(TRUTH)
    for number, centre in enumerate(learned.centres, start=1):
        np.testing.assert_allclose(centre, rows[labels == number].mean(0), rtol=1e-5)
    assert learned.recogniser.numbers.tolist() == [0, 1, 2, 3]


def test_the_recogniser_recognises_what_it_learned_from(demonstrations: Demonstrations) -> None:
    learned = describe(demonstrations, TRUTH, STEPS)
    for rows, labels in zip(demonstrations.features, TRUTH, strict=True):
        guess = learned.recogniser.numbers[learned.recogniser.log_posterior(rows).argmax(1)]
        assert (guess == labels).mean() > 0.9


def test_a_step_without_frames_lies_in_the_middle(demonstrations: Demonstrations) -> None:
    learned = describe(demonstrations, TRUTH, [*STEPS, KeyStep(4, "step 4")])
    assert learned.centres.shape == (4, 4)
    np.testing.assert_allclose(learned.centres[3], np.concatenate(demonstrations.embeddings).mean(0), rtol=1e-4)


# Steps carried over from the first two recordings: some were lost, some broken in two.
CARRIED = [
    [1, 2, 9, 3, 4, 5, 6, 8, 7],
    [1, 9, 2, 3, 4, 5, 6, 8],
    [1, 2, 9, 5, 3, 6, 4, 8, 7],
    [1, 2, 9, 5, 6, 3, 4, 8, 7],
    [1, 9, 2, 5, 6, 3, 4, 8, 7],
    [1, 9, 1, 2, 5, 3, 9, 3, 4, 6, 8, 7],
    [1, 9, 2, 3, 5, 4, 6, 8],
    [1, 2, 3, 4, 5, 6, 8, 9],
    [1, 2, 9, 3, 5, 4, 6, 8],
    [1, 9, 3, 4, 5, 6, 8],
    [1, 2, 3, 4, 5, 6, 8],
    [1, 9, 2, 5, 3, 4, 8, 7],
]


@pytest.mark.parametrize("hold_slips", [False, True])
def test_slips_of_labels_do_not_silence_the_rules(hold_slips: bool) -> None:
    looks = np.eye(10, 12) * 5
    labels = [np.repeat(steps, 8) for steps in CARRIED]
    rng = np.random.default_rng(0)
    items = tuple(
        Demonstration(
            str(number),
            np.arange(len(own)) / RATE,
            (looks[own] + rng.normal(0, 0.3, (len(own), 12))).astype(np.float32),
            np.zeros((len(own), 1), np.float32),
        )
        for number, own in enumerate(labels)
    )
    steps = [KeyStep(number, f"step {number}") for number in range(1, 10)]
    shown = Demonstrations(items, RATE, AppearanceSettings.for_step(4.0))
    required = describe(shown, labels, steps, hold_slips=hold_slips).procedure.rules.required
    assert set(required) == ({1, 3, 4, 5, 8} if hold_slips else set())


ORDER = (1, 2, 3, 0, 4, 5)


def eight_recordings(hard: float = 0.0, last: int = 20) -> tuple[Demonstrations, list[Labels]]:
    """Eight recordings of five steps; in the last one the third step looks so much like the second (a share).

    The fifth step takes `last` frames there.
    """
    looks, rng, items, labels = np.eye(6, 12) * 5, np.random.default_rng(3), [], []
    for number in range(8):
        is_odd = number == 7
        own = np.repeat(ORDER, [20, 20, 20, 20, 20, last if is_odd else 20])
        rows = looks[own] + rng.normal(0, 0.3, (len(own), 12))
        rows[own == 3] += hard * is_odd * (looks[2] - looks[3])
        labels.append(own)
        items.append(
            Demonstration(
                str(number), np.arange(len(own)) / RATE, rows.astype(np.float32), np.zeros((len(own), 1), np.float32)
            )
        )
    return Demonstrations(tuple(items), RATE, AppearanceSettings.for_step(10.0)), labels


FIVE = [KeyStep(number, f"step {number}") for number in range(1, 6)]


def test_a_step_that_our_labels_hold_and_nobody_sees_is_asked_about() -> None:
    shown, labels = eight_recordings(hard=0.65)
    given = describe(shown, labels, FIVE).procedure.rules
    ours = describe(shown, labels, FIVE, hold_slips=True).procedure.rules
    by_person = describe(shown, labels, FIVE, hold_slips=True, given=[7]).procedure.rules
    by_others = describe(shown, labels, FIVE, hold_slips=True, given=range(7)).procedure.rules
    assert (given.required, given.asked_steps) == ((1, 2, 3, 4, 5), ())
    assert (ours.required, ours.asked_steps) == ((1, 2, 4, 5), (3,))
    assert by_person.required == given.required
    assert by_others.required == ours.required


@pytest.mark.parametrize("is_there", [True, False])
def test_a_step_that_our_labels_lack_and_everybody_does_is_required(is_there: bool) -> None:
    shown, labels = eight_recordings(hard=0.0 if is_there else 1.0)
    labels[7] = np.where(labels[7] == 3, 0 if is_there else 2, labels[7])
    ours = describe(shown, labels, FIVE, hold_slips=True)
    task, present = ours.procedure, 8 if is_there else 7
    assert (3 in task.rules.required, task.steps[2].is_optional) == (is_there, not is_there)
    assert dict(task.reasons) == ({} if is_there else {3: "optional: in 7 of 8 demonstrations"})
    assert task.statistics[2].present == present
    assert task.precedence(2, 3).total == present
    assert [one.step for one in ours.segments[7]].count(3) == 0  # labels stay as they are
    by_person = describe(shown, labels, FIVE, hold_slips=True, given=[7]).procedure
    assert 3 not in by_person.rules.required
    assert 3 not in describe(shown, labels, FIVE).procedure.rules.required
    optional = [replace(step, is_optional=step.number == 3) for step in FIVE]
    assert 3 not in describe(shown, labels, optional, hold_slips=True).procedure.rules.required


def test_orders_that_are_learned_from_visits_that_labels_lack_are_looked_for_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown, labels = eight_recordings()
    labels[7] = np.where(labels[7] == 3, 0, labels[7])
    met = []

    def see(costs, times, histories, *rest):  # type: ignore[no-untyped-def]
        met.append(len(histories.model.pairs))
        return see_freely(costs, times, histories, *rest)

    monkeypatch.setattr("guide.teach.describe.see_freely", see)
    learned = iter((((1, 2),), ((1, 2), (2, 3))))

    def learn(visits, steps, rate):  # type: ignore[no-untyped-def]
        task = learn_procedure(visits, steps, rate)
        return replace(task, rules=replace(task.rules, edges=next(learned)))

    monkeypatch.setattr("guide.teach.describe.learn_procedure", learn)
    describe(shown, labels, FIVE, hold_slips=True)
    assert met == [1] * 8 + [2] * 8


def test_a_recording_that_ends_as_a_step_begins_silences_nothing_where_people_say_so() -> None:
    shown, labels = eight_recordings(last=1)
    assert describe(shown, labels, FIVE).procedure.rules.required == (1, 2, 3, 4, 5)
    by_people = describe(shown, labels, FIVE, hold_slips=True, given=range(8)).procedure.rules
    assert by_people.required == (1, 2, 3, 4, 5)
    ours = describe(shown, labels, FIVE, hold_slips=True).procedure.rules
    assert (ours.required, ours.asked_steps) == ((1, 2, 3, 4), (5,))


def test_an_order_that_our_labels_hold_and_somebody_does_not_keep_is_asked_about(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("guide.teach.describe.hush", lambda procedure, *_: procedure)  # rehearsals may silence it too
    shown, labels = eight_recordings()
    odd = shown.items[7]
    other = np.r_[20:60, 0:20, 60 : len(odd)]  # the first of its steps is done after the next two, whatever labels say
    items = (*shown.items[:7], replace(odd, pooled=odd.pooled[other]))
    shown = replace(shown, items=items)
    given = describe(shown, labels, FIVE).procedure.rules
    ours = describe(shown, labels, FIVE, hold_slips=True).procedure.rules
    first, *rest = [step for step in ORDER if step > 0]
    early = [step for step in np.unique(labels[7][20:60]).tolist() if step > 0]
    assert early
    assert set(given.edges) - set(ours.edges) == {(first, step) for step in early}
    assert set(ours.asked_edges) - set(given.asked_edges) == {(first, step) for step in early}
    assert {(first, step) for step in rest} - set(ours.edges) == {(first, step) for step in early}


@pytest.mark.parametrize(
    ("kept", "noted"),
    [(Rules(required=(1, 2, 3), single=(1,)), ["4 of 9"]), (Rules(((1, 2),), required=(1, 2, 3), single=(1,)), [])],
)
def test_where_most_rules_only_ask_a_note_says_so(
    demonstrations: Demonstrations, monkeypatch: pytest.MonkeyPatch, kept: Rules, noted: list[str]
) -> None:
    assert describe(demonstrations, TRUTH, STEPS).notes == ()
    monkeypatch.setattr("guide.teach.describe.hush", lambda procedure, *_: replace(procedure, rules=kept))
    notes = describe(demonstrations, TRUTH, STEPS, ("a note",)).notes
    assert notes[0] == "a note"
    assert [note.split(" rules ")[0] for note in notes[1:]] == noted


def test_rules_that_are_doubted_count_as_learned_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "guide.teach.describe.doubt", lambda procedure, _: replace(procedure, rules=Rules(required=(1,)))
    )
    shown, labels = eight_recordings()
    (note,) = describe(shown, labels, FIVE, hold_slips=True).notes
    assert note.startswith("1 of 20 rules raise alarms")


def test_without_rules_nothing_is_wanted(demonstrations: Demonstrations, monkeypatch: pytest.MonkeyPatch) -> None:
    met = []

    def see(costs, times, histories, traces, labels):  # type: ignore[no-untyped-def]
        met.append(histories.model)
        return see_freely(costs, times, histories, traces, labels)

    monkeypatch.setattr("guide.teach.describe.see_freely", see)
    describe(demonstrations, TRUTH, STEPS, hold_slips=True)
    assert len(met) == 2
    assert not any(each.any() for model in met for each in (model.needed, model.single))
    assert all((one.order, one.repeat, one.again, one.lacking) == (0,) * 4 for one in (m.expectations for m in met))
    assert met[0].usual_s[1:4] == pytest.approx([10.0] * 3)


def left_out(frames: int) -> LeftOut:
    none = np.zeros((frames, 1))
    return LeftOut(np.arange(frames) / RATE, np.zeros(frames, np.int64), none, none)


def test_short_recordings_are_all_rehearsed_and_of_long_ones_some() -> None:
    short = [left_out(50) for _ in range(40)]
    assert some(short) == short
    long = [left_out(MOST_REHEARSED // 20) for _ in range(40)]
    kept = some(long)
    assert len(kept) == 20
    assert kept[0] is long[0]
    assert kept[-1] is long[38]
    assert len(some([left_out(MOST_REHEARSED) for _ in range(15)])) == FEWEST_REHEARSED

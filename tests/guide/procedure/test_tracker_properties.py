"""Properties that hold for whatever was learnt and whatever is then done."""

from collections import Counter
from functools import cache
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from guide.domain import Alert, Guidance, Question, Resolution, Segment
from guide.procedure.events import Confirmed, Ended, Event, Finished, Marked, Ticked
from guide.procedure.learn import learn_procedure
from guide.procedure.model import Procedure
from guide.procedure.replay import follow, standing_alerts
from guide.procedure.settings import TrackerSettings
from guide.procedure.tracker import Tracker
from guide.procedure.visits import visits_of

numbers = st.integers(1, 5)
orders = st.lists(numbers, min_size=1, max_size=7)
demonstrations = st.lists(orders, min_size=1, max_size=5)
alike = st.lists(st.sampled_from([[1, 2, 3, 4, 5]] * 3 + [[2, 1, 3, 4, 5], [1, 2, 3, 4]]), min_size=2, max_size=5)
times = st.floats(0, 100, allow_nan=False)
events = st.one_of(
    st.builds(Confirmed, st.integers(-1, 6), times, st.floats(0, 1)),
    st.builds(Ended, st.integers(-1, 6), times),
    st.builds(Ticked, times),
    st.builds(Marked, numbers, times, st.booleans()),
)


def recording(steps: list[int]) -> list[Segment]:
    return [Segment(step, 10.0 * place, 10.0 * place + 8) for place, step in enumerate(steps)]


def learn(found: list[list[int]]) -> Procedure:
    return _learn(tuple(tuple(steps) for steps in found))


@cache
def _learn(found: tuple[tuple[int, ...], ...]) -> Procedure:
    return learn_procedure([recording(list(steps)) for steps in found])


def run(procedure: Procedure, news: list[Event]) -> list[Guidance]:
    tracker = Tracker(procedure)
    return [item for event in [*news, Finished()] for item in tracker.apply(event)]


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.one_of(demonstrations, alike), st.lists(events, max_size=25))
def test_ids_rise_causes_are_told_once_and_every_resolution_has_its_alert(
    found: list[list[int]], news: list[Event]
) -> None:
    said = run(learn(found), news)
    opened: dict[int, Alert | Question] = {}
    standing: Counter[tuple[str, int]] = Counter()
    for item in said:
        if isinstance(item, Resolution):
            was = opened[item.id]  # nothing is resolved that was not said
            if isinstance(was, Alert):
                standing[was.kind, was.step] -= 1
        elif item.id in opened:  # only a graver version of a standing alert may come under a known id
            assert isinstance(item, Alert)
            assert item.severity == "alarm"
        else:
            assert item.id == len(opened) + 1
            opened[item.id] = item
            if isinstance(item, Alert):
                standing[item.kind, item.step] += 1
                assert standing[item.kind, item.step] == 1
    resolved = [item.id for item in said if isinstance(item, Resolution)]
    assert len(set(resolved)) == len(resolved)
    assert sum(isinstance(item, Question) for item in said) <= TrackerSettings().most_questions


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.one_of(demonstrations, alike), st.lists(events, max_size=15))
def test_the_same_events_give_the_same_words(found: list[list[int]], news: list[Event]) -> None:
    procedure = learn(found)
    assert run(procedure, news) == run(procedure, news)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.permutations([1, 2, 3, 4]), st.integers(1, 4))
def test_equal_demonstrations_raise_nothing_on_themselves(usual: list[int], count: int) -> None:
    procedure = learn([usual] * count)
    assert follow(procedure, visits_of(recording(usual))) == []


@settings(derandomize=True, deadline=None, max_examples=40)
@given(alike)
def test_demonstrations_raise_only_what_the_counts_say_against_them(found: list[list[int]]) -> None:
    procedure = learn(found)
    kept = {(pair.first, pair.then) for pair in procedure.precedences if pair.support == pair.total}
    always = set.intersection(*(set(steps) for steps in found))
    for steps in found:
        for alert in standing_alerts(follow(procedure, visits_of(recording(steps)))):
            assert alert.step not in always or (alert.before, alert.step) not in kept


@settings(derandomize=True, deadline=None, max_examples=40)
@given(alike, st.integers(0, 1000))
def test_no_topological_order_of_the_trusted_edges_raises_an_alert(found: list[list[int]], seed: int) -> None:
    random = Random(seed)
    procedure = learn(found)
    order: list[int] = []
    while len(order) < len(procedure.steps):
        ready = [s for s in procedure.numbers if s not in order and set(procedure.rules.predecessors(s)) <= set(order)]
        order.append(random.choice(ready))
    assert not any(isinstance(item, Alert) for item in follow(procedure, visits_of(recording(order))))


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.permutations([1, 2, 3, 4, 5]))
def test_withdrawn_alerts_were_soft_misses_and_an_order_alert_follows(done: list[int]) -> None:
    usual = [1, 2, 3, 4, 5]
    said = follow(learn([usual] * 5), visits_of(recording(done)))
    alerts = {item.id: item for item in said if isinstance(item, Alert)}
    for place, item in enumerate(said):
        if isinstance(item, Resolution):
            assert item.is_withdrawn
            assert alerts[item.id].kind == "missed"
            follower = said[place + 1]
            assert isinstance(follower, Alert)
            assert (follower.kind, follower.before) == ("out_of_order", alerts[item.id].step)
    assert bool(standing_alerts(said)) == (usual != done)

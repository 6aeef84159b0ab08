from dataclasses import replace
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from offline.study.variants.world import SHAPES, Product, World, make_world, named


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.sampled_from(sorted(SHAPES)), st.integers(0, 10**6))
def test_plans_are_right_from_their_first_step_to_the_last(shape: str, seed: int) -> None:
    random = Random(seed)
    world = make_world(SHAPES[shape], random)
    assert SHAPES[shape].steps[0] <= len(world.part_of) <= SHAPES[shape].steps[1]
    _, plan = world.plan(random)
    assert all(world.is_right(plan[:count]) for count in range(len(plan) + 1))


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.sampled_from(sorted(SHAPES)), st.integers(0, 10**6))
def test_a_planted_mistake_is_the_last_step_and_known_as_one_where_no_product_allows_it(shape: str, seed: int) -> None:
    random = Random(seed)
    world = make_world(SHAPES[shape], random)
    _, done, is_known = world.mistake(random)
    assert world.is_right(done[:-1])
    assert is_known == (not world.is_right(done))


def test_what_is_right_in_a_small_world() -> None:
    """Part 1 needs part 0 and has two tools; the second product lacks part 0, the first may go without part 2."""
    products = (Product(frozenset({0, 1, 2}), frozenset({2})), Product(frozenset({1, 3}), frozenset()))
    world = World(products, (0, 1, 1, 2, 3), (frozenset(), frozenset({0}), frozenset(), frozenset({2})))
    assert world.is_right([0, 1])
    assert world.is_right([0, 2, 3])
    assert not world.is_right([0, 1, 2]), "the other tool on the same part"
    assert world.is_right([1, 4]), "the second product needs nothing before part 1"
    assert not world.is_right([1, 0]), "too late for the first product, and not a part of the second"
    assert not world.is_right([0, 4]), "parts of two products"
    assert not world.is_right([5]), "a step that nobody knows"
    assert not world.is_right([0, 0, 1]), "done already"
    assert replace(world, repeatable=frozenset({0})).is_right([0, 0, 1]), "may be done again"


def test_the_last_step_of_a_wrong_sequence_is_marked() -> None:
    assert [step.is_mistake for step in named("a", [3, 1], is_wrong=True).done] == [False, True]
    assert named("a", [3, 1]).is_clean

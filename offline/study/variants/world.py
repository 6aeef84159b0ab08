"""A made task in variants: products that share steps, optional parts, exclusive tools, and mistakes planted in it.

A part is what a step fits. Most parts have one step; a part with two is fitted with either tool. A part may need others
to be fitted before it, as far as the product has them: so what must come first differs from product to product. Some
parts may be seen to a second time.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from random import Random

from guide.procedure.sequences import NamedSequence, NamedStep

TOOLS = 0.15  # share of parts that two tools can fit
OPTIONAL = 0.15  # share of parts that a product may go without
HABIT = 0.5  # how often the first ready step in the usual order is taken, and not any
SPECIAL = 0.3  # share of parts that one product alone has
AGAIN = 0.5  # how often what may be done again is
KINDS = {"early": 0.65, "foreign": 0.15, "again": 0.15, "new": 0.05}  # how often each kind of mistake is planted


@dataclass(frozen=True, slots=True)
class Shape:
    """What worlds of a kind look like; each draws between the ends of a range."""

    steps: tuple[int, int]
    products: tuple[int, int]
    demonstrations: tuple[int, ...]
    shared: tuple[float, float] = (0.1, 0.9)
    """The share of the parts common to all that a product has, where there are several."""
    skew: float = 0.0
    """How much more some parts are shared than others: from 0, all alike, to 1, where some are in every product."""
    needs: float = 1.5
    """Parts that one needs, on average, of those a few places before it."""
    near: int = 6
    repeatable: float = 0.0
    """The share of parts that may be seen to again."""


SHAPES = {
    "mixed": Shape((5, 60), (1, 12), (5, 20, 50, 200)),
    "toys": Shape((59, 59), (10, 20), (135,), shared=(0.03, 0.2), skew=1.0, needs=6.0, near=24),
    "tent": Shape((11, 20), (1, 1), (13,), needs=0.8, repeatable=0.3),
}


@dataclass(frozen=True, slots=True)
class Product:
    """The parts that a product has, and those it may go without."""

    parts: frozenset[int]
    optional: frozenset[int]


@dataclass(frozen=True, slots=True)
class World:
    """All products; steps are numbered through, `part_of` says which part each one fits.

    >>> world = make_world(Shape((12, 12), (3, 3), ()), Random(1))
    >>> all(world.is_right(plan[:count]) for plan in [world.plan(Random(2))[1]] for count in range(len(plan) + 1))
    True
    """

    products: tuple[Product, ...]
    part_of: tuple[int, ...]
    needs: tuple[frozenset[int], ...]
    repeatable: frozenset[int] = frozenset()

    def plan(self, random: Random) -> tuple[Product, list[int]]:
        """A product and the steps of one right recording of it."""
        product = random.choice(self.products)
        left = {part for part in product.parts if part not in product.optional or random.random() < 0.5}
        steps: list[int] = []
        while left:
            ready = sorted(part for part in left if not self.needs[part] & left)
            part = ready[0] if random.random() < HABIT else random.choice(ready)
            steps.append(random.choice([step for step, fits in enumerate(self.part_of) if fits == part]))
            left.remove(part)
        for step in [one for one in steps if self.part_of[one] in self.repeatable and random.random() < AGAIN]:
            steps.insert(random.randint(steps.index(step) + 1, len(steps)), step)
        return product, steps

    def is_right(self, steps: Sequence[int]) -> bool:
        """Whether some product could be begun so."""
        return any(self._is_begun(product, steps) for product in self.products)

    def _is_begun(self, product: Product, steps: Sequence[int]) -> bool:
        fitted: set[int] = set()
        for step in steps:
            part = self.part_of[step] if step < len(self.part_of) else -1
            if part in self.repeatable & fitted:
                continue
            needed = self.needs[part] & product.parts if part in product.parts else frozenset()
            is_late = any(part in self.needs[other] for other in fitted)
            if part not in product.parts - fitted or is_late or not needed <= fitted | product.optional:
                return False
            fitted.add(part)
        return True

    def mistake(self, random: Random) -> tuple[str, list[int], bool]:
        """Kind, steps of a recording that ends at its mistake, and whether it is one in every product."""
        while True:
            product, plan = self.plan(random)
            begun = plan[: random.randrange(1, max(len(plan), 2))]
            kind = random.choices(list(KINDS), list(KINDS.values()))[0]
            wrong = [
                step for step in self._tries(kind, product, plan, begun) if not self._is_begun(product, [*begun, step])
            ]
            if wrong:
                steps = [*begun, random.choice(wrong)]
                return kind, steps, not self.is_right(steps)

    def _tries(self, kind: str, product: Product, plan: Collection[int], begun: Collection[int]) -> list[int]:
        match kind:
            case "early":
                return [step for step in plan if step not in begun]
            case "again":
                return list(begun)[:-1]  # going on with a step is no second time
            case "foreign":
                return [step for step, part in enumerate(self.part_of) if part not in product.parts]
        return [len(self.part_of)]


def make_world(shape: Shape, random: Random) -> World:
    """A task of this shape; each product has some of the parts that are not another's own."""
    steps, products = random.randint(*shape.steps), random.randint(*shape.products)
    part_of: list[int] = []
    while len(part_of) < steps:
        part = part_of[-1] + 1 if part_of else 0
        part_of += [part] * (2 if random.random() < TOOLS and len(part_of) + 2 <= steps else 1)
    count = part_of[-1] + 1
    owner = [random.randrange(products) if products > 1 and random.random() < SPECIAL else None for _ in range(count)]
    needs = [
        frozenset(near for near in range(max(part - shape.near, 0), part) if random.random() < shape.needs / shape.near)
        for part in range(count)
    ]
    rarity = [random.uniform(1 - shape.skew, 1 + shape.skew) for _ in range(count)]
    made = []
    for number in range(products):
        shared = 1.0 if products == 1 else random.uniform(*shape.shared)
        parts = [
            part
            for part in range(count)
            if owner[part] == number or (owner[part] is None and random.random() < shared ** rarity[part])
        ] or [0]
        made.append(Product(frozenset(parts), frozenset(part for part in parts if random.random() < OPTIONAL)))
    again = frozenset(part for part in range(count) if random.random() < shape.repeatable)
    return World(tuple(made), tuple(part_of), tuple(needs), again)


def named(name: str, steps: Sequence[int], is_wrong: bool = False) -> NamedSequence:
    """Steps of 8 s every 10 s, as a file for `guide order` would hold them; the last one is the mistake, if any."""
    last = len(steps) - 1 if is_wrong else -1
    done = (NamedStep(f"s{step}", 10.0 * at, 10.0 * at + 8, at == last) for at, step in enumerate(steps))
    return NamedSequence(name, tuple(done))

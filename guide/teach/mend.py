"""Visits that found labels lack, put where they were seen: what a rule is made of, not what people are shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from guide.domain import Segment
from guide.procedure.rule_selection import Seen


def mended(sequences: Sequence[Sequence[Segment]], seen: Mapping[int, Seen]) -> list[tuple[Segment, ...]]:
    """The segments of each demonstration with visits that its labels lack; `seen` is told by place among them.

    Labels that were found miss a step that is hard to see, and by these it looks optional. It is put in where it was
    surely seen, if most labels hold it and no demonstration lacks it then. A step that some may leave out after all
    stays as it is: what is surely seen of it tells nothing of the others. A demonstration that was not followed and
    whose labels lack the step counts as one without it. A visit that is put in may overlap what labels say of that
    time: rules ask for what was done and in which order.

    >>> glued, cut = Segment(2, 4.0, 9.0), Segment(1, 0.0, 4.0)
    >>> mended([[cut, glued], [cut, glued], [cut]], {2: Seen(frozenset(), frozenset(), unlabelled=(glued,))})[2]
    (Segment(step=1, start=0.0, end=4.0), Segment(step=2, start=4.0, end=9.0))
    """
    held = Counter(step for each in sequences for step in {one.step for one in each})
    lacking = Counter(step for each in seen.values() for step in {one.step for one in each.unlabelled})
    whole = {step for step in lacking if held[step] > lacking[step] and held[step] + lacking[step] == len(sequences)}
    added = {place: [one for one in each.unlabelled if one.step in whole] for place, each in seen.items()}
    return [
        tuple(sorted((*each, *added.get(place, ())), key=lambda segment: segment.start))
        for place, each in enumerate(sequences)
    ]

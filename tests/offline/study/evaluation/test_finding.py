"""What is kept between runs is named by all the code that decides it."""

from __future__ import annotations

from typing import Final

from offline.keysteps.registry import FINDERS
from offline.study.evaluation.finding import SOURCES
from tests.imported import imported_by

PLAIN: Final = ("guide.domain", "guide.errors")  # values and messages: they decide nothing


def is_covered(module: str) -> bool:
    return module in PLAIN or any(module == source or module.startswith(f"{source}.") for source in SOURCES)


def test_a_change_anywhere_in_finders_or_carried_labels_makes_them_anew() -> None:
    decide = [module for module, _ in FINDERS.values()] + ["offline.keysteps.choose", "guide.teach.spread"]
    used = set[str]().union(*map(imported_by, decide))
    assert {"guide.teach.consensus", "guide.label.histories", "offline.keysteps.kmeans"} <= used
    assert [module for module in sorted(used) if not is_covered(module)] == []

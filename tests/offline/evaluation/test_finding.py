"""What is kept between runs is named by all the code that decides it."""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from offline.evaluation.finding import SOURCES
from offline.keysteps.registry import FINDERS

PLAIN: Final = ("guide.domain", "guide.errors")  # values and messages: they decide nothing


def imported_by(module: str) -> set[str]:
    """The modules of ours that a module names in its import lines, at any depth."""
    seen: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        spec = find_spec(name)
        if name in seen or spec is None or spec.origin is None:
            continue
        seen.add(name)
        tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
        lines = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module is not None]
        waiting += [str(line.module) for line in lines if str(line.module).split(".")[0] in ("guide", "offline")]
    return seen


def is_covered(module: str) -> bool:
    return module in PLAIN or any(module == source or module.startswith(f"{source}.") for source in SOURCES)


def test_a_change_anywhere_in_finders_or_carried_labels_makes_them_anew() -> None:
    decide = [module for module, _ in FINDERS.values()] + ["offline.keysteps.choose", "guide.teach.spread"]
    used = set[str]().union(*map(imported_by, decide))
    assert {"guide.teach.consensus", "guide.label.course", "offline.keysteps.kmeans"} <= used
    assert [module for module in sorted(used) if not is_covered(module)] == []

"""What a module of ours rests on, read from its import lines."""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path


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

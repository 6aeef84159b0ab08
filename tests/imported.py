"""What a module of ours rests on, read from its import lines."""

from __future__ import annotations

import ast
from importlib.util import find_spec, resolve_name
from pathlib import Path


def imported_by(module: str) -> set[str]:
    """The modules of ours that a module names in its import lines, at any depth; relative ones spelt out."""
    seen: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        spec = find_spec(name)
        if name in seen or spec is None or spec.origin is None:
            continue
        seen.add(name)
        tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
        package = name if Path(spec.origin).name == "__init__.py" else name.rpartition(".")[0]
        lines = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        named = [resolve_name("." * line.level + (line.module or ""), package) for line in lines]
        waiting += [one for one in named if one.split(".")[0] in ("guide", "offline")]
    return seen

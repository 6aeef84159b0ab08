"""A limit to the memory of a process that reads what may be hostile; it has to be one of its own."""

from __future__ import annotations

import resource
from pathlib import Path

HELD = Path("/proc/self/statm")


def limit_memory(more_bytes: int) -> None:
    """From now on this process gets only so much memory beyond what it holds, where the system can say that (Linux)."""
    if HELD.exists():
        held_bytes = int(HELD.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (held_bytes + more_bytes,) * 2)

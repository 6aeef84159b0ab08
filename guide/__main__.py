"""`python -m guide`: the live side's commands."""

from __future__ import annotations

import os
import sys

FOLLOWING = frozenset({"watch", "serve", "bench", "check"})  # commands that take frame after frame
THREADS = "OPENBLAS_NUM_THREADS"


def main() -> None:
    """Runs the command; one that follows frames leaves the cores to the networks.

    What is multiplied for one frame is too small to be shared out, and threads that wait for more of it keep a core
    busy all the while. The libraries ask only once, when they are loaded; who sets a number keeps it.
    """
    if FOLLOWING & set(sys.argv[1:2]):
        os.environ.setdefault(THREADS, "1")
    from guide.commands import registry  # loads numpy

    registry.main()


if __name__ == "__main__":
    main()

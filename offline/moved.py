"""Where commands went: old names work for one version more, with a word of the new one."""

from __future__ import annotations

import runpy
import sys
from importlib.util import find_spec


def run(old: str, new: str) -> None:
    """Runs the command `new` for whoever typed `python -m old`; code 2 where only the wheel is installed."""
    if find_spec("offline.study") is None:
        sys.stderr.write(f"python -m {new} comes with the project's source, not with the wheel: run it in a clone.\n")
        raise SystemExit(2)
    sys.stderr.write(f"python -m {old} is now python -m {new}: the old name goes with the next version.\n")
    runpy.run_module(new, run_name="__main__", alter_sys=True)

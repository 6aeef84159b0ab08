"""Bundles and label files changed at random: used, or refused in a sentence; see `tests/fuzz_files.py`.

A few by default; CNC_FUZZ says how many of each kind are tried, CNC_FUZZ_SEED which ones.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.tiny import Learned

ROOT = Path(__file__).parents[2]
COUNT, SEED = int(os.environ.get("CNC_FUZZ", "60")), os.environ.get("CNC_FUZZ_SEED", "0")


def test_spoilt_bundles_and_label_files_are_used_or_refused_in_a_sentence(frames_task: Learned) -> None:
    command = [sys.executable, "-m", "tests.fuzz_files", str(frames_task.folder), str(2 * COUNT), SEED]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, (ended.stdout + ended.stderr)[-4000:]
    for kind in ("bundle refused", "bundle used", "labels refused", "labels used"):
        assert kind in ended.stdout

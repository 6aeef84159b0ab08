"""The lock of a run: a second training of the same inputs is told so in one sentence, and goes on afterwards."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from guide.errors import InputError
from offline.runs import LOCK, locked
from tests.tiny import Learned, learn_again


def test_one_process_at_a_time(tmp_path: Path) -> None:
    with locked(tmp_path / "run"), pytest.raises(InputError, match="wait until it has ended"), locked(tmp_path / "run"):
        pytest.fail("the run was taken twice")
    with locked(tmp_path / "run"):
        assert (tmp_path / "run" / LOCK).is_file()


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path; from offline.runs import locked\n"
        "with locked(Path(sys.argv[1])):\n    print('held', flush=True); time.sleep(60)"
    )
    words = [sys.executable, "-c", program, str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(InputError), locked(tmp_path):
            pytest.fail("the run was taken twice")
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    with locked(tmp_path):
        pass


def test_a_second_training_of_the_same_inputs_is_refused_then_uses_what_was_made(
    features_task: Learned, tmp_path: Path
) -> None:
    options = replace(features_task.options, out=tmp_path / "again")
    # Other tests learn from the same recordings in other ways and keep their runs there too.
    runs = (features_task.options.cache / "runs").iterdir()
    run = next(one for one in runs if f"run {one}" in features_task.said)
    with locked(run), pytest.raises(InputError, match="another process is learning from these recordings"):
        learn_again(options)
    assert not (tmp_path / "again").exists()
    again = learn_again(options)
    assert again.bundle.facts["training"] == features_task.bundle.facts["training"]
    assert f"run {run}" in again.said

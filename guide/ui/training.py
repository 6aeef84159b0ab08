"""Training jobs in processes of their own: started, found again by any page, stopped and resumed.

`python -m guide.ui.training FOLDER` runs the command that FOLDER/job.json holds and writes down how it ended. It leads
a process group of its own, so neither a reload nor the end of the dashboard ends it. The lock of the folder is held by
it and by the command: while somebody holds it, the training lives.
"""

from __future__ import annotations

import fcntl
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from guide.errors import InputError, OutputError
from guide.record.lock import LOCK, is_alive
from guide.whole_file import write_whole

JobState = Literal["running", "finished", "cancelled", "failed", "interrupted"]

JOB, LEADER, LOG, ENDED, CANCELLED = "job.json", "leader.json", "log.txt", "ended.json", "cancelled"
SCORES = "scores.json"
LOCK_VARIABLE = "CNC_JOB_LOCK"
CACHE_VARIABLE, DEFAULT_CACHE = "CNC_CACHE", ".cache/cnc"
HOW_TO_INSTALL = 'python -m pip install -c constraints.txt -e ".[train]"'
LARGEST_LOG_BYTES = 2**20
GRACE_S = 15.0  # what the command gets to end by itself before it is killed
POLITENESS = 5  # a live session on the same machine comes first
_LINE_EVERY_S = "1"


@dataclass(frozen=True, slots=True)
class TrainingRequest:
    """What to train, from which inputs, and how; empty texts are left out, `k` 0 leaves the number of steps open.

    >>> TrainingRequest("box", ("recordings/box",), k=4).words(Path("exported"), Path(".cache"))[3:7]
    ['recordings/box', '--out', 'exported/box', '--cache']
    """

    name: str
    inputs: tuple[str, ...]
    k: int = 0
    labels: str = ""
    preset: str = "default"
    config: str = ""
    checked: str = ""
    """A folder of labels that are not learned from, but that the result is compared with."""

    def words(self, exported: Path, cache: Path) -> list[str]:
        """The command; every text of a user stands behind an option or before it, as a path never as an option."""
        words = [sys.executable, "-m", "offline.train", *map(_as_path, self.inputs)]
        words += ["--out", str(exported / self.name), "--cache", str(cache), "--preset", self.preset]
        words += ["--k", str(self.k)] if self.k else []
        words += ["--labels", _as_path(self.labels)] if self.labels else []
        return words + (["--config", _as_path(self.config)] if self.config else [])

    def check(self, exported: Path) -> list[str]:
        """The command that compares the result with labels, where there are some."""
        if not self.checked:
            return []
        bundle = str(exported / self.name)
        return [sys.executable, "-m", "offline.score", bundle, "--labels", _as_path(self.checked), "--jsonl"]


@dataclass(frozen=True, slots=True)
class TrainingJob:
    """A training job: its request, its state, when it began and ended, what it printed.

    >>> request = TrainingRequest("box", ())
    >>> TrainingJob(Path("jobs/box"), request, "running", started=0.0, ended=None, code=None, said="").name
    'box'
    """

    folder: Path
    request: TrainingRequest
    state: JobState
    started: float
    ended: float | None
    code: int | None
    said: str

    @property
    def name(self) -> str:
        return self.request.name

    @property
    def scores(self) -> dict[str, Any]:
        """What the result scored against labels, as the command printed it; nothing where there are none."""
        return _json(self.folder / SCORES)

    @property
    def is_stopping(self) -> bool:
        return self.state == "running" and (self.folder / CANCELLED).exists()


@dataclass(frozen=True, slots=True)
class TrainingJobs:
    """All training jobs: bundles are written to `exported`; jobs and what is kept between runs lie in `cache`.

    >>> TrainingJobs(Path("exported"), Path(".cache/cnc")).jobs
    PosixPath('.cache/cnc/jobs')
    """

    exported: Path
    cache: Path

    @property
    def jobs(self) -> Path:
        return self.cache / "jobs"

    def find(self) -> tuple[TrainingJob, ...]:
        """Every training that was started, the newest first."""
        folders = sorted(self.jobs.iterdir()) if self.jobs.is_dir() else []
        found = [job for folder in folders if (job := _read(folder)) is not None]
        return tuple(sorted(found, key=lambda job: -job.started))

    def read(self, name: str) -> TrainingJob | None:
        """The training of that name as it stands now."""
        return _read(self.jobs / name)

    def start(self, request: TrainingRequest) -> None:
        """Starts a training, or resumes it from what an earlier run kept; one at a time for each name."""
        require_installed()
        folder = self.jobs / request.name
        lock = _take(folder, request.name)
        try:
            for name in (ENDED, CANCELLED, LOG, SCORES):
                (folder / name).unlink(missing_ok=True)
            words = {"words": request.words(self.exported, self.cache), "check": request.check(self.exported)}
            plain = {"wish": asdict(request), **words, "started": time.time()}
            (folder / JOB).write_text(json.dumps(plain, ensure_ascii=False), encoding="utf-8")
            leader = subprocess.Popen(
                [sys.executable, "-m", "guide.ui.training", str(folder)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                pass_fds=(lock,),
                env={**os.environ, LOCK_VARIABLE: str(lock)},
            )
            _write(folder / LEADER, {"pid": leader.pid})
        except OSError as cause:
            raise OutputError(f"learning cannot be started ({cause.strerror}): free some space in {folder}.") from cause
        finally:
            os.close(lock)

    def cancel(self, name: str) -> None:
        """Asks a training to stop, as Ctrl-C does; it keeps its checkpoint. Nothing where it has ended."""
        folder = self.jobs / name
        if not is_alive(folder):
            return
        leader = _json(folder / LEADER).get("pid")
        (folder / CANCELLED).touch()
        if isinstance(leader, int) and leader > 1:
            try:
                os.killpg(leader, signal.SIGINT)
            except ProcessLookupError:  # it ended by itself just now
                return

    def forget(self, name: str) -> None:
        """Removes what is known of a training that has ended; bundles, recordings and caches stay."""
        folder = self.jobs / name
        if is_alive(folder):
            raise InputError(f"{name} is still being learned: stop it first.")
        shutil.rmtree(folder, ignore_errors=True)


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Where features, checkpoints and jobs are kept: what CNC_CACHE names, else .cache/cnc.

    >>> cache_folder({})
    PosixPath('.cache/cnc')
    """
    return Path(environment.get(CACHE_VARIABLE) or DEFAULT_CACHE)


def missing_packages() -> tuple[str, ...]:
    """Packages that training needs and this installation lacks."""
    return tuple(name for name in ("torch", "offline", "onnx", "skfuzzy") if importlib.util.find_spec(name) is None)


def require_installed() -> None:
    """Raises InputError where learning cannot run here."""
    if lacks := missing_packages():
        raise InputError(f"learning needs {' and '.join(lacks)}, which this installation lacks: run {HOW_TO_INSTALL}.")


def _take(folder: Path, name: str) -> int:
    """The lock of the job's folder, held; raises InputError where the training runs."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as cause:
        raise OutputError(f"{folder} cannot be made ({cause.strerror}): check who may write there.") from cause
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as cause:
        os.close(lock)
        raise InputError(f"{name} is being learned already: wait for it, or stop it first.") from cause
    return lock


def _as_path(text: str) -> str:
    """A path that no program takes for an option."""
    return f"./{text}" if text.startswith("-") else text


def _read(folder: Path) -> TrainingJob | None:
    plain = _json(folder / JOB)
    request = plain.get("wish")
    if not isinstance(request, dict):
        return None
    is_running = is_alive(folder)  # before the end is looked for: it is written while the lock is held
    ended = _json(folder / ENDED)
    try:
        known = TrainingRequest(**{**request, "inputs": tuple(request["inputs"])})
        code = int(ended["code"]) if "code" in ended else None
        at = float(ended["at"]) if "at" in ended else None
        state = "running" if is_running else _state(code, (folder / CANCELLED).exists())
        return TrainingJob(folder, known, state, float(plain["started"]), at, code, _tail(folder / LOG))
    except (KeyError, TypeError, ValueError):  # written by another version, or by hand: as if it were not there
        return None


def _state(code: int | None, was_cancelled: bool) -> JobState:
    if code == 0:
        return "finished"
    if was_cancelled:
        return "cancelled"
    return "interrupted" if code is None else "failed"


def last_line(said: str) -> str:
    """The last line that is not empty.

    >>> last_line("one\\ntwo\\n\\n")
    'two'
    """
    return next((line.strip() for line in reversed(said.splitlines()) if line.strip()), "")


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            stream.seek(max(0, path.stat().st_size - LARGEST_LOG_BYTES))
            return stream.read().decode("utf-8", "replace")
    except OSError:
        return ""


def run_job(folder: Path) -> int:
    """Runs the folder's command, its output in the log, then the comparison with labels; writes down how it ended."""
    plain = _json(folder / JOB)
    code = _run(folder, [str(word) for word in plain["words"]], folder / LOG)
    check = [str(word) for word in plain.get("check", ())]
    if code == 0 and check and _run(folder, check, folder / SCORES) != 0:
        _write(folder / SCORES, {"problem": last_line(_tail(folder / LOG))})  # what was learned stands all the same
    _write(folder / ENDED, {"code": code, "at": time.time()})
    return code


def _run(folder: Path, words: Sequence[str], out: Path) -> int:
    """Runs a command that holds the lock as well: it counts as alive even if this process is killed."""
    lock = os.environ.get(LOCK_VARIABLE, "")
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "CNC_PROGRESS_EVERY_S": _LINE_EVERY_S, "NO_COLOR": "1"}
    with out.open("ab") as written, (folder / LOG).open("ab") as log:
        command = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=log,
            env=environment,
            pass_fds=(int(lock),) if lock.isdigit() else (),
        )
    # The command hears the same signal, as one of the group; here it only starts the clock.
    signal.signal(signal.SIGINT, lambda *_: _kill_later(command))
    return command.wait()


def _kill_later(command: subprocess.Popen[bytes]) -> None:
    timer = threading.Timer(GRACE_S, command.kill)
    timer.daemon = True
    timer.start()


def _write(path: Path, plain: Mapping[str, Any]) -> None:
    write_whole(path, json.dumps(plain))


def main(folder: Path) -> int:
    """What runs in the process that leads a training."""
    # A shell that starts programs in the background makes them deaf to this signal, and children inherit that.
    signal.signal(signal.SIGINT, lambda *_: None)
    os.nice(POLITENESS)
    return run_job(folder)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

"""Learning as a process of its own: started once, found again, stopped, gone on with; every end is told apart."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from guide.errors import InputError
from guide.ui.training import LEADER, TrainingJob, TrainingJobs, TrainingRequest

PATIENCE_S = 60.0
ENDLESS = "print('12 recordings, 8.0 minutes', flush=True); import time; time.sleep(600)"

Play = Callable[[str], TrainingRequest]


@pytest.fixture
def trainings(tmp_path: Path) -> Iterator[TrainingJobs]:
    """A place to learn in; whatever still runs at the end is ended."""
    made = TrainingJobs(tmp_path / "exported", tmp_path / "cache")
    yield made
    for job in made.find():
        if job.state == "running":
            os.killpg(json.loads((job.folder / LEADER).read_text())["pid"], signal.SIGKILL)


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Play:
    """A request whose command is a program of one line instead of the long work."""

    def request(program: str, check: str = "") -> TrainingRequest:
        monkeypatch.setattr(TrainingRequest, "words", lambda *_: [sys.executable, "-c", program])
        monkeypatch.setattr(TrainingRequest, "check", lambda *_: [sys.executable, "-c", check] if check else [])
        return TrainingRequest("box", ("videos",), k=4)

    return request


def wait(trainings: TrainingJobs, until: Callable[[TrainingJob], bool]) -> TrainingJob:
    """The job once it stands as awaited."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        job = trainings.read("box")
        if job is not None and until(job):
            return job
        time.sleep(0.02)
    return pytest.fail("it never came to that")


def ended(job: TrainingJob) -> bool:
    return job.state != "running"


def test_it_runs_and_ends_and_anybody_finds_it(trainings: TrainingJobs, play: Play) -> None:
    request = play("import os; print('said', os.getsid(0) == os.getppid())")
    trainings.start(request)
    job = wait(TrainingJobs(trainings.exported, trainings.cache), ended)
    assert (job.state, job.code, job.said) == ("finished", 0, "said True\n"), "it leads a session of its own"
    assert job.request == request
    assert job.ended is not None
    assert [one.name for one in trainings.find()] == ["box"]


def test_a_second_start_is_refused_while_it_runs(trainings: TrainingJobs, play: Play) -> None:
    request = play(ENDLESS)
    trainings.start(request)
    with pytest.raises(InputError, match="box is being learned already"):
        trainings.start(request)
    with pytest.raises(InputError, match="stop it first"):
        trainings.forget("box")


def test_stopped_it_can_go_on(trainings: TrainingJobs, play: Play) -> None:
    trainings.start(play(ENDLESS))
    wait(trainings, lambda job: "recordings" in job.said)
    trainings.cancel("box")
    assert wait(trainings, ended).state == "cancelled"
    trainings.cancel("box")  # nothing happens
    trainings.start(play("print('went on')"))
    assert wait(trainings, ended).said == "went on\n"


@pytest.mark.parametrize(
    ("program", "state", "code"),
    [
        ("import sys; sys.exit('no videos were given: add some.')", "failed", 1),
        ("import sys; print('a sentence', file=sys.stderr); sys.exit(2)", "failed", 2),
        ("import os; os.kill(os.getpid(), 9)", "failed", -9),
    ],
)
def test_every_end_is_told_apart(trainings: TrainingJobs, play: Play, program: str, state: str, code: int) -> None:
    trainings.start(play(program))
    job = wait(trainings, ended)
    assert (job.state, job.code) == (state, code)


def test_killed_with_all_its_processes_it_is_cut_off(trainings: TrainingJobs, play: Play) -> None:
    trainings.start(play(ENDLESS))
    job = wait(trainings, lambda job: "recordings" in job.said)
    os.killpg(json.loads((job.folder / LEADER).read_text())["pid"], signal.SIGKILL)
    assert wait(trainings, ended).state == "interrupted"


def test_it_counts_as_alive_when_only_its_leader_was_killed(trainings: TrainingJobs, play: Play) -> None:
    trainings.start(play(ENDLESS))
    job = wait(trainings, lambda job: "recordings" in job.said)
    os.kill(json.loads((job.folder / LEADER).read_text())["pid"], signal.SIGKILL)
    assert wait(trainings, lambda job: True).state == "running"
    trainings.cancel("box")
    assert wait(trainings, ended).state == "cancelled"


def test_scores_are_kept_and_a_failed_comparison_leaves_what_was_learned(trainings: TrainingJobs, play: Play) -> None:
    trainings.start(play("print('learned')", check="print('{\"recordings\": 2}')"))  # type: ignore[call-arg]
    assert wait(trainings, ended).scores == {"recordings": 2}
    trainings.start(play("print('learned')", check="import sys; sys.exit('no label file fits.')"))  # type: ignore[call-arg]
    job = wait(trainings, ended)
    assert (job.state, job.scores) == ("finished", {"problem": "no label file fits."})


def test_taken_off_the_list_it_is_forgotten(trainings: TrainingJobs, play: Play) -> None:
    trainings.start(play("pass"))
    wait(trainings, ended)
    trainings.forget("box")
    assert trainings.find() == ()


def test_a_folder_of_garbage_is_no_job(trainings: TrainingJobs) -> None:
    for number, text in enumerate(("", "[]", '{"wish": {}}', '{"wish": {"name": 1}, "started": "x"}')):
        (trainings.jobs / str(number)).mkdir(parents=True)
        (trainings.jobs / str(number) / "job.json").write_text(text)
    assert trainings.find() == ()


def test_the_command_is_what_a_user_would_type() -> None:
    request = TrainingRequest(
        "box", ("-rf", "videos"), k=4, labels="-labels", preset="paper", config="a.toml", checked="truth"
    )
    words = request.words(Path("exported"), Path("cache"))
    assert words[1:] == [
        "-m", "offline.train", "./-rf", "videos", "--out", "exported/box", "--cache", "cache", "--preset", "paper",
        "--k", "4", "--labels", "./-labels", "--config", "a.toml",
    ]  # fmt: skip
    assert request.check(Path("exported"))[1:] == [
        "-m",
        "offline.score",
        "exported/box",
        "--labels",
        "truth",
        "--jsonl",
    ]
    assert TrainingRequest("box", ("videos",)).check(Path("exported")) == []


def test_without_torch_it_says_how_to_install(trainings: TrainingJobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "torch" else object())
    with pytest.raises(InputError, match=r"learning needs torch, which .* run python -m pip install"):
        trainings.start(TrainingRequest("box", ("videos",)))
